/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ranks post a receive, compute and send each other what is too large to be buffered; rank 1 computes for longer.
 * Rank 0 waits in MPI_Send until rank 1 comes back to MPI, which is with its own MPI_Send.
 *
 * ranks: 2
 * expect: loop=slow_half rank=1 share=0.7 call=MPI_Send wait="late receiver" waiters=0
 */
#include "known.h"

enum { COUNT = 5000 };

int main(int argc, char **argv)
{
    static double in[COUNT], out[COUNT];
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 40; round++) {
        MPI_Request request;
        double x = round;
        MPI_Irecv(in, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request);
        common_work(1000000);
        if (rank == 1) {
            /* begin slow_half */
            for (long i = 0; i < 6000000; i++)
                x = LINK(x);
            /* end slow_half */
        }
        known_sink = x;
        MPI_Send(out, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
