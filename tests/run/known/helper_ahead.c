/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of each rank makes what the rank needs in the next step, and runs ahead of it by one. On rank 1 it takes
 * four times as long, and rank 1 waits for it; that of rank 0 works while rank 0 waits in MPI for rank 1.
 *
 * ranks: 2
 * expect: loop=make rank=1 share=0.7 call=MPI_Barrier times=4:0.2 counted_kind=more-work alike=0.15
 */
#include "known.h"
#include <pthread.h>
#include <semaphore.h>

enum { STEPS = 100 };
static sem_t made, taken;
static long links;

__attribute__((noinline)) static double make(double x)
{
    /* begin make */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end make */
    return x;
}

static void *help(void *unused)
{
    double x = 0.3;
    for (int step = 0; step < STEPS; step++) {
        x = make(x);
        sem_wait(&taken);
        sem_post(&made);
    }
    known_sink = x;
    return unused;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    pthread_t helper;
    links = rank == 1 ? 4000000 : 1000000;
    sem_init(&made, 0, 0);
    sem_init(&taken, 0, 1);
    if (pthread_create(&helper, NULL, help, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < STEPS; step++) {
        sem_wait(&made);
        sem_post(&taken);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pthread_join(helper, NULL);
    MPI_Finalize();
    return 0;
}
