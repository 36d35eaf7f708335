/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For the exports: rank 1 makes the others wait, for messages and at barriers, in work() below a cycle of routines and
 * below a routine that calls itself; rank 0 also polls for a message.
 */
#include <mpi.h>
#include <stdio.h>

#define ROUTINE __attribute__((noinline, noclone)) static
enum { STEPS = 60, UNIT = 200000 };

static volatile unsigned sink;

ROUTINE unsigned work(unsigned seed, int n)
{
    for (; n > 0; n--)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

ROUTINE unsigned odd(unsigned seed, int n);

ROUTINE unsigned even(unsigned seed, int n)
{
    seed = work(seed, UNIT);
    return n > 0 ? odd(seed, n - 1) + 1 : seed;
}

ROUTINE unsigned odd(unsigned seed, int n)
{
    return n > 0 ? even(seed, n - 1) + 1 : work(seed, UNIT);
}

ROUTINE unsigned tree(unsigned seed, int depth)
{
    seed = work(seed, UNIT / 4);
    return depth > 0 ? tree(seed, depth - 1) + tree(seed + 1, depth - 1) + 1 : seed;
}

/* Nobody ever calls it. */
__attribute__((noinline, noclone, used)) static unsigned never(unsigned seed)
{
    return work(seed, 1) + 1;
}

ROUTINE void exchange(int rank, int n_ranks)
{
    int next = (rank + 1) % n_ranks, before = (rank + n_ranks - 1) % n_ranks, in, out = rank, is_there = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&in, 1, MPI_INT, before, 0, MPI_COMM_WORLD, &request);
        MPI_Send(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
        while (!is_there)
            MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Recv(&in, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, n_ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < STEPS; i++) {
        sink = work((unsigned)i, UNIT);
        if (rank == 1) {
            sink += even((unsigned)i, 5);
            sink += tree((unsigned)i, 3);
        }
        exchange(rank, n_ranks);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (argc > 1000)
        sink = never(sink);
    MPI_Finalize();
    return 0;
}
