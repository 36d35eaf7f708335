/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1's work grows from step to step, from what rank 0 does to three times that. Steps at the end take twice as long
 * as those at the begin, so that waiting a second hardly doubles while waiting a step rises from nothing.
 *
 * ranks: 2
 * expect: loop=advance rank=1 share=0.9 call=MPI_Allreduce waiters=0 when="growing from" counted_kind=more-work
 */
#include "known.h"

static void advance(long n)
{
    double x = known_sink;
    /* begin advance */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end advance */
    known_sink = x;
}

int main(int argc, char **argv)
{
    const long links = 1000000, steps = 200;
    int rank = known_start(&argc, &argv);
    for (long step = 0; step < steps; step++) {
        advance(rank == 1 ? links + 2 * links * step / steps : links);
        double mine = known_sink, sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
