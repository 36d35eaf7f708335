/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many_threads N [together]: threads that call MPI, one after the other, or all of them before the first one ends.
 * many_threads N compute: one after the other computes beside the main thread, on the one CPU that both may use.
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

/* For so long on a CPU. */
static void *compute(void *unused)
{
    struct timespec cpu;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    while (cpu.tv_sec == 0 && cpu.tv_nsec < 20000000);
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
        for (volatile int k = 0; k < 10000000; k++)
            continue;
        pthread_join(thread, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    int provided, n = argc > 1 ? atoi(argv[1]) : 0;
    pthread_attr_t attributes;
    if (argc > 2 && !strcmp(argv[2], "compute"))
        return compute_beside(n);
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
