/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 computes and then writes to shared memory. Rank 1 looks at it in a loop without MPI, and rank 2 waits for rank
 * 1 in a barrier without rank 0, which would come last if rank 1 had lacked a CPU. That loop is no work: the report
 * says what it does, whatever counts say of how often it looks.
 *
 * ranks: 3
 * expect: loop=look rank=1 share=0.6 call=MPI_Barrier kind=more-time
 *   says="it waits for shared memory to change" first="waits for shared memory to change"
 *   next="see which rank writes to this memory"
 */
#include "known.h"

static void look(const volatile int *memory, int until)
{
    /* begin look */
    while (*memory < until)
        ;
    /* end look */
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
        if (rank == 1) {
            look(memory, round);
            common_work(300000);
        }
        if (rank > 0)
            MPI_Barrier(readers);
        if (rank == 0) {
            common_work(5000000);
            *(volatile int *)memory = round;
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
