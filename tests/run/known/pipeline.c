/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pipeline: each rank receives from the one before, adds a little and sends on. The delay of rank 0 reaches rank 3
 * through ranks 1 and 2, which do nothing wrong.
 *
 * ranks: 4
 * expect: loop=slow_stage rank=0 share=0.6 call=MPI_Recv waiters=1,2,3 long_term=1
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 12; round++) {
        double item = round;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0)
            MPI_Recv(&item, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0) {
            /* begin slow_stage */
            for (long i = 0; i < 15000000; i++)
                item = LINK(item);
            /* end slow_stage */
        }
        common_work(200000);
        if (rank + 1 < size)
            MPI_Send(&item, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
        known_sink = item;
    }
    MPI_Finalize();
    return 0;
}
