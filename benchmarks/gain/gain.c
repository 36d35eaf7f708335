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
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 150, PART = 400000 };
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

int main(int argc, char **argv)
{
    int rank, size;
    double in = 1, out;
    if (argc != 3)
        return 2;
    const char *pattern = argv[1];
    int is_even = !strcmp(argv[2], "even"), rotates = !strcmp(pattern, "rotating");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        int late = rotates ? step % size : 1;
        common(PART);
        spread(is_even ? (long)PART * (size + 2) / size : rank == late ? 3L * PART : PART);
        if (!strcmp(pattern, "halo"))
            exchange(rank, size);
        else if (!strcmp(pattern, "reduce"))
            MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("took %.0f ns\n", (MPI_Wtime() - begin_s) * 1e9);
    MPI_Finalize();
    return 0;
}
