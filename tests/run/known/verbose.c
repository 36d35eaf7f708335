/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 was left in a verbose mode: in every eighth turn of a loop that all ranks run as often, it writes what it has.
 * That is a call of the C library, which is not counted, behind a condition that is.
 *
 * ranks: 2
 * expect: loop=transport rank=1 share=0.7 call=MPI_Barrier counted_kind=more-work
 *         says="leads to this code every time, but on rank 0 never"
 */
#include "known.h"

enum { STEPS = 100, PARTICLES = 8000, LINKS = 40 };

static char line[200];

__attribute__((noinline)) static double transport(double x, int is_verbose)
{
    /* begin transport */
    for (int i = 0; i < PARTICLES; i++) {
        for (int k = 0; k < LINKS; k++)
            x = LINK(x);
        if (is_verbose && i % 8 == 0)
            snprintf(line, sizeof line, "particle %d energy %.12f weight %.12g", i, x, x + i);
    }
    /* end transport */
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double x = 0.3;
    for (int step = 0; step < STEPS; step++) {
        x = transport(x, rank == 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = x + line[0];
    MPI_Finalize();
    return 0;
}
