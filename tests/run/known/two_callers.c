/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A solver that waits in itself is called from two routines. Rank 0 does more in it for the one, rank 1 still more for
 * the other: two causes of the same loop, called at the same line, which their names tell apart by who called the
 * solver.
 *
 * ranks: 2
 * expect: loop=relax rank=1 share=0.5 rows=2 name="<- velocity()" site_in=solve call=MPI_Barrier counted_kind=more-work
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

__attribute__((noinline)) static void solve(long n)
{
    relax(n);
    MPI_Barrier(MPI_COMM_WORLD);
    known_sink = known_sink * 0.5; /* the call above is no jump */
}

__attribute__((noinline)) static void pressure(long n)
{
    solve(n);
    known_sink = known_sink * 0.5;
}

__attribute__((noinline)) static void velocity(long n)
{
    solve(n);
    known_sink = known_sink * 0.25;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 40; step++) {
        pressure(rank == 0 ? 4000000 : 1000000);
        velocity(rank == 1 ? 6000000 : 1000000);
    }
    MPI_Finalize();
    return 0;
}
