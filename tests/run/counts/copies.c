/* SPDX-License-Identifier: BSD-3-Clause */
/* One loop of the source that the compiler made several of: inlined into two places of main, and out of line for a
 * thread that works at the same time. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { N = 200000, STEPS = 30 };

static inline double work(double x, long n)
{
    for (long i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

__attribute__((noinline)) static double work_apart(double x, long n)
{
    return work(x, n);
}

struct part {
    double x;
    long n;
};

static void *help(void *part)
{
    struct part *p = part;
    p->x = work_apart(p->x, p->n);
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, provided;
    double x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long n = rank ? 2 * N : N;
    for (int step = 0; step < STEPS; step++) {
        struct part part = {x, n};
        pthread_t helper;
        pthread_create(&helper, NULL, help, &part);
        x = work(x, n);
        pthread_join(helper, NULL);
        x = work(x + part.x, n) * 0.5;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("%.6f\n", x);
    fprintf(stderr, "expected of work() on rank %d: %ld\n", rank, 3 * STEPS * n);
    MPI_Finalize();
    return 0;
}
