/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 has three times the work until the middle of the run, then rank 1 has: over the run both have as much.
 *
 * ranks: 2
 * expect: loop=front rank=any share=0.75 call=MPI_Barrier counted_kind=more-work
 *         says="first one of them is longer in it, then another" next="divide it anew when it has moved"
 */
#include "known.h"

enum { STEPS = 100, LINKS = 400000 };

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double x = 0.3;
    for (int step = 0; step < STEPS; step++) {
        long links = (rank == 0) == (step < STEPS / 2) ? 3 * LINKS : LINKS;
        /* begin front */
        for (long i = 0; i < links; i++)
            x = LINK(x);
        /* end front */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = x;
    MPI_Finalize();
    return 0;
}
