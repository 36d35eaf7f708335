/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same work, spread unevenly or evenly over the ranks.
 *
 *     gain PATTERN uneven|even
 *
 * PATTERN  barrier: rank 1 has three times as much as the others before each barrier
 *          rotating: the rank that has three times as much changes at every step
 *          halo: as barrier, but the ranks wait for their neighbours' messages
 *          reduce: as barrier, but the ranks wait in an Allreduce
 *          serial: rank 0 does a part alone, for whose end all wait in a Bcast
 *          pipeline: what the last rank gets takes it longer than the others; messages are buffered
 *          hidden: as barrier, but rank 0 does something else for nearly as long, so that next to nothing is gained
 *          blocked: as barrier, but what rank 1 has more of is a sleep; evenly nobody sleeps
 *          naps: likewise, but the rank that sleeps changes at every step
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { STEPS = 150, PART = 400000, NAP_NS = 2000000 };
static volatile double sink;

static void common(long n)
{
    double x = sink;
    for (long i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    sink = x;
}

static void spread(long n)
{
    double x = sink;
    for (long i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    sink = x;
}

static void exchange(int rank, int size)
{
    double out = rank, in;
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + 1) % size, 0, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, &in, 1, MPI_DOUBLE, (rank + 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every rank hands on what it has worked on. */
static void receive_work(int rank)
{
    double in;
    if (rank)
        MPI_Recv(&in, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_work(int rank, int size)
{
    double out = rank;
    if (rank < size - 1)
        MPI_Send(&out, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
}

static void communicate(const char *pattern, int rank, int size)
{
    double in = 1, out;
    if (!strcmp(pattern, "halo"))
        exchange(rank, size);
    else if (!strcmp(pattern, "reduce"))
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(pattern, "serial"))
        MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    else if (!strcmp(pattern, "pipeline"))
        send_work(rank, size);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

/* What is not spread. */
static long common_of(const char *pattern, int rank)
{
    return !strcmp(pattern, "hidden") && rank == 0 ? 29L * PART / 10 : PART;
}

/* How much of what is spread a rank has at a step: as much as others, or three times as much. */
static long uneven_part(const char *pattern, int step, int rank, int size)
{
    int late = !strcmp(pattern, "rotating") ? step % size : !strcmp(pattern, "pipeline") ? size - 1 : 1;
    if (!strcmp(pattern, "serial"))
        return rank == 0 ? 2L * PART : 0;
    return (rank == late ? 3L : 1L) * PART;
}

/* So much that all are ready at the same time; where that is hidden, as far as rank 0 lets them. */
static long even_part(const char *pattern, int rank, int size)
{
    long all = 0, busy = common_of(pattern, 0);
    for (int other = 0; other < size; other++)
        all += common_of(pattern, other) + uneven_part(pattern, 0, other, size);
    if (all / size >= busy)
        return all / size - common_of(pattern, rank);
    return rank == 0 ? 0 : (all - busy) / (size - 1) - common_of(pattern, rank);
}

static int is_asleep(const char *pattern, int step, int rank, int size)
{
    return (!strcmp(pattern, "blocked") && rank == 1) || (!strcmp(pattern, "naps") && rank == step % size);
}

__attribute__((noinline)) static void nap_in_spread(void)
{
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

static void step_once(const char *pattern, int is_even, int step, int rank, int size)
{
    if (!strcmp(pattern, "pipeline"))
        receive_work(rank);
    common(common_of(pattern, rank));
    if (strcmp(pattern, "blocked") && strcmp(pattern, "naps"))
        spread(is_even ? even_part(pattern, rank, size) : uneven_part(pattern, step, rank, size));
    else if (!is_even && is_asleep(pattern, step, rank, size))
        nap_in_spread();
    communicate(pattern, rank, size);
}

int main(int argc, char **argv)
{
    int rank, size;
    if (argc != 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (int step = 0; step < STEPS; step++)
        step_once(argv[1], !strcmp(argv[2], "even"), step, rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("took %.0f ns\n", (MPI_Wtime() - begin_s) * 1e9);
    MPI_Finalize();
    return 0;
}
