/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads of each rank share a loop well, but rank 1 has three times the items. Where two ranks have two CPUs,
 * threads run one after the other for want of a CPU, and not because of a lock.
 *
 * ranks: 2
 * expect: loop=items rank=1 share=0.3 call=MPI_Barrier counted_kind=more-work says_not="take turns"
 */
#include "known.h"

enum { STEPS = 64, ITEMS = 100, LINKS = 8000 };

static double out[3 * ITEMS];

__attribute__((noinline)) static void share(int n)
{
#pragma omp parallel for schedule(dynamic, 4) num_threads(2)
    for (int i = 0; i < n; i++) {
        double x = 0.3 + i;
        /* begin items */
        for (int k = 0; k < LINKS; k++)
            x = LINK(x);
        /* end items */
        out[i] = x;
    }
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < STEPS; step++) {
        share(rank == 1 ? 3 * ITEMS : ITEMS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = out[7];
    MPI_Finalize();
    return 0;
}
