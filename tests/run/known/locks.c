/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On rank 1 another thread holds a lock for a millisecond at a time, asleep; the thread that calls MPI takes that lock
 * in a loop before every barrier. It waits in futex calls. The holder never computes.
 *
 * ranks: 3
 * expect: loop=holding rank=1 share=0.8 call=MPI_Barrier wait="wait at barrier" waiters=0,2 kind=blocked
 *         says="another thread waits for it in loop locks.c" next="remove the sleep or shorten it"
 */
#include "known.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_wanted, is_held;
static atomic_int holder_ends;

/* Nobody spins: on a busy machine a thread that yields would lack a CPU instead of sleeping. */
static void *hold(void *unused)
{
    (void)unused;
    /* begin holding */
    for (;;) {
        sem_wait(&is_wanted);
        if (atomic_load(&holder_ends))
            return NULL;
        pthread_mutex_lock(&door);
        sem_post(&is_held);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        pthread_mutex_unlock(&door);
    }
    /* end holding */
}

static void take_lock(int n)
{
    double x = known_sink;
    for (int i = 0; i < n; i++) {
        sem_post(&is_wanted);
        sem_wait(&is_held);
        pthread_mutex_lock(&door);
        x = LINK(x);
        pthread_mutex_unlock(&door);
    }
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    pthread_t holder;
    sem_init(&is_wanted, 0, 0);
    sem_init(&is_held, 0, 0);
    if (rank == 1)
        pthread_create(&holder, NULL, hold, NULL);
    for (int step = 0; step < 20; step++) {
        common_work(3000000);
        if (rank == 1)
            take_lock(50);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    atomic_store(&holder_ends, 1);
    sem_post(&is_wanted);
    if (rank == 1)
        pthread_join(holder, NULL);
    MPI_Finalize();
    return 0;
}
