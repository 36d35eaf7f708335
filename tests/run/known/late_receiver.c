/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 sends synchronously to rank 1, which is busy with something else before it receives.
 *
 * ranks: 2
 * expect: loop=busy rank=1 share=0.9 call=MPI_Ssend wait="late receiver" waiters=0
 */
#include "known.h"

int main(int argc, char **argv)
{
    int data = 0, rank = known_start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 40; round++) {
        common_work(500000);
        if (rank == 0) {
            MPI_Ssend(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            continue;
        }
        double x = data;
        /* begin busy */
        for (long i = 0; i < 8000000; i++)
            x = LINK(x);
        /* end busy */
        known_sink = x;
        MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
