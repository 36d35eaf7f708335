// SPDX-License-Identifier: BSD-3-Clause
/*
 * A class template with two instances: the solver in single precision does the same on both ranks, the one in double
 * precision 24 times as much on rank 1. KNOWN_APART: not inlined.
 *
 * ranks: 2
 * expect: loop=sweep rank=1 share=0.85 rows=1 call=MPI_Barrier routine=Solver<double>::sweep waiters=0
 *         counted_kind=more-work alike=0.2
 */
#include "known.h"

#ifdef KNOWN_APART
#define KNOWN_INLINE __attribute__((noinline))
#else
#define KNOWN_INLINE inline
#endif

template <class Number> struct Solver {
    Number state = 1;
    KNOWN_INLINE Number sweep(long n)
    {
        /* begin sweep */
        for (long i = 0; i < n; i++)
            state = state * Number(0.999999) + Number(1e-6);
        /* end sweep */
        return state;
    }
};

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    static Solver<float> single;
    static Solver<double> precise;
    for (int step = 0; step < 60; step++) {
        known_sink = single.sweep(250000);
        known_sink = precise.sweep(rank == 1 ? 6000000 : 250000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
