/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 does more in each of these, and each time another decision is the reason; which one is in the name. Around
 * them all ranks do the same. Ranks meet in pairs: of four rank 3 does more as well, but not as much. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 3000, STEPS = 6 };
#define KEPT __attribute__((noinline, noclone))

static unsigned char flags[N];
static double values[N], smoothed[N];
static volatile double sink;

KEPT static double trips(double x, int n)
{
    for (int i = 0; i < n; i++) /* TRIPS */
        x = x * 0.999 + 1.0 / (x + 2.0);
    return x;
}

KEPT static double inner_trips(double x, int n)
{
    for (int i = 0; i < N / 10; i++) {
        x = x * 0.75 + 0.5;
        for (int k = 0; k < n; k++) /* INNER */
            x = x * 0.999 + 1.0 / (x + 2.0);
    }
    return x;
}

KEPT static double branch(double sum, const unsigned char *flag, const double *v)
{
    for (int i = 0; i < N; i++) {
        if (flag[i])                                                                                  /* BRANCH */
            sum += 3.0 / (v[i] + 0.7) + 2.0 / (v[i] + 0.3) + 5.0 / (v[i] + 1.3) + 7.0 / (v[i] + 2.3); /* TAKEN */
        else
            sum = sum * 0.75 + 1.25;
    }
    return sum;
}

KEPT static double one_case(double sum, const unsigned char *flag, const double *v)
{
    for (int i = 0; i < N; i++)
        switch (flag[i] ? 2 + i % 2 : i % 2) { /* CASE */
        case 0:
            sum += 0.25;
            break;
        case 1:
            sum *= 0.5;
            break;
        default:
            for (int k = 0; k < 6; k++)
                sum += 3.0 / (v[i] + k) + sum * 0.001;
        }
    return sum;
}

KEPT static double passes(double *v, int n)
{
    for (int p = 0; p < n; p++) /* PASSES */
        for (int i = 1; i < N - 1; i++)
            v[i] = 0.25 * v[i - 1] + 0.5 * v[i] + 0.25 * v[i + 1];
    return v[N / 2];
}

KEPT static double recursion(double x, int depth)
{
    for (int i = 0; i < 20; i++)
        x = x * 0.999 + 1.0 / (x + 2.0);
    return depth ? recursion(x, depth - 1) + 0.5 : x;
}

KEPT static double helper(double x, int n)
{
    for (int i = 0; i < n; i++) /* HELPER */
        x = x * 0.999 + 1.0 / (x + 2.0);
    return x;
}

KEPT static double callee(double x, int n)
{
    for (int i = 0; i < N / 30; i++)
        x = helper(x, n) * 0.5 + i; /* CALLEE */
    return x;
}

KEPT static double called(double x)
{
    for (int i = 0; i < 40; i++)
        x = x * 0.999 + 1.0 / (x + 2.0);
    return x;
}

KEPT static double calls_more(double x, int n)
{
    for (int i = 0; i < n; i++) /* CALLS */
        x = called(x) * 0.5 + i;
    return x;
}

__attribute__((noipa)) static void look(int *is_found, int round)
{
    *is_found = round == 40;
}

/* GCC makes two loops of it with -O3, and leaves the first one for the second in round 40. */
KEPT static double split(double x, int n)
{
    int is_found = 0;
    for (int round = 0; round < n; round++) { /* SPLIT */
        for (int i = 0; i < 100; i++)
            x = x * 0.999 + 1.0 / (x + 2.0);
        if (!is_found)
            look(&is_found, round);
    }
    if (!is_found)
        look(&is_found, n);
    return x;
}

static int wanted; /* 0: as many as usual */

__attribute__((noipa)) static double asked(double x)
{
    for (int i = 0; i < 40; i++)
        x = x * 0.999 + 1.0 / (x + 2.0);
    return x;
}

/* The condition is too long for a compiler to ask it last: it is asked once more than the loop goes round. */
KEPT static double asks_first(double x)
{
    for (int i = 0; i < (wanted ? wanted : 2); i++) /* ASKS */
        x = asked(x) * 0.5 + i;
    return x;
}

KEPT static double edge(double x, int n)
{
    for (int i = 0; i < n; i++)
        x = x * 0.999 + 1.0 / (x + 2.0);
    return x;
}

/* Of four ranks two come to it, each by a condition of its own. */
KEPT static double edges(double x, int rank, int n)
{
    if (rank == 1)
        x = edge(x, n);
    if (rank == 3)
        x = edge(x, n) + 0.5;
    return x;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    srand(1);
    for (int i = 0; i < N; i++) {
        flags[i] = rand() % 10 < (rank == 1 ? 9 : rank == 3 ? 7 : 1);
        values[i] = (double)i / N;
    }
    for (int step = 0; step < STEPS; step++) {
        int more = rank == 1 ? 4 : rank == 3 ? 3 : 1;
        for (int turn = 0; turn < 1000; turn++)
            sink = trips(sink, more * N / 10);
        MPI_Barrier(pair);
        for (int turn = 0; turn < 300; turn++)
            sink = inner_trips(sink, more * 5);
        MPI_Barrier(pair);
        for (int turn = 0; turn < 300; turn++)
            sink = branch(sink, flags, values);
        MPI_Barrier(pair);
        for (int turn = 0; turn < 300; turn++)
            sink = one_case(sink, flags, values);
        MPI_Barrier(pair);
        sink = passes(smoothed, more * 400);
        MPI_Barrier(pair);
        for (int turn = 0; turn < 1000; turn++)
            sink = recursion(sink, more * 10);
        MPI_Barrier(pair);
        for (int turn = 0; turn < 100; turn++)
            sink = callee(sink, more * 20);
        MPI_Barrier(pair);
        for (int turn = 0; turn < 100; turn++)
            sink = calls_more(sink, more * 50);
        MPI_Barrier(pair);
        for (int turn = 0; turn < 100; turn++)
            sink = split(sink, more * 50);
        MPI_Barrier(pair);
        wanted = more > 1 ? 2 * more : 0;
        for (int turn = 0; turn < 1500; turn++)
            sink = asks_first(sink);
        MPI_Barrier(pair);
        for (int turn = 0; turn < 200; turn++)
            sink = edges(sink, rank, 1500);
        MPI_Barrier(pair);
    }
    if (rank > 1) /* nobody waits for rank 1 at the end */
        sleep(1);
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
