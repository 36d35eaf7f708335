/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 has twice as many cells as rank 0, and they meet behind each of forty loops over cells. It is late in all
 * of them by one factor: that is one reason, and no row has more than a small part of it.
 *
 * ranks: 2
 * expect: loop=cells rank=1 share=0.8 call=MPI_Barrier waiters=0 partition=1:2:20:0.7 counted_kind=more-work
 */
#include "known.h"

enum { CELLS = 8000, STEPS = 25 };
static double a[2 * CELLS], b[2 * CELLS], c[2 * CELLS];

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* As long as it takes, whatever the compiler makes of it. */
#define OVER_CELLS(to, from)                                                                                           \
    for (long i = 0; i < cells; i++)                                                                                   \
        for (int k = 0; k < 64; k++)                                                                                   \
            to[i] = to[i] * 0.999 / (from[i] + 1.5) + 1e-6;                                                            \
    meet()

/* begin cells */
#define ROUTINE(name) __attribute__((noinline)) static void name(long cells)
ROUTINE(advection)
{
    OVER_CELLS(a, b);
    OVER_CELLS(b, c);
    OVER_CELLS(c, a);
    OVER_CELLS(a, c);
    OVER_CELLS(b, a);
}

ROUTINE(diffusion)
{
    OVER_CELLS(c, b);
    OVER_CELLS(a, b);
    OVER_CELLS(b, c);
    OVER_CELLS(c, a);
    OVER_CELLS(a, c);
}

ROUTINE(pressure)
{
    OVER_CELLS(b, a);
    OVER_CELLS(c, b);
    OVER_CELLS(a, b);
    OVER_CELLS(b, c);
    OVER_CELLS(c, a);
}

ROUTINE(energy)
{
    OVER_CELLS(a, c);
    OVER_CELLS(b, a);
    OVER_CELLS(c, b);
    OVER_CELLS(a, b);
    OVER_CELLS(b, c);
}

ROUTINE(viscosity)
{
    OVER_CELLS(c, a);
    OVER_CELLS(a, c);
    OVER_CELLS(b, a);
    OVER_CELLS(c, b);
    OVER_CELLS(a, b);
}

ROUTINE(chemistry)
{
    OVER_CELLS(b, c);
    OVER_CELLS(c, a);
    OVER_CELLS(a, c);
    OVER_CELLS(b, a);
    OVER_CELLS(c, b);
}

ROUTINE(radiation)
{
    OVER_CELLS(a, b);
    OVER_CELLS(b, c);
    OVER_CELLS(c, a);
    OVER_CELLS(a, c);
    OVER_CELLS(b, a);
}

ROUTINE(transport)
{
    OVER_CELLS(c, b);
    OVER_CELLS(a, b);
    OVER_CELLS(b, c);
    OVER_CELLS(c, a);
    OVER_CELLS(a, c);
}
/* end cells */

/* Behind the cells, in the variant with a cause on top. */
static void beside(int rank)
{
#ifdef KNOWN_EXTRA
    double x = known_sink;
    long links = rank == 0 ? 9000000 : 3000000;
    /* begin beside_cells */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end beside_cells */
    known_sink = x;
    meet();
#else
    (void)rank;
#endif
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    long cells = rank == 1 ? 2 * CELLS : CELLS;
    for (int step = 0; step < STEPS; step++) {
        advection(cells);
        diffusion(cells);
        pressure(cells);
        energy(cells);
        viscosity(cells);
        chemistry(cells);
        radiation(cells);
        transport(cells);
        beside(rank);
    }
    known_sink += a[7] + b[9] + c[11];
    MPI_Finalize();
    return 0;
}
