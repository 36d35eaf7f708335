/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 has the lock on rank 2's window and waits for a message of rank 1, which waits for the lock: for rank 0, not
 * for rank 2. After a second rank 0's alarm ends it, and with it the job.
 *
 * ranks: 3
 * exit: any
 * expect: deadlock=0,1 open=MPI_Win_lock
 */
#include "windows.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    double *memory, value = 0;
    int rank = known_start(&argc, &argv);
    MPI_Win window = known_window(&memory);
    if (rank == 0) {
        alarm(1);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
        MPI_Win_unlock(2, window);
        MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        MPI_Win_unlock(2, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
