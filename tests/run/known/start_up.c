/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 builds a table before the first step, rank 1 a small part of it. That makes rank 1 wait once, in the first of
 * ten reductions; what little is waited in the others has nothing to do with it.
 *
 * ranks: 2
 * expect: loop=build rank=0 share=0.9 call=MPI_Allreduce waiters=1 instances=1 when="once, for"
 *         counted_kind=more-work
 */
#include "known.h"

enum { LENGTH = 65536 };
static double table[LENGTH];

static void build(int rounds)
{
    /* begin build */
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < LENGTH; i++)
            table[i] = LINK(table[i]) + i;
    /* end build */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    build(rank == 0 ? 8000 : 10);
    for (int step = 0; step < 10; step++) {
        common_work(1000000);
        double mine = known_sink + table[step], sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
