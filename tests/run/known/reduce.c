/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root enters a reduction before rank 1 has its part ready.
 *
 * ranks: 2
 * expect: loop=late_part rank=1 share=0.9 call=MPI_Reduce wait="early reduce" waiters=0
 */
#include "known.h"

static double part(int rank)
{
    double x = rank;
    if (rank == 0)
        return x;
    /* begin late_part */
    for (long i = 0; i < 7000000; i++)
        x = LINK(x);
    /* end late_part */
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 50; round++) {
        common_work(400000);
        double mine = part(rank), sum = 0;
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        known_sink = sum;
    }
    MPI_Finalize();
    return 0;
}
