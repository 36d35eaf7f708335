/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 prepares what it sends while rank 1 already waits for it.
 *
 * ranks: 2
 * expect: loop=prepare rank=0 share=0.9 call=MPI_Recv wait="late sender" waiters=1
 */
#include "known.h"

static void prepare(double *data, int n)
{
    double x = data[0];
    /* begin prepare */
    for (long i = 0; i < 8000000; i++)
        x = LINK(x);
    /* end prepare */
    for (int i = 0; i < n; i++)
        data[i] = x;
}

int main(int argc, char **argv)
{
    enum { N = 100 };
    double data[N] = {0};
    int rank = known_start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 40; round++) {
        common_work(500000);
        if (rank == 0) {
            prepare(data, N);
            MPI_Send(data, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else {
            MPI_Recv(data, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
