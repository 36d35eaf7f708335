/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that do not call MPI: begun before MPI_Init and after it, ended and not, by POSIX, C11 and OpenMP, one that
 * still counts when its thread-specific data is destroyed. What each line executes is the same in every run. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <threads.h>

enum { THREADS = 3, STEPS = 20 };
static long sums[THREADS];
static pthread_key_t key;

static long part(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += i % 3;
    return sum;
}

static void at_end(void *value)
{
    *(long *)value += part(10);
}

static void *posix_work(void *value)
{
    long *sum = value;
    pthread_setspecific(key, sum);
    *sum += part(1000);
    return NULL;
}

static int c11_work(void *value)
{
    long *sum = value;
    *sum += part(500);
    return 0;
}

static void begin_and_join(void)
{
    pthread_t threads[THREADS];
    thrd_t one;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, posix_work, &sums[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    thrd_create(&one, c11_work, &sums[0]);
    thrd_join(one, NULL);
}

static void team(void)
{
#pragma omp parallel for schedule(static) num_threads(THREADS) /* executed 63 times */
    for (int i = 0; i < 300; i++)
        sums[i / 100] += i % 2 ? part(i) : 1; /* executed 6300 times */
}

int main(int argc, char **argv)
{
    pthread_key_create(&key, at_end);
    team();
    begin_and_join();
    MPI_Init(&argc, &argv);
    for (int step = 0; step < STEPS; step++) {
        begin_and_join();
        team();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    long all = 0;
    for (int i = 0; i < THREADS; i++)
        all += sums[i];
    printf("%ld\n", all);
    MPI_Finalize();
    return 0;
}
