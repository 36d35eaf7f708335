/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 works longer before a barrier, then sends to rank 0, which waits for it as well. */
#include <mpi.h>
#include <math.h>

static volatile double sink;

static __attribute__((noinline)) double work(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) /* cause begin */
        sum += sqrt(i + sum);   /* cause end */
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    double value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 12; i++) {
        value += work(rank == 1 ? 8000000 : 1000000);
        MPI_Barrier(MPI_COMM_WORLD);
        value += work(rank == 1 ? 4000000 : 500000);
        if (rank == 1)
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(&value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    sink = value;
    MPI_Finalize();
    return 0;
}
