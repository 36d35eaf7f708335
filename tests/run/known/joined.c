/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 leaves its receive to a thread, which it joins before it meets rank 1. Rank 2 works before it sends. So rank 1
 * waits for rank 0, which sleeps for its thread, which waits for rank 2: all of it is rank 2's work.
 *
 * ranks: 3
 * expect: loop=before_send rank=2 share=0.85 call=MPI_Barrier|MPI_Recv threads=2
 */
#include "known.h"
#include <pthread.h>

enum { STEPS = 20, TAG = 5 };

static void *receive(void *value)
{
    MPI_Recv(value, 1, MPI_DOUBLE, 2, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Comm pair;
    double value = 0.3;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &pair);
    for (int step = 0; step < STEPS; step++) {
        pthread_t thread;
        if (rank == 2) {
            /* begin before_send */
            for (long i = 0; i < 10000000; i++)
                value = LINK(value);
            /* end before_send */
            MPI_Send(&value, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
        } else if (rank == 0) {
            if (pthread_create(&thread, NULL, receive, &value) != 0)
                MPI_Abort(MPI_COMM_WORLD, 1);
            pthread_join(thread, NULL);
        }
        MPI_Barrier(pair);
    }
    known_sink = value;
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
