/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 tests again and again whether a message has come that rank 1 never sends: that one waits for it in a barrier.
 * Each test returns, yet rank 0 hangs, and rank 1 does because of it. After a second its alarm ends rank 0. No data is
 * moved meanwhile: the polls are a call that never came back.
 *
 * ranks: 2
 * exit: any
 * expect: deadlock=0,1 open=MPI_Test open_for=0:1,1:0 in_mpi>=0.8
 */
#include "known.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), data = 0, has_come = 0;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        alarm(1);
        MPI_Irecv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        while (!has_come)
            MPI_Test(&request, &has_come, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
