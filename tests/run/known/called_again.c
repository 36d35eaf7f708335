/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ranks do once in a routine, rank 1 does there a second time, by another call of the same loop. The first
 * call is even: only the second one makes others wait.
 *
 * ranks: 2
 * expect: loop=force rank=1 share=0.85 rows=1 says="rank 0 next to nothing" name="called at" call=MPI_Barrier
 */
#include "known.h"

__attribute__((noinline)) static void force(long n)
{
    double x = known_sink;
    /* begin force */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end force */
    known_sink = x;
}

__attribute__((noinline)) static void again(void)
{
    force(12000000);
    known_sink = known_sink * 0.5; /* the call above is no jump */
}

__attribute__((noinline)) static void compute(int rank)
{
    force(4000000);
    if (rank == 1)
        again();
    known_sink = known_sink * 0.5;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 25; step++) {
        compute(rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
