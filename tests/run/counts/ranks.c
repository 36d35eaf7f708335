/* SPDX-License-Identifier: BSD-3-Clause */
/* 100 intervals; rank r runs the loop 1000 (r + 1) times in each, in a function that itself waits. Lines are named by
 * check_export.sh: LOOP, CALL. */
#include <mpi.h>
#include <stdio.h>

static volatile double sum;

__attribute__((noinline)) static void interval(int n)
{
    for (int i = 0; i < n; i++)
        sum += i * 0.5;          /* LOOP */
    MPI_Barrier(MPI_COMM_WORLD); /* CALL */
    if (n % 2)
        sum = 0;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++)
        interval(1000 * (rank + 1));
    if (rank == 0)
        printf("%g\n", sum);
    MPI_Finalize();
    return 0;
}
