/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of each rank does nothing but communicate: it sleeps until the main thread has computed and hands its result
 * over. The main thread of rank 1 computes three times as long. So the communicating thread is late by what the main
 * thread does, and not by a sleep.
 *
 * ranks: 2
 * expect: loop=field rank=1 share=0.85 call=MPI_Allreduce wait="wait at N x N" waiters=0 counted_kind=more-work
 *     threads=2
 */
#include "known.h"
#include <pthread.h>

enum { STEPS = 50 };
enum turn { COMPUTE, COMMUNICATE, STOP };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum turn turn;
static double value;

static void wait_for(enum turn wanted)
{
    while (turn != wanted && turn != STOP)
        pthread_cond_wait(&changed, &lock);
}

static void pass_on(enum turn next)
{
    turn = next;
    pthread_cond_broadcast(&changed);
}

static void *communicate(void *unused)
{
    pthread_mutex_lock(&lock);
    for (wait_for(COMMUNICATE); turn != STOP; wait_for(COMMUNICATE)) {
        double sum;
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        value = sum;
        pass_on(COMPUTE);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static double compute_field(long links)
{
    double x = 0.3;
    /* begin field */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end field */
    return x;
}

int main(int argc, char **argv)
{
    int provided, rank;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_create(&thread, NULL, communicate, NULL);
    for (int step = 0; step < STEPS; step++) {
        double x = compute_field(rank == 1 ? 4500000 : 1500000);
        pthread_mutex_lock(&lock);
        value = x;
        pass_on(COMMUNICATE);
        wait_for(COMPUTE);
        known_sink = value;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    pass_on(STOP);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
