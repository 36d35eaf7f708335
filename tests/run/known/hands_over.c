/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of each rank unpacks what the main thread then works on, while that one works on what came before. Both call
 * one routine for it. Unpacking takes three times as long on rank 1, and a part of it is hidden behind the work.
 *
 * ranks: 2
 * expect: loop=grind rank=1 share=0.7 call=MPI_Barrier times=3:0.2
 */
#include "known.h"
#include <pthread.h>
#include <semaphore.h>

enum { STEPS = 150, WORK = 250000 };
static sem_t full, empty;
static double slot;
static long unpacking;

__attribute__((noinline)) static double grind(double x, long links)
{
    /* begin grind */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end grind */
    return x;
}

static void *unpack(void *unused)
{
    double x = 0.3;
    for (int step = 0; step < STEPS; step++) {
        sem_wait(&empty);
        slot = x = grind(x, unpacking);
        sem_post(&full);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double x = 0.3;
    pthread_t helper;
    unpacking = rank == 1 ? 2250000 : 750000;
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
    if (pthread_create(&helper, NULL, unpack, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < STEPS; step++) {
        sem_wait(&full);
        x += slot;
        sem_post(&empty);
        x = grind(x, WORK);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pthread_join(helper, NULL);
    known_sink = x;
    MPI_Finalize();
    return 0;
}
