/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank calls the same routine on a line of its own, with nearly the same work. Rank 1 also does something else,
 * and that is why the other one waits: what both do is not to blame, wherever they do it.
 *
 * ranks: 2
 * expect: loop=else rank=1 share=0.6 call=MPI_Barrier counted_kind=more-work
 */
#include "known.h"

__attribute__((noinline)) static void smooth(long n)
{
    double x = known_sink;
    for (long i = 0; i < n; i++)
        x = LINK(x);
    known_sink = x;
}

__attribute__((noinline)) static void something_else(long n)
{
    double x = known_sink;
    /* begin else */
    for (long i = 0; i < n; i++)
        x = LINK(x) - 1e-9;
    /* end else */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 40; step++) {
        if (rank == 1) {
            smooth(2400000);
            something_else(1600000);
        } else
            smooth(2000000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
