/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an MPI call costs: run without and with the recorder and compare.
 *
 *     calls self N        one rank; messages to itself, barriers, allreduces, failing polls: thread CPU time, ns a call
 *     calls deep N        the same without the polls, called through ten functions, as calls.py does it in Python
 *     calls paths N       barriers at the leaves of a tree of calls: 64 call paths that end in the same place
 *     calls polls N       one rank; nothing but failing polls
 *     calls pingpong N    two ranks; wall time, ns a call (a round trip is two calls on each rank)
 *     calls finalize N    N barriers; wall time of MPI_Finalize, ns on each rank
 *
 * Output: lines "name value". Every loop runs once to warm up (first sight of call sites, growth of buffers) before it
 * is timed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 100, DEPTH = 10, LEVELS = 6 };

static double now_ns(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

/* Sends are buffered by the MPI, so a batch of sends may precede its receives. Two calls a message. */
static void messages_to_self(long n)
{
    double value = 1;
    for (long i = 0; i < n; i += BATCH) {
        for (int k = 0; k < BATCH; k++)
            MPI_Send(&value, 1, MPI_DOUBLE, 0, k, MPI_COMM_SELF);
        for (int k = 0; k < BATCH; k++)
            MPI_Recv(&value, 1, MPI_DOUBLE, 0, k, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
}

static void barriers(long n)
{
    for (long i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static __attribute__((noinline)) int leaf(void)
{
    return MPI_Barrier(MPI_COMM_WORLD) + 1;
}

/* Two lines that call: each leaf has a path of its own. The maximum is no sum, which would be made a loop. */
static __attribute__((noinline)) int visit(int level)
{
    if (level == LEVELS)
        return leaf();
    int left = visit(level + 1), right = visit(level + 1);
    return left > right ? left : right;
}

static void paths(long n)
{
    volatile int highest;
    for (long i = 0; i < n; i += 1 << LEVELS)
        highest = visit(0);
}

static void allreduces(long n)
{
    double in = 1, out;
    for (long i = 0; i < n; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* A receive that nothing ever matches, tested and then cancelled. */
static void failing_polls(long n)
{
    double value;
    int flag;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_DOUBLE, 0, 12345, MPI_COMM_SELF, &request);
    for (long i = 0; i < n; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ping_pong(long n)
{
    int rank;
    double value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 0; i < n; i++) {
        if (rank == 0)
            MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
}

static void measure(const char *name, void (*body)(long), long n, double calls, clockid_t clock)
{
    body(n / 10);
    double begin_ns = now_ns(clock);
    body(n);
    printf("%s %.2f\n", name, (now_ns(clock) - begin_ns) / ((double)n * calls));
}

static void measure_all(long n)
{
    measure("message", messages_to_self, n, 2, CLOCK_THREAD_CPUTIME_ID);
    measure("barrier", barriers, n, 1, CLOCK_THREAD_CPUTIME_ID);
    measure("allreduce", allreduces, n, 1, CLOCK_THREAD_CPUTIME_ID);
}

/* Each level is a frame, as something is left to do after the call. */
static __attribute__((noinline)) long nest(int depth, long n)
{
    if (!depth)
        measure_all(n);
    return depth ? nest(depth - 1, n) + 1 : 0;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 1000000;
    int bad = 0;
    if (!strcmp(what, "self") && size == 1) {
        measure_all(n);
        measure("poll", failing_polls, 10 * n, 1, CLOCK_THREAD_CPUTIME_ID);
    } else if (!strcmp(what, "deep") && size == 1) {
        bad = nest(DEPTH, n) != DEPTH;
    } else if (!strcmp(what, "paths") && size == 1) {
        measure("paths", paths, n, 1, CLOCK_THREAD_CPUTIME_ID);
    } else if (!strcmp(what, "polls") && size == 1) {
        measure("polls", failing_polls, n, 1, CLOCK_THREAD_CPUTIME_ID);
    } else if (!strcmp(what, "pingpong") && size == 2) {
        ping_pong(n / 10);
        double begin_ns = now_ns(CLOCK_MONOTONIC);
        ping_pong(n);
        if (rank == 0)
            printf("pingpong %.2f\n", (now_ns(CLOCK_MONOTONIC) - begin_ns) / ((double)n * 2));
    } else if (!strcmp(what, "finalize")) {
        barriers(n);
    } else {
        fprintf(stderr,
                "usage: mpirun -n 1 calls self|deep|paths|polls N | mpirun -n 2 calls pingpong N | mpirun -n 2 calls "
                "finalize N\n");
        bad = 1;
    }
    double begin_ns = now_ns(CLOCK_MONOTONIC);
    MPI_Finalize();
    if (!strcmp(what, "finalize"))
        printf("finalize %.0f\n", now_ns(CLOCK_MONOTONIC) - begin_ns);
    return bad;
}
