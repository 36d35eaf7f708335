/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many_threads N [together]: threads that call MPI, one after the other, or all of them before the first one ends.
 * many_threads N compute: one after the other computes beside the main thread, on the one CPU that both may use.
 * many_threads N turns: the main thread and another one compute N times, one after the other; more threads only sleep.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_barrier_t all;
static int is_together;

static void *send_to_self(void *unused)
{
    int out = 1, in;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (is_together)
        pthread_barrier_wait(&all);
    return unused;
}

static long long cpu_ns(void)
{
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return cpu.tv_sec * 1000000000LL + cpu.tv_nsec;
}

/* For so long on a CPU. */
static void *compute(void *unused)
{
    long long until_ns = cpu_ns() + 20000000;
    while (cpu_ns() < until_ns)
        continue;
    return unused;
}

static int compute_beside(int n)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    MPI_Init(NULL, NULL);
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, compute, NULL))
            return 1;
        compute(NULL);
        pthread_join(thread, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int n_left; /* the other thread's turn, while it is odd */

static void take_turns(int is_other)
{
    pthread_mutex_lock(&lock);
    while (n_left > 0) {
        while (n_left > 0 && n_left % 2 != is_other)
            pthread_cond_wait(&moved, &lock);
        pthread_mutex_unlock(&lock);
        compute(NULL);
        pthread_mutex_lock(&lock);
        n_left--;
        pthread_cond_signal(&moved);
    }
    pthread_mutex_unlock(&lock);
}

static void *turns_of_other(void *unused)
{
    take_turns(1);
    return unused;
}

static void *only_sleep(void *unused)
{
    pthread_barrier_wait(&all);
    return unused;
}

static int compute_in_turns(int n)
{
    enum { SLEEPERS = 3 };
    pthread_t other, sleepers[SLEEPERS];
    MPI_Init(NULL, NULL);
    n_left = 2 * n;
    pthread_barrier_init(&all, NULL, SLEEPERS + 1);
    for (int i = 0; i < SLEEPERS; i++)
        if (pthread_create(&sleepers[i], NULL, only_sleep, NULL))
            return 1;
    if (pthread_create(&other, NULL, turns_of_other, NULL))
        return 1;
    take_turns(0);
    pthread_join(other, NULL);
    pthread_barrier_wait(&all);
    for (int i = 0; i < SLEEPERS; i++)
        pthread_join(sleepers[i], NULL);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    int provided, n = argc > 1 ? atoi(argv[1]) : 0;
    pthread_attr_t attributes;
    if (argc > 2 && !strcmp(argv[2], "compute"))
        return compute_beside(n);
    if (argc > 2 && !strcmp(argv[2], "turns"))
        return compute_in_turns(n);
    pthread_t *threads = malloc((size_t)n * sizeof *threads);
    is_together = argc > 2;
    pthread_barrier_init(&all, NULL, (unsigned)n);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < n; i++) {
        if (pthread_create(&threads[i], &attributes, send_to_self, NULL))
            return 1;
        if (!is_together)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < n && is_together; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    free(threads);
    return 0;
}
