// SPDX-License-Identifier: BSD-3-Clause
/*
 * One loop of a template runs two lambdas: as often on both ranks, and 24 times as often on rank 1. Each instance is
 * a place of its own, and the name of the uneven one says where its lambda stands. KNOWN_APART: the instances are
 * routines, not inlined. KNOWN_TOGETHER: both lambdas stand in one routine.
 *
 * ranks: 2
 * expect: loop=each rank=1 share=0.85 rows=1 call=MPI_Barrier routine=uneven waiters=0 counted_kind=more-work alike=0.2
 */
#include "known.h"

#ifdef KNOWN_APART
#define KNOWN_INLINE __attribute__((noinline))
#else
#define KNOWN_INLINE inline
#endif

template <class Body> static KNOWN_INLINE void each(long n, Body body)
{
    /* begin each */
    for (long i = 0; i < n; i++)
        body(i);
    /* end each */
}

static double even_and_uneven(long n_even, long n)
{
    double x = known_sink, y = known_sink;
    each(n_even, [&](long) { x = LINK(x); });
    each(n, [&](long) { y = LINK(y); });
    return x + y;
}

static double even(long n)
{
    double x = known_sink;
    each(n, [&](long) { x = LINK(x); });
    return x;
}

static double uneven(long n)
{
    double x = known_sink;
    each(n, [&](long) { x = 1e-9 - LINK(x); });
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    const long n_even = 250000, n = rank == 1 ? 24 * n_even : n_even;
    for (int step = 0; step < 36; step++) {
#ifdef KNOWN_TOGETHER
        known_sink = even_and_uneven(n_even, n);
#else
        known_sink = even(n_even) + uneven(n);
#endif
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
