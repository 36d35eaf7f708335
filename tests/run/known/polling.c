/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 waits for a message by testing for it, millions of times: one wait each, explained like any other.
 *
 * ranks: 2
 * expect: loop=answer rank=1 share=0.9 call=MPI_Test waiters=0
 */
#include "known.h"

static void poll_for_answer(double *data)
{
    MPI_Request request;
    MPI_Irecv(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    for (int done = 0; !done;)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void answer(double *data)
{
    /* begin answer */
    for (long i = 0; i < 8000000; i++)
        *data = LINK(*data);
    /* end answer */
    MPI_Send(data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double data = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 40; round++) {
        common_work(400000);
        if (rank == 0)
            poll_for_answer(&data);
        else
            answer(&data);
    }
    MPI_Finalize();
    return 0;
}
