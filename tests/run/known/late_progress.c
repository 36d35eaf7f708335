/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 begins to send a message that is too large to be buffered and computes before it completes that. Nothing moves
 * until it comes back to MPI: rank 1, which wants to receive, waits for this loop, not for the message.
 *
 * ranks: 2
 * expect: loop=held_back rank=0 share=0.6 call=MPI_Recv wait="wait for progress" waiters=1
 *         next="let ranks do parts of it at the same time, overlap it"
 */
#include "known.h"

enum { COUNT = 5000 };

int main(int argc, char **argv)
{
    static double buffer[COUNT];
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 30; round++) {
        MPI_Request request;
        double x = round;
        if (rank == 1) {
            MPI_Recv(buffer, COUNT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            common_work(500000);
            continue;
        }
        MPI_Isend(buffer, COUNT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
        /* begin held_back */
        for (long i = 0; i < 8000000; i++)
            x = LINK(x);
        /* end held_back */
        known_sink = x;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
