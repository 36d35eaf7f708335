/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks take turns: each starts when the one before it is half through, round after round, and nobody does more than
 * the others. While one waits, three others go through the loop, so that what happens between two waits has more
 * iterations on the late side. The loop over the rounds goes round as often on all: it is not what differs.
 *
 * ranks: 4
 * expect: loop=half_a_turn rank=any share=0.6 call=MPI_Recv counted_kind=more-work
 *         says_not="as many iterations"
 */
#include "known.h"

__attribute__((noinline)) static double advance(double x)
{
    /* begin half_a_turn */
    for (long i = 0; i < 3000000; i++)
        x = LINK(x);
    /* end half_a_turn */
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 15; round++) {
        double item = 1;
        if (rank || round)
            MPI_Recv(&item, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        item = advance(item);
        if (rank < size - 1 || round < 14)
            MPI_Send(&item, 1, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD);
        known_sink = advance(item);
    }
    MPI_Finalize();
    return 0;
}
