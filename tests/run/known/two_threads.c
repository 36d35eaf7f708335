/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads of each rank work and reduce on communicators of their own. On rank 1 the second one has more to do,
 * while the main threads sleep until theirs is through: what the run would gain without that loop is not hidden by
 * them.
 *
 * ranks: 2
 * expect: loop=second_thread rank=1 share=0.4 call=MPI_Allreduce waiters=0 threads=2 gone=0.4
 *         next="these threads of rank 1 call MPI themselves: divide"
 */
#include "known.h"
#include <pthread.h>

enum { STEPS = 20 };
static int rank;
static MPI_Comm of_thread[2];

static void *run(void *thread)
{
    int is_second = *(int *)thread;
    double x = 0.3, sum = 0;
    for (int step = 0; step < STEPS; step++) {
        long n = is_second && rank == 1 ? 12000000 : 1500000;
        /* begin second_thread */
        for (long i = 0; i < n; i++)
            x = LINK(x);
        /* end second_thread */
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, of_thread[is_second]);
    }
    known_sink = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    int threads[2] = {0, 1}, provided;
    pthread_t second;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i]);
    pthread_create(&second, NULL, run, &threads[1]);
    run(&threads[0]);
    pthread_join(second, NULL);
    MPI_Finalize();
    return 0;
}
