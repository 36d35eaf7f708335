/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 keeps its window locked for itself while it computes; rank 1 locks all windows, and needs that one. Open MPI
 * and MPICH wait in MPI_Win_lock_all; Open MPI without shared memory defers the lock, and waits in MPI_Rget.
 *
 * ranks: 2
 * expect: loop=keeps_own rank=0 share=0.8 call=MPI_Win_lock_all|MPI_Rget wait="lock contention" waiters=1
 */
#include "windows.h"

static void hold(double *window)
{
    double x = *window;
    /* begin keeps_own */
    for (long i = 0; i < 6000000; i++)
        x = LINK(x);
    /* end keeps_own */
    *window = x;
}

static void read_all(MPI_Win window)
{
    double value;
    MPI_Request request;
    common_work(1000000);
    MPI_Win_lock_all(0, window);
    MPI_Rget(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
}

int main(int argc, char **argv)
{
    double *memory;
    int rank = known_start(&argc, &argv);
    MPI_Win window = known_window(&memory);
    for (int round = 0; round < 25; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            read_all(window);
        if (rank == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            hold(memory);
            MPI_Win_unlock(0, window);
        }
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
