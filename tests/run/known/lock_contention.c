/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 keeps its window locked while it computes; rank 1 wants the same lock. Open MPI and MPICH wait in
 * MPI_Win_lock; Open MPI defers locks on windows without shared memory, so that MPI_Win_unlock waits.
 *
 * ranks: 2
 * expect: loop=keeps rank=0 share=0.9 call=MPI_Win_lock|MPI_Win_unlock wait="lock contention" waiters=1
 */
#include "windows.h"

static void hold(double *window)
{
    double x = *window;
    /* begin keeps */
    for (long i = 0; i < 8000000; i++)
        x = LINK(x);
    /* end keeps */
    *window = x;
}

int main(int argc, char **argv)
{
    double *memory, value = 0;
    int rank = known_start(&argc, &argv);
    MPI_Win window = known_window(&memory);
    for (int round = 0; round < 25; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            common_work(1000000);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        if (rank == 0)
            hold(memory);
        else
            MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
