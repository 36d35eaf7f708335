/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two communicators of two ranks each (evens and odds), numbered backwards; in the odd one rank 3 comes late and rank
 * 1 waits. Ranks of the communicator must not be taken for ranks of the world.
 *
 * ranks: 4
 * expect: loop=late_odd rank=3 share=0.6 call=MPI_Barrier waiters=1
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    for (int round = 0; round < 15; round++) {
        if (rank == 3) {
            double x = known_sink;
            /* begin late_odd */
            for (long i = 0; i < 20000000; i++)
                x = LINK(x);
            /* end late_odd */
            known_sink = x;
        }
        MPI_Barrier(half);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
