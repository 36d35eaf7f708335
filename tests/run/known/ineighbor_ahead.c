/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of a ring begin the next exchange with their neighbours and work meanwhile, rank 0 alone. Its part of the
 * exchange goes on when it comes back to MPI: the other waits for that, though it began in time.
 *
 * ranks: 2
 * expect: loop=works_meanwhile rank=0 share=0.8 call=MPI_Wait wait="wait for progress"
 */
#include "known.h"

enum { CELLS = 4000 };

int main(int argc, char **argv)
{
    static double sent[2][CELLS], received[2][CELLS];
    int rank = known_start(&argc, &argv), n = 2, is_ring = 1;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &is_ring, 0, &ring);
    for (int round = 0; round < 100; round++) {
        MPI_Request request;
        double x = round;
        MPI_Ineighbor_alltoall(sent, CELLS, MPI_DOUBLE, received, CELLS, MPI_DOUBLE, ring, &request);
        if (rank == 0) {
            /* begin works_meanwhile */
            for (long i = 0; i < 1500000; i++)
                x = LINK(x);
            /* end works_meanwhile */
        }
        known_sink = x;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
