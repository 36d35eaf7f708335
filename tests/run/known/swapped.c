/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two non-blocking barriers are under way at a time, and rank 1 starts the second one late. Rank 0 completes that one
 * first, rank 1 the other: which operations belong together is told by the order in which they were started.
 *
 * ranks: 2
 * expect: loop=late_start rank=1 share=0.9 call=MPI_Wait at=second waiters=0
 *         wait="completion of non-blocking collective"
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 50; round++) {
        MPI_Request first, second;
        double x = round;
        MPI_Ibarrier(MPI_COMM_WORLD, &first);
        if (rank == 1) {
            /* begin late_start */
            for (long i = 0; i < 7000000; i++)
                x = LINK(x);
            /* end late_start */
        }
        known_sink = x;
        MPI_Ibarrier(MPI_COMM_WORLD, &second);
        if (rank == 1)
            MPI_Wait(&first, MPI_STATUS_IGNORE);
        /* begin second */
        MPI_Wait(&second, MPI_STATUS_IGNORE);
        /* end second */
        if (rank == 0)
            MPI_Wait(&first, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
