/* SPDX-License-Identifier: BSD-3-Clause */
/* A family for scaling: serial work on rank 0 while all wait; a routine of rank 1 for which ranks wait in proportion to
 * their number, and one for which they wait in proportion to its root. The work is sleep, so that more ranks than cores
 * do not distort it: P - 1 ranks wait for each, hence the division. The argument is the number of turns. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static void sleep_ms(double ms)
{
    struct timespec time = {.tv_nsec = (long)(1e6 * ms)};
    nanosleep(&time, NULL);
}

static __attribute__((noinline)) void serial(void)
{
    sleep_ms(20);
    __asm__ volatile("");
}

static __attribute__((noinline)) void linear(int n_ranks)
{
    sleep_ms(24.0 * n_ranks / (n_ranks - 1));
    __asm__ volatile("");
}

static __attribute__((noinline)) void root(int n_ranks)
{
    sleep_ms(80 * sqrt(n_ranks) / (n_ranks - 1));
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    int rank, n_ranks, turns = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int turn = 0; turn < turns; turn++) {
        if (rank == 0)
            serial();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            linear(n_ranks);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            root(n_ranks);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
