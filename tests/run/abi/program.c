/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of the standard binary interface. Rank 1 works longer before each of three ways to wait. The program looks
 * at its statuses, and at what lies behind them. */
#include "wrap/record/pmpi/abi.h"
#include <stdio.h>

int MPI_Finalize(void);
int MPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Waitall(int, MPI_Request[], MPI_Status[]);

enum { ROUNDS = 40, N_BYTES = 100, GUARD = 12345 };
#define WORLD ((MPI_Comm)0x101)
#define BYTE ((MPI_Datatype)0x247)
#define UINT64 ((MPI_Datatype)0x259)
#define SUM ((MPI_Op)0x21)

static double work(int rank, double x)
{
    for (long i = 0; i < (rank == 1 ? 4000000 : 1000000); i++) /* late */
        x = x * 0.999 + 1;
    return x;
}

static int is_wrong(const MPI_Status *status, int source, int tag, int n_bytes)
{
    int n = 0;
    MPI_Get_count(status, BYTE, &n);
    return status->MPI_SOURCE != source || status->MPI_TAG != tag || n != n_bytes;
}

/* How many results were wrong. */
static int exchange(int rank, char *data)
{
    struct {
        MPI_Status at[2];
        int guard[8];
    } statuses = {.guard = {[0 ... 7] = GUARD}};
    MPI_Request requests[2];
    int n_wrong = 0;
    MPI_Irecv(data, N_BYTES, BYTE, 1 - rank, 5, WORLD, &requests[0]);
    MPI_Isend(data + N_BYTES, N_BYTES, BYTE, 1 - rank, 5, WORLD, &requests[1]);
    MPI_Waitall(2, requests, rank == 0 ? statuses.at : MPI_STATUSES_IGNORE);
    if (rank == 0)
        n_wrong = is_wrong(&statuses.at[0], 1, 5, N_BYTES);
    for (int i = 0; i < 8; i++)
        n_wrong += statuses.guard[i] != GUARD;
    return n_wrong + (requests[0] != (MPI_Request)0x180);
}

/* From whoever it is, on rank 0. */
static int receive(int rank, char *data)
{
    struct {
        MPI_Status at;
        int guard[8];
    } status = {.guard = {[0 ... 7] = GUARD}};
    int n_wrong = 0;
    if (rank == 1)
        return MPI_Send(data, N_BYTES / 2, BYTE, 0, 7, WORLD);
    MPI_Recv(data, N_BYTES, BYTE, MPI_ANY_SOURCE, 7, WORLD, &status.at);
    for (int i = 0; i < 8; i++)
        n_wrong += status.guard[i] != GUARD;
    return n_wrong + is_wrong(&status.at, 1, 7, N_BYTES / 2);
}

int main(int argc, char **argv)
{
    int rank, n_wrong = 0;
    double x = 0;
    char data[2 * N_BYTES] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t sum = (uint64_t)rank + 1;
        x = work(rank, x);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, UINT64, SUM, WORLD);
        x = work(rank, x);
        n_wrong += (sum != 3) + exchange(rank, data);
        x = work(rank, x);
        n_wrong += receive(rank, data);
    }
    MPI_Recv(data, N_BYTES, BYTE, MPI_PROC_NULL, 0, WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    printf("%d wrong\n", n_wrong);
    return n_wrong || x < 0;
}
