/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose sessions all end before others begin. */
#include "wrap/record/pmpi/abi.h"
#include <stdio.h>

int MPI_Session_init(MPI_Info, MPI_Errhandler, MPI_Session *);
int MPI_Session_finalize(MPI_Session *);
int MPI_Comm_create_from_group(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *);

#define UINT64 ((MPI_Datatype)0x259)
#define SUM ((MPI_Op)0x21)

static uint64_t life(void)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    uint64_t sum = 1;
    MPI_Session_init(NULL, NULL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "life", NULL, NULL, &comm);
    MPI_Group_free(&all);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, UINT64, SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return sum;
}

int main(void)
{
    for (int i = 0; i < 3; i++)
        if (life() != 2)
            return 1;
    puts("3 lives");
    return 0;
}
