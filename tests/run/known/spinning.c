/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 computes and then writes to shared memory; rank 1 looks at it in a loop of MPI_Win_sync, and rank 2 waits for
 * rank 1 in a barrier without rank 0, which would come last if rank 1 had lacked a CPU. Nothing tells that rank 1
 * waited for rank 0: the report names the loop and says so, and the millions of calls are few records. Rank 0 waits for
 * what rank 1 does afterwards, though, not for the loop.
 *
 * ranks: 3
 * expect: routine=MPI_Win_sync rank=1 share=0.6 call=MPI_Barrier kind=any
 *   says="it waits for shared memory to change" first="waits for shared memory to change"
 */
#include "known.h"

static void spin(MPI_Win window, const volatile int *memory, int until)
{
    while (*memory < until)
        MPI_Win_sync(window);
    common_work(300000);
}

int main(int argc, char **argv)
{
    MPI_Win window;
    MPI_Aint bytes;
    int unit, *memory;
    MPI_Comm readers;
    int rank = known_start(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &readers);
    MPI_Win_allocate_shared(rank ? 0 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
    MPI_Win_lock_all(0, window);
    for (int round = 1; round <= 30; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            spin(window, memory, round);
        if (rank > 0)
            MPI_Barrier(readers);
        if (rank == 0) {
            common_work(5000000);
            *(volatile int *)memory = round;
            MPI_Win_sync(window);
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
