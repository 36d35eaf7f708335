/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 hands out tasks of uneven length to whoever asks: what a rank does differs from run to run, and so do counts.
 */
#include <mpi.h>
#include <stdlib.h>

enum { TASKS = 200, DONE = -1 };
static volatile double sink;

static __attribute__((noinline)) void work(int task)
{
    double x = 1;
    for (int i = 0; i < 1500000 + 10000 * (task % 97); i++) /* task */
        x = x * 0.999999 + 1e-9;
    sink = x;
}

static void hand_out(int n_ranks)
{
    for (int task = 0, left = n_ranks - 1; left;) {
        int asked, found = 0;
        MPI_Status status;
        while (!found)
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, &status);
        MPI_Recv(&asked, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int given = task < TASKS ? task++ : DONE;
        left -= given == DONE;
        MPI_Send(&given, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, n_ranks, task = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (!rank)
        hand_out(n_ranks);
    while (rank && task != DONE) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task != DONE)
            work(task);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
