/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks follow a chain through 64 MB for the same number of links. That of rank 0 leads to the next element each
 * time, that of rank 1 all over the memory.
 *
 * ranks: 2
 * expect: loop=chain rank=1 share=0.9 call=MPI_Barrier wait="wait at barrier" counted_kind=slower
 */
#include "known.h"

enum { N = 1 << 23, STRIDE = 20261121, LINKS = 200000, STEPS = 30 };

static long *chain_make(unsigned stride)
{
    long *next = malloc(N * sizeof *next);
    for (unsigned i = 0; next && i < N; i++)
        next[i] = (i + stride) % N;
    return next;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    long *next = chain_make(rank == 1 ? STRIDE : 1), at = 0;
    if (!next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        common_work(3000000);
        /* begin chain */
        for (int i = 0; i < LINKS; i++)
            at = next[at];
        /* end chain */
        known_sink += (double)at;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(next);
    MPI_Finalize();
    return 0;
}
