/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All computing and all MPI happens in a thread that the main thread sleeps for; on rank 1 it has more to do. That
 * thread's time is the process's: it waits for most of it on rank 0, and nobody computes or sleeps beside it.
 *
 * ranks: 2
 * expect: loop=thread_work rank=1 share=0.7 call=MPI_Allreduce wait="wait at N x N" waiters=0 waiting>=0.25
 */
#include "known.h"
#include <pthread.h>

static int rank;

static void *run(void *unused)
{
    double sum = 0, all;
    for (int step = 0; step < 40; step++) {
        long links = rank == 1 ? 4000000 : 200000;
        double x = step;
        /* begin thread_work */
        for (long i = 0; i < links; i++)
            x = LINK(x);
        /* end thread_work */
        MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
    known_sink = sum;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
