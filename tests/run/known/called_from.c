/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time is in a library without lines. The row says which routine of which library that is, and the nearest line of
 * the program that calls it.
 *
 * ranks: 2
 * expect: file=none rank=1 share=0.9 routine=uncounted_item call=MPI_Barrier
 *         name="in libuncounted_without_lines.so, called from advance() called_from.c:"
 */
#include "known.h"

double uncounted_item(double x, long n);

__attribute__((noinline)) static void advance(long n)
{
    known_sink = uncounted_item(known_sink, n);
    known_sink = known_sink * 0.5; /* the call above is no jump */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 60; step++) {
        advance(rank == 1 ? 2000000 : 400000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
