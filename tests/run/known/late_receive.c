/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 polls for a message with MPI_Iprobe, and when it has come, computes for longer before it receives it. It
 * waited in MPI_Iprobe, not in MPI_Recv, and not while it computed; rank 1 meanwhile computes as much.
 *
 * ranks: 2
 * expect: loop=prepares_answer rank=1 share=0.8 call=MPI_Iprobe waiters=0 wait="late sender" waiting>=0.12
 */
#include "known.h"

static void prepare(double *data)
{
    /* begin prepares_answer */
    for (long i = 0; i < 3000000; i++)
        *data = LINK(*data);
    /* end prepares_answer */
}

static void receive(double *data)
{
    for (int found = 0; !found;)
        MPI_Iprobe(1, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    common_work(5000000);
    MPI_Recv(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double data = 0;
    for (int round = 0; round < 30; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            receive(&data);
            continue;
        }
        prepare(&data);
        MPI_Send(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        common_work(5000000);
    }
    MPI_Finalize();
    return 0;
}
