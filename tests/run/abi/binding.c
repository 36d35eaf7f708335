/* SPDX-License-Identifier: BSD-3-Clause */
/* A binding of Fortran on top of the standard binary interface, with a name of its own for MPI_STATUS_IGNORE. */
#include "wrap/record/pmpi/abi.h"

int MPI_Finalize(void);
int binding_status_ignore_[8]; /* a COMMON of the program's */

static void *handle(const int *value)
{
    return (void *)(intptr_t)*value;
}

void mpi_init_(int *error)
{
    *error = MPI_Init(NULL, NULL);
}

void mpi_finalize_(int *error)
{
    *error = MPI_Finalize();
}

void mpi_comm_rank_(int *comm, int *rank, int *error)
{
    *error = MPI_Comm_rank(handle(comm), rank);
}

void mpi_send_(void *data, int *n, int *type, int *to, int *tag, int *comm, int *error)
{
    *error = MPI_Send(data, *n, handle(type), *to, *tag, handle(comm));
}

void mpi_recv_(void *data, int *n, int *type, int *source, int *tag, int *comm, int *status, int *error)
{
    *error = MPI_Recv(data, *n, handle(type), *source, *tag, handle(comm),
                      status == binding_status_ignore_ ? MPI_STATUS_IGNORE : (MPI_Status *)status);
}
