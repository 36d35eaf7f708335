/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A routine that rank 0 calls twenty times before one meeting, and rank 1 once before the next, for as much work: what
 * ranks wait for longest there. How often either enters it in all says nothing of that call.
 *
 * ranks: 2
 * expect: loop=force rank=1 share=0.6 call=MPI_Allreduce says_not="as many iterations" counted_kind=more-work
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

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 40; step++) {
        for (int piece = 0; rank == 0 && piece < 20; piece++)
            force(200000);
        if (rank == 1)
            common_work(2500000);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            force(4000000);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
