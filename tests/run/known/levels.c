/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two callers of one routine: on one way all ranks smooth as much, on the other rank 1 smooths more and more, five
 * times as much over the run. It is the second way that makes others wait, though samples of the first are few.
 *
 * ranks: 2
 * expect: loop=smooth rank=1 share=0.7 call=MPI_Barrier times=5:0.3 name="in refined()" rows=1 counted_kind=more-work
 */
#include "known.h"

enum { STEPS = 100, LINKS = 500000 };

__attribute__((noinline)) static double smooth(double x, long links)
{
    /* begin smooth */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end smooth */
    return x;
}

__attribute__((noinline)) static double coarse(double x)
{
    x = smooth(x, LINKS);
    return x * 0.5;
}

__attribute__((noinline)) static double refined(double x, int level)
{
    x = smooth(x, (long)LINKS * level);
    return x * 0.25;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double x = 0.3;
    for (int step = 0; step < STEPS; step++) {
        x += coarse(x);
        x += refined(x, rank == 1 ? 1 + 2 * (step / (STEPS / 5)) : 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = x;
    MPI_Finalize();
    return 0;
}
