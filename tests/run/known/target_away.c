/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 writes into the window of rank 0, which computes. MPI libraries that need the target for that let rank 1 wait
 * until it calls MPI: MPICH in MPI_Win_lock, Open MPI without shared memory in MPI_Win_unlock.
 *
 * ranks: 2
 * expect: loop=away rank=0 share=0.6 call=MPI_Win_lock|MPI_Win_unlock wait="wait for progress" waiters=1
 */
#include "windows.h"

static void stay_away(void)
{
    double x = known_sink;
    /* begin away */
    for (long i = 0; i < 8000000; i++)
        x = LINK(x);
    /* end away */
    known_sink = x;
}

int main(int argc, char **argv)
{
    double *memory, value = 0;
    int rank = known_start(&argc, &argv);
    MPI_Win window = known_window(&memory);
    for (int round = 0; round < 25; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            stay_away();
            continue;
        }
        common_work(1000000);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
