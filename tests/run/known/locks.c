/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On rank 1 another thread holds a lock for a millisecond at a time, asleep; the thread that calls MPI takes that lock
 * in a loop before every barrier. It waits in futex calls.
 *
 * ranks: 3
 * expect: loop=locking rank=1 share=0.8 call=MPI_Barrier wait="wait at barrier" waiters=0,2 kind=blocked
 */
#define _GNU_SOURCE
#include "known.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_held, holder_ends;

static void rest(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static void *hold(void *unused)
{
    (void)unused;
    while (!atomic_load(&holder_ends)) {
        pthread_mutex_lock(&door);
        atomic_store(&is_held, 1);
        rest(1000);
        atomic_store(&is_held, 0);
        pthread_mutex_unlock(&door);
        rest(50);
    }
    return NULL;
}

static void take_lock(int n)
{
    double x = known_sink;
    /* begin locking */
    for (int i = 0; i < n; i++) {
        while (!atomic_load(&is_held))
            sched_yield();
        pthread_mutex_lock(&door);
        x = LINK(x);
        pthread_mutex_unlock(&door);
    }
    /* end locking */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    pthread_t holder;
    if (rank == 1)
        pthread_create(&holder, NULL, hold, NULL);
    for (int step = 0; step < 20; step++) {
        common_work(3000000);
        if (rank == 1)
            take_lock(50);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    atomic_store(&holder_ends, 1);
    if (rank == 1)
        pthread_join(holder, NULL);
    MPI_Finalize();
    return 0;
}
