/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ranks work equally long in each step, and then ask a thread of the other one for a number. That thread looks for
 * requests and naps. It waits all the time while its process works, which is nobody's loss: ranks wait for the answer
 * alone, at most as long as a nap.
 *
 * ranks: 2
 * expect: waiting<=0.2 threads=2 routine=nap_between_looks rank=any kind=blocked share=0.5 call=MPI_Recv balanced=0.005
 *     next="look more often" next_not=strace
 */
#include "known.h"
#include <pthread.h>

enum { STEPS = 20, ASK = 1, ANSWER = 2 };

__attribute__((noinline)) static void work(void)
{
    struct timespec pause = {0, 50000000};
    nanosleep(&pause, NULL);
}

__attribute__((noinline)) static void nap_between_looks(void)
{
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
}

static void *serve(void *unused)
{
    int number = 0;
    while (number >= 0) {
        MPI_Status status;
        int is_there = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &is_there, &status);
        if (!is_there) {
            nap_between_looks();
            continue;
        }
        MPI_Recv(&number, 1, MPI_INT, status.MPI_SOURCE, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (number >= 0)
            MPI_Send(&number, 1, MPI_INT, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int provided, rank, number = 0, last = -1;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (pthread_create(&thread, NULL, serve, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < STEPS; step++) {
        work();
        MPI_Send(&number, 1, MPI_INT, !rank, ASK, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, !rank, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&last, 1, MPI_INT, rank, ASK, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
