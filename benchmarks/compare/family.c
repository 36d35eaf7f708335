/* SPDX-License-Identifier: BSD-3-Clause */
/* A family for scaling: serial work on rank 0 while all wait; a loop of rank 1 whose length grows with the number of
 * ranks, and one that grows with its root; the second of P ranks makes P - 1 others wait. The argument is the number of
 * turns. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

static volatile double sink;

static inline double spin(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++)
        x = x * 0.999999 + 1e-9;
    return x;
}

static __attribute__((noinline)) void serial(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++) /* serial */
        x = x * 0.999999 + 1e-9;
    sink = x;
}

static __attribute__((noinline)) void linear(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++) /* linear */
        x = x * 0.999998 + 1e-9;
    sink = x;
}

static __attribute__((noinline)) void root(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++) /* root */
        x = x * 0.999997 + 1e-9;
    sink = x;
}

int main(int argc, char **argv)
{
    int rank, n_ranks, turns = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int turn = 0; turn < turns; turn++) {
        if (rank == 0)
            serial(1500000);
        MPI_Barrier(MPI_COMM_WORLD);
        /* Waiting is the sum over the other ranks. */
        if (rank == 1)
            linear(1500000L * n_ranks / (n_ranks - 1));
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            root((long)(3000000 * sqrt(n_ranks) / (n_ranks - 1)));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    sink = spin(1000);
    MPI_Finalize();
    return 0;
}
