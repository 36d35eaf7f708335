/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library's routine is called from two places with a barrier behind each. All ranks do alike in the first; in the
 * second rank 1 does more. Only that call is the cause, and the other one is no part of it.
 *
 * ranks: 2
 * expect: routine=smooth rank=1 share=0.85 rows=1 parts=3 call=MPI_Barrier counted_kind=more-work at=second_call
 */
#include "known.h"

__attribute__((noinline)) static void smooth(long n)
{
    double x = known_sink;
    for (long i = 0; i < n; i++)
        x = LINK(x);
    for (long i = 0; i < n; i++)
        x = LINK(x) + 1e-9;
    for (long i = 0; i < n; i++)
        x = LINK(x) - 1e-9;
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 40; step++) {
        smooth(1000000);
        MPI_Barrier(MPI_COMM_WORLD);
        /* begin second_call */
        smooth(rank == 1 ? 1600000 : 400000);
        MPI_Barrier(MPI_COMM_WORLD);
        /* end second_call */
    }
    MPI_Finalize();
    return 0;
}
