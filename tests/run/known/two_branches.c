/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 alone runs two loops of a routine, but each behind a branch of its own, with a barrier between: two causes.
 * Steps are of six lengths: of equal ones, a sampling period twice as long would see one of the loops.
 *
 * ranks: 3
 * expect: loop=first_branch routine=advance rank=0 also=second_branch:0 rows=2 share=0.85 call=MPI_Barrier
 *         counted_kind=more-work
 */
#include "known.h"

__attribute__((noinline)) static void advance(int is_first, int is_second, long length)
{
    double x = known_sink;
    /* begin first_branch */
    if (is_first)
        for (long i = 0; i < 2 * length; i++)
            x = LINK(x);
    /* end first_branch */
    MPI_Barrier(MPI_COMM_WORLD);
    /* begin second_branch */
    if (is_second)
        for (long i = 0; i < length; i++)
            x = LINK(x) + 1e-9;
    /* end second_branch */
    known_sink = x;
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 80; step++)
        advance(rank == 0, rank + argc == 1, 300000 + 40000 * (step % 6));
    MPI_Finalize();
    return 0;
}
