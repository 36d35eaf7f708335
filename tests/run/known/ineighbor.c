/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line of three ranks exchanges with its neighbours, without blocking. Rank 2 starts late: only rank 1 can wait for
 * that, since rank 0 receives nothing from rank 2 and finds it late at the barrier that ends the round.
 *
 * ranks: 3
 * expect: loop=starts_late rank=2 share=0.9 call=MPI_Wait waiters=1 wait="completion of non-blocking collective"
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n = 3, is_ring = 0;
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &is_ring, 0, &line);
    for (int round = 0; round < 40; round++) {
        MPI_Request request;
        double x = round, all[2] = {0}, mine[2] = {rank, rank};
        if (rank == 2) {
            /* begin starts_late */
            for (long i = 0; i < 4000000; i++)
                x = LINK(x);
            /* end starts_late */
        }
        known_sink = x;
        MPI_Ineighbor_alltoall(mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, line, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(line);
    }
    MPI_Finalize();
    return 0;
}
