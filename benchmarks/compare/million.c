/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop of a million iterations, and of as many more on rank 1 as the argument says. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, more = argc > 1 ? atoi(argv[1]) : 0;
    volatile double sink = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 1000000 + (rank == 1 ? more : 0); i++) /* counted */
        sink = sink * 0.999999 + 1e-9;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
