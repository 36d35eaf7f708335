/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 makes rank 0 wait in one loop, whose length is an argument; rank 0 makes rank 1 wait in another one, always
 * for as long. */
#include <mpi.h>
#include <stdlib.h>

static volatile double sink;

int main(int argc, char **argv)
{
    int rank, length = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 20; turn++) {
        double x = 1, y = 1;
        for (int i = 0; rank == 1 && i < length * 1000000; i++) /* changed */
            x = x * 0.999999 + 1e-9;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < 2000000; i++) /* kept */
            y = y * 0.999998 + 1e-9;
        MPI_Barrier(MPI_COMM_WORLD);
        sink = x + y;
    }
    MPI_Finalize();
    return 0;
}
