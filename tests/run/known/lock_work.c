/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks 0 and 1 work under an exclusive lock of rank 2's window, rank 0 ten times as much, and then all meet. The lock
 * lets in one of them at a time, so that sharing the work out would not end the run sooner.
 *
 * ranks: 3
 * expect: loop=locked rank=0 share=0.8 call=MPI_Barrier|MPI_Win_lock|MPI_Win_unlock balanced=0.08
 *         next="do it before the lock is taken" counted_kind=more-work
 */
#include "windows.h"

static double work(double x, long n)
{
    /* begin locked */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end locked */
    return x;
}

int main(int argc, char **argv)
{
    double *memory, value = 0;
    int rank = known_start(&argc, &argv);
    MPI_Win window = known_window(&memory);
    for (int round = 0; round < 40; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            common_work(300000);
        if (rank < 2) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
            value = work(value, rank == 0 ? 3000000 : 300000);
            MPI_Put(&value, 1, MPI_DOUBLE, 2, 0, 1, MPI_DOUBLE, window);
            MPI_Win_unlock(2, window);
        }
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
