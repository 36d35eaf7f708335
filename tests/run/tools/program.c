/* SPDX-License-Identifier: BSD-3-Clause */
/* Ten messages from rank 0 to rank 1. In a program at fixed addresses, the address of a function of a library may be
 * that of a stub in the program. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int (*volatile send)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = MPI_Send;
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++)
        if (rank == 0)
            send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
