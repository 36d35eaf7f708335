/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool of MPI's profiling interface that counts messages, as such tools are written: it defines MPI_X, and passes
 * calls on as PMPI_X. Built as a library without MPI_Init, with it, and into a program.
 */
#include <mpi.h>
#include <stdio.h>

static int n_messages;

int MPI_Send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    n_messages++;
    return PMPI_Send(data, n, type, to, tag, comm);
}

int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    n_messages++;
    return PMPI_Recv(data, n, type, from, tag, comm, status);
}

#ifdef TOOL_WITH_INIT
int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}
#endif

/* Not at MPI_Finalize: that one is left to the recorder. */
static __attribute__((destructor)) void tell(void)
{
    if (n_messages)
        fprintf(stderr, "tool: %d messages\n", n_messages);
}
