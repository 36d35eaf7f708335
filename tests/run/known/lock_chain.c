/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 holds the lock on rank 0's window for long, rank 2 for a little after it, and rank 3 comes last: it waits for
 * both, most of all for rank 1, through rank 2.
 *
 * ranks: 4
 * expect: loop=first_holds rank=1 share=0.5 call=MPI_Win_lock wait="lock contention" long_term=1
 */
#include "windows.h"

static void hold(int rank)
{
    double x = known_sink;
    if (rank != 1) {
        common_work(300000);
        return;
    }
    /* begin first_holds */
    for (long i = 0; i < 6000000; i++)
        x = LINK(x);
    /* end first_holds */
    known_sink = x;
}

int main(int argc, char **argv)
{
    double *memory, value = 0;
    int rank = known_start(&argc, &argv);
    MPI_Win window = known_window(&memory);
    for (int round = 0; round < 25; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0) {
            common_work(rank * 300000);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            hold(rank);
            MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
            MPI_Win_unlock(0, window);
        }
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
