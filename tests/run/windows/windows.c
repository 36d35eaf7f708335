/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for windows (record --window): in the first half of its turns rank 1 is late, in the second half rank 2.
 * Rank 0 waits for both, with receives that it posts one turn ahead, so that every window begins with receives under
 * way.
 *
 *   windows WHAT TURNS    WHAT: "turns"; "pairs": without a collective call; "killed": all ranks are killed at the end;
 *                         "thread": a second thread of each rank exchanges messages all the time; "many":
 *                         thousands of calls a turn
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINK(x) ((x) * 0.999999 + 1e-6)
enum { TAG = 1, OTHER_TAG, END_TAG, SELF_TAG, MANY_CALLS = 2000 };

static volatile double sink;
static int rank;

static void first_half(void)
{
    double x = sink;
    for (long i = 0; i < 3000000; i++)
        x = LINK(x);
    sink = x;
}

static void second_half(void)
{
    double x = sink;
    for (long i = 0; i < 3000000; i++)
        x = LINK(x);
    sink = x;
}

/* Ranks 0 and 1 with each other, rank 2 with itself, until their last message. */
static void *talk(void *comm)
{
    int partner = rank == 2 ? 2 : 1 - rank;
    for (int out = 1, in = 1; out > 0 || in > 0;) {
        out = sink < 0 ? -1 : 1;
        MPI_Sendrecv(&out, 1, MPI_INT, partner, OTHER_TAG, &in, 1, MPI_INT, partner, OTHER_TAG, *(MPI_Comm *)comm,
                     MPI_STATUS_IGNORE);
        usleep(2000);
    }
    return NULL;
}

static void turns(int n, int has_collectives, int n_calls)
{
    double in[2], out = 1, sum;
    MPI_Request requests[2];
    for (int i = 0; i < 2 && rank == 0; i++)
        MPI_Irecv(&in[i], 1, MPI_DOUBLE, i + 1, TAG, MPI_COMM_WORLD, &requests[i]);
    for (int turn = 0; turn < n; turn++) {
        if (turn < n / 2 && rank == 1)
            first_half();
        if (turn >= n / 2 && rank == 2)
            second_half();
        if (rank != 0)
            MPI_Send(&out, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
        for (int i = 0; i < 2 && rank == 0; i++) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            MPI_Irecv(&in[i], 1, MPI_DOUBLE, i + 1, turn + 1 < n ? TAG : END_TAG, MPI_COMM_WORLD, &requests[i]);
        }
        for (int i = 0; i < n_calls; i++)
            MPI_Sendrecv(&out, 1, MPI_DOUBLE, rank, SELF_TAG, &sum, 1, MPI_DOUBLE, rank, SELF_TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        if (has_collectives)
            MPI_Allreduce(&out, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank != 0)
        MPI_Send(&out, 1, MPI_DOUBLE, 0, END_TAG, MPI_COMM_WORLD);
    else
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int level;
    const char *what = argc > 2 ? argv[1] : "turns";
    pthread_t thread;
    MPI_Comm other;
    MPI_Init_thread(&argc, &argv, strcmp(what, "thread") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (!strcmp(what, "thread"))
        pthread_create(&thread, NULL, talk, &other);
    turns(argc > 2 ? atoi(argv[2]) : 100, strcmp(what, "pairs") != 0, strcmp(what, "many") ? 0 : MANY_CALLS);
    if (!strcmp(what, "killed"))
        kill(getpid(), SIGKILL);
    if (!strcmp(what, "thread")) {
        sink = -1;
        pthread_join(thread, NULL);
    }
    if (rank == 0)
        printf("%s turns\n", argc > 2 ? argv[2] : "100");
    MPI_Finalize();
    return 0;
}
