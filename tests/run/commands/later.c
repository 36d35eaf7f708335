/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of MPI 4, and the library that a later MPI would bring: functions that the header of the recorder's MPI may
 * lack. Rank 1 works longer before a collective with large counts, and before a send and receive in one call. */
#include <mpi.h>
#include <stdio.h>

int MPI_Allreduce_c(const void *from, void *to, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Isendrecv(const void *from, int n_from, MPI_Datatype type_from, int to, int tag_to, void *at, int n_at,
                  MPI_Datatype type_at, int source, int tag_at, MPI_Comm comm, MPI_Request *request);

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
#else
static double work(int rank, long turns)
{
    double x = rank;
    for (long i = 0; i < (rank == 1 ? 4 * turns : turns); i++) /* late */
        x = x * 0.999 + 1;
    return x;
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
    }
    MPI_Finalize();
    return sum > 0 && theirs > 0 ? 0 : 1;
}
#endif
