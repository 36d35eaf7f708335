/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only half of a routine's loops take rank 1 longer, and no loop is around these alone: the loop around all is the
 * cause, and its parts are those four.
 *
 * ranks: 2
 * expect: loop=blocks routine=sweep rank=1 share=0.85 rows=1 parts=4 call=MPI_Barrier counted_kind=more-work
 */
#include "known.h"

enum { BLOCKS = 4 };

#define PIECE(length)                                                                                                  \
    for (long i = 0; i < (length); i++)                                                                                \
    x = LINK(x)

__attribute__((noinline)) static void sweep(long uneven, long even)
{
    double x = known_sink;
    /* begin blocks */
    for (int block = 0; block < BLOCKS; block++) {
        PIECE(uneven);
        PIECE(even);
        PIECE(uneven + 1);
        PIECE(even + 1);
        PIECE(uneven + 2);
        PIECE(even + 2);
        PIECE(uneven + 3);
        PIECE(even + 3);
    }
    /* end blocks */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 90; step++) {
        /* The even loops are short: the error of their few samples must stay far below a part of the cause. */
        sweep(rank == 1 ? 400000 : 50000, 20000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
