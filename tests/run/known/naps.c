/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 3 sleeps three times as long as the others before they meet, and everybody naps between the polls for that:
 * whoever naps last before the end is not what the others waited for. They meet in MPI_Ibarrier, or with
 * KNOWN_ALLREDUCE in MPI_Iallreduce; with KNOWN_MESSAGE each waits for a message of rank 3, with KNOWN_PROBE it probes
 * for it, with KNOWN_ANY for messages of all others, one by one.
 *
 * ranks: 4
 * expect: loop=late_sleep rank=3 kind=blocked share=0.6 call=MPI_Test|MPI_Iprobe|MPI_Testany
 *         next="remove the sleep"
 */
#define _GNU_SOURCE
#include "known.h"
#include <time.h>

enum { LATE = 3, ROUNDS = 12, MS = 1000000 };

static void nap(void)
{
    known_nap(MS / 5);
}

static void sleep_late(void)
{
    /* begin late_sleep */
    for (int i = 0; i < 8; i++)
        nanosleep(&(struct timespec){.tv_nsec = 5 * MS}, NULL);
    /* end late_sleep */
}

__attribute__((unused)) static void complete(MPI_Request *request)
{
    for (int done = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done;)
        nap();
}

#if defined KNOWN_MESSAGE || defined KNOWN_PROBE
static void receive(double *data)
{
#ifdef KNOWN_PROBE
    for (int found = 0; MPI_Iprobe(LATE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE), !found;)
        nap();
    MPI_Recv(data, 1, MPI_DOUBLE, LATE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    MPI_Request request;
    MPI_Irecv(data, 1, MPI_DOUBLE, LATE, 0, MPI_COMM_WORLD, &request);
    complete(&request);
#endif
}

static void meet(int rank, int size)
{
    double data = rank;
    if (rank != LATE)
        receive(&data);
    for (int to = 0; to < size && rank == LATE; to++)
        if (to != LATE)
            MPI_Send(&data, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
}
#elif defined KNOWN_ANY
static void meet(int rank, int size)
{
    enum { RANKS_MAX = 64 };
    MPI_Request requests[RANKS_MAX];
    double mine = rank, theirs[RANKS_MAX];
    for (int i = 0; i < size; i++)
        MPI_Irecv(&theirs[i], 1, MPI_DOUBLE, i == rank ? MPI_PROC_NULL : i, 0, MPI_COMM_WORLD, &requests[i]);
    for (int to = 0; to < size; to++)
        MPI_Send(&mine, 1, MPI_DOUBLE, to == rank ? MPI_PROC_NULL : to, 0, MPI_COMM_WORLD);
    for (int n_left = size, index, done; n_left > 0; n_left -= done)
        if (MPI_Testany(size, requests, &index, &done, MPI_STATUS_IGNORE), !done)
            nap();
}
#else
static void meet(int rank, int size)
{
    MPI_Request request;
    double mine = rank, sum = size;
#ifdef KNOWN_ALLREDUCE
    MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
#else
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
#endif
    complete(&request);
    known_sink = mine + sum;
}
#endif

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        nanosleep(&(struct timespec){.tv_nsec = 20 * MS}, NULL);
        if (rank == LATE)
            sleep_late();
        meet(rank, size);
    }
    MPI_Finalize();
    return 0;
}
