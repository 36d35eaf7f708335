/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ranks receive before they send: neither ever comes back. After a second rank 0's alarm ends it, and with it
 * the job. The report says who waits for whom and since when.
 *
 * ranks: 2
 * exit: any
 * expect: deadlock=0,1 open=MPI_Recv
 */
#include "known.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), data = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        alarm(1);
    MPI_Recv(&data, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&data, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
