/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 locks all windows once and works on rank 0's in five ways, while rank 0 computes. Without shared memory rank 0
 * is needed for each: in MPI_Wait for what MPI_Rget began, in a loop of MPI_Test, in the flush that names no target, in
 * a local one, and in the unlock of all. It computes for so long each time that rank 1 has a CPU meanwhile, also on a
 * busy machine, and rank 1 for so long before that rank 0 has left the barrier.
 *
 * ranks: 2
 * expect: loop=away_long rank=0 share=0.7 sites=5 wait="wait for progress" waiters=1
 * call=MPI_Wait|MPI_Test|MPI_Win_flush_all|MPI_Win_flush_local|MPI_Win_unlock_all
 */
#include "windows.h"

static void stay_away(void)
{
    double x = known_sink;
    /* begin away_long */
    for (long i = 0; i < 42000000; i++)
        x = LINK(x);
    /* end away_long */
    known_sink = x;
}

static void get_and_wait(MPI_Win window, int polls)
{
    double value;
    MPI_Request request;
    MPI_Rget(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window, &request);
    if (!polls)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int done = !polls; !done;)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void work_on(MPI_Win window, int how)
{
    double value = 1;
    if (how < 2) {
        get_and_wait(window, how);
        return;
    }
    MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, window);
    if (how == 2)
        MPI_Win_flush_all(window);
    if (how == 3)
        MPI_Win_flush_local(0, window);
    if (how == 4) {
        MPI_Win_unlock_all(window);
        MPI_Win_lock_all(0, window);
        MPI_Win_flush_all(window);
    }
}

int main(int argc, char **argv)
{
    double *memory, value = 0;
    int rank = known_start(&argc, &argv);
    MPI_Win window = known_window(&memory);
    MPI_Win_lock_all(0, window);
    MPI_Get(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
    MPI_Win_flush_all(window);
    for (int round = 0; round < 14; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            stay_away();
        if (rank == 1) {
            common_work(4000000);
            work_on(window, round % 5);
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
