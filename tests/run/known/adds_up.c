/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 takes twice as many steps as the others before all meet at the end. They wait once and for long, but nothing
 * stalled: it has been behind all through the run.
 *
 * ranks: 3
 * expect: loop=relax rank=0 share=0.9 call=MPI_Barrier instances=1 when_not="once, for" counted_kind=more-work
 */
#include "known.h"

__attribute__((noinline)) static void relax(long n)
{
    double x = known_sink;
    /* begin relax */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end relax */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < (rank == 0 ? 80 : 40); step++)
        relax(1000000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
