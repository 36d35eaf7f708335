/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of each rank computes for long, for longer on rank 1, and only then calls MPI for the first time. The main
 * threads exchange messages meanwhile.
 *
 * ranks: 2
 * expect: loop=first rank=1 share=0.7 call=MPI_Allreduce waiters=0 threads=2
 */
#include "known.h"
#include <pthread.h>

static int rank;
static MPI_Comm of_thread;

static void *run(void *unused)
{
    double x = 0.3, sum = 0;
    long n = rank == 1 ? 200000000 : 20000000;
    /* begin first */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end first */
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, of_thread);
    known_sink = sum;
    return unused;
}

int main(int argc, char **argv)
{
    int provided, theirs;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &of_thread);
    pthread_create(&thread, NULL, run, NULL);
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(&rank, 1, MPI_INT, !rank, 0, &theirs, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
