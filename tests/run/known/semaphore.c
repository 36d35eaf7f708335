/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 sleeps at a semaphore in shared memory until rank 1 has computed, and rank 2 waits for rank 0. No routine of
 * the C library tells that it sleeps there to be woken, for want of symbols: the system call does.
 *
 * ranks: 3
 * expect: loop=sleeps rank=0 share=0.6 call=MPI_Recv kind=blocked
 *   says="blocked: waiting for a lock or another thread" next="sends the signal"
 */
#include "known.h"
#include <semaphore.h>

static void wait_for(sem_t *semaphore, int rounds)
{
    /* begin sleeps */
    for (int i = 0; i < rounds; i++)
        sem_wait(semaphore);
    /* end sleeps */
}

int main(int argc, char **argv)
{
    MPI_Win window;
    MPI_Aint bytes;
    int unit;
    double data = 0;
    sem_t *semaphore;
    int rank = known_start(&argc, &argv);
    MPI_Win_allocate_shared(rank ? 0 : sizeof(sem_t), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &semaphore, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &semaphore);
    if (rank == 0)
        sem_init(semaphore, 1, 0);
    for (int round = 0; round < 30; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            wait_for(semaphore, 2);
            MPI_Send(&data, 1, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            for (int i = 0; i < 2; i++) {
                common_work(4000000);
                sem_post(semaphore);
            }
        } else {
            MPI_Recv(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
