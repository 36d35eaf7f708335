/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 makes the others wait until a file of the given name appears. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static volatile double sink;

__attribute__((noinline)) static void late(int n)
{
    double x = 1;
    for (int i = 0; i < n; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

int main(int argc, char **argv)
{
    int rank, is_over = 0, n_steps = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (!is_over) {
        late(rank == 1 ? 8000000 : 100000);
        is_over = rank == 0 && access(argv[1], F_OK) == 0;
        MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        n_steps++;
    }
    if (rank == 0)
        printf("steps %d\n", n_steps);
    MPI_Finalize();
    return 0;
}
