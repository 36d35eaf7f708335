/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of MPI 4 and 5, and the library that a later MPI would bring: functions that the MPI here may lack. Rank 1
 * works longer before a collective with large counts, before a send and receive in one call, and before a message that
 * rank 0 polls for with all requests of a list. */
#define MPI_Request_get_status_all declared_by_mpi /* MPICH 4.2 leaves out a const of the standard's */
#include <mpi.h>
#undef MPI_Request_get_status_all
#include <stdio.h>

int MPI_Allreduce_c(const void *from, void *to, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Isendrecv(const void *from, int n_from, MPI_Datatype type_from, int to, int tag_to, void *at, int n_at,
                  MPI_Datatype type_at, int source, int tag_at, MPI_Comm comm, MPI_Request *request);
int MPI_Request_get_status_all(int n, const MPI_Request requests[], int *flag, MPI_Status *statuses);

#ifdef LIBRARY
int MPI_Allreduce_c(const void *from, void *to, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return PMPI_Allreduce(from, to, (int)n, type, op, comm);
}

/* Both sides are small: the send is done when it returns. */
int MPI_Isendrecv(const void *from, int n_from, MPI_Datatype type_from, int to, int tag_to, void *at, int n_at,
                  MPI_Datatype type_at, int source, int tag_at, MPI_Comm comm, MPI_Request *request)
{
    int err = PMPI_Irecv(at, n_at, type_at, source, tag_at, comm, request);
    return err == MPI_SUCCESS ? PMPI_Send(from, n_from, type_from, to, tag_to, comm) : err;
}

int MPI_Request_get_status_all(int n, const MPI_Request requests[], int *flag, MPI_Status *statuses)
{
    int err = MPI_SUCCESS, is_all = 1;
    for (int i = 0; i < n && err == MPI_SUCCESS; i++) {
        err = PMPI_Request_get_status(requests[i], flag, statuses);
        is_all &= *flag;
    }
    *flag = is_all;
    return err;
}
#else
static double work(int rank, long turns)
{
    double x = rank;
    for (long i = 0; i < (rank == 1 ? 4 * turns : turns); i++) /* late */
        x = x * 0.999 + 1;
    return x;
}

static void poll(int rank, double *own)
{
    MPI_Request request;
    if (rank == 1) {
        MPI_Send(own, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(own, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &request);
    for (int is_there = 0; !is_there;)
        MPI_Request_get_status_all(1, &request, &is_there, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    double own = 0, sum = 0, theirs = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 40; i++) {
        MPI_Request request;
        own = work(rank, 1000000);
        MPI_Allreduce_c(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        own = work(rank, 1000000);
        MPI_Isendrecv(&own, 1, MPI_DOUBLE, 1 - rank, 0, &theirs, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        own = work(rank, 1000000);
        poll(rank, &own);
    }
    MPI_Finalize();
    return sum > 0 && theirs > 0 ? 0 : 1;
}
#endif
