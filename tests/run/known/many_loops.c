/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One imbalance that runs through thirty loops: rank 2 repeats five routines with six loops each four times as often as
 * the others, which is one loop around them all. That is the cause, with the thirty as its parts.
 *
 * ranks: 4
 * expect: loop=repeat_many_loops routine=equation_of_state rank=2 share=0.9 call=MPI_Allreduce counted_kind=more-work
 * parts=30
 */
#include "known.h"

enum { CELLS = 60000, STEPS = 40 };
static double a[CELLS], b[CELLS], c[CELLS];

#define SWEEP(to, from, factor)                                                                                        \
    for (long i = 0; i < CELLS; i++)                                                                                   \
        for (int k = 0; k < 3; k++)                                                                                    \
    to[i] = to[i] * 0.999 / (from[i] * factor + 1.5) + 1e-6

__attribute__((noinline)) static void pressure(double f)
{
    SWEEP(a, b, f);
    SWEEP(b, c, f);
    SWEEP(c, a, f);
    SWEEP(a, c, f);
    SWEEP(b, a, f);
    SWEEP(c, b, f);
}

__attribute__((noinline)) static void energy(double f)
{
    SWEEP(a, b, f + 1);
    SWEEP(b, c, f + 1);
    SWEEP(c, a, f + 1);
    SWEEP(a, c, f + 1);
    SWEEP(b, a, f + 1);
    SWEEP(c, b, f + 1);
}

static inline void sound_speed(double f)
{
    SWEEP(a, b, f + 2);
    SWEEP(b, c, f + 2);
    SWEEP(c, a, f + 2);
    SWEEP(a, c, f + 2);
    SWEEP(b, a, f + 2);
    SWEEP(c, b, f + 2);
}

static inline void viscosity(double f)
{
    SWEEP(a, b, f + 3);
    SWEEP(b, c, f + 3);
    SWEEP(c, a, f + 3);
    SWEEP(a, c, f + 3);
    SWEEP(b, a, f + 3);
    SWEEP(c, b, f + 3);
}

__attribute__((noinline)) static void compression(double f)
{
    SWEEP(a, b, f + 4);
    SWEEP(b, c, f + 4);
    SWEEP(c, a, f + 4);
    SWEEP(a, c, f + 4);
    SWEEP(b, a, f + 4);
    SWEEP(c, b, f + 4);
}

static void equation_of_state(int times)
{
    /* begin repeat_many_loops */
    for (int time = 0; time < times; time++) {
        double f = 1e-3 * time;
        pressure(f);
        energy(f);
        sound_speed(f);
        viscosity(f);
        compression(f);
    }
    /* end repeat_many_loops */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double sum = 0;
    for (int step = 0; step < STEPS; step++) {
        equation_of_state(rank == 2 ? 4 : 1);
        double mine = a[step] + b[step] + c[step];
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    known_sink = sum;
    MPI_Finalize();
    return 0;
}
