/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 looks for a message that rank 0 has to compute for first, and naps for long between two looks: it waits,
 * however long a nap is. Only from the message to the end of the last nap is it the one who sleeps.
 *
 * ranks: 2
 * expect: loop=long_work rank=0 share=0.6 call=MPI_Iprobe|MPI_Test|MPI_Improbe waiting>=0.2
 */
#define _GNU_SOURCE
#include "known.h"
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 2, TAG = 7, NAP_MS = 250 };

/* A different way to sleep each time. */
static void nap(int turn)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (turn % 3 == 0)
        usleep(NAP_MS * 1000);
    else if (turn % 3 == 1)
        poll(NULL, 0, NAP_MS);
    else {
        pthread_mutex_lock(&lock);
        pthread_cond_timedwait(&never, &lock, &until);
        pthread_mutex_unlock(&lock);
    }
}

static void receive(int round)
{
    int value, found = 0;
    if (round % 2) {
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
        for (int turn = 0; MPI_Test(&request, &found, MPI_STATUS_IGNORE), !found; turn++)
            nap(turn);
        return;
    }
    MPI_Message message;
    MPI_Status status;
    for (int turn = 0; MPI_Improbe(0, TAG, MPI_COMM_WORLD, &found, &message, &status), !found; turn++)
        nap(turn);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void work(void)
{
    double x = known_sink;
    /* begin long_work */
    for (long i = 0; i < 250000000; i++)
        x = LINK(x);
    /* end long_work */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), value = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            work();
            MPI_Send(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        } else
            receive(round);
    }
    MPI_Finalize();
    return 0;
}
