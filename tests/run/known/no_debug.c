/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Built without debug information: routine and offset are what can be named, also of the two calls that are told apart
 * by nothing else, and the report says so.
 *
 * ranks: 2
 * expect: routine=hidden_loop rank=1 share=0.9 call=MPI_Barrier sites=2 file=none note="debug information"
 */
#include "known.h"

double hidden_loop(long n);

__attribute__((noinline)) double hidden_loop(long n)
{
    double x = known_sink;
    for (long i = 0; i < n; i++)
        x = LINK(x);
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 25; round++) {
        known_sink = hidden_loop(rank == 1 ? 7000000 : 1000000);
        MPI_Barrier(MPI_COMM_WORLD);
        known_sink = hidden_loop(rank == 1 ? 7000000 : 1000000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
