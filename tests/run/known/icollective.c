/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A non-blocking barrier, completed by MPI_Wait, which rank 1 starts late.
 *
 * ranks: 2
 * expect: loop=late_start rank=1 share=0.9 call=MPI_Wait waiters=0
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 50; round++) {
        MPI_Request request;
        double x = round;
        if (rank == 1) {
            /* begin late_start */
            for (long i = 0; i < 7000000; i++)
                x = LINK(x);
            /* end late_start */
        }
        known_sink = x;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        common_work(400000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
