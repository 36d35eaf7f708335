/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stripped program all of whose barriers stand in one wrapper, as packages of a distribution come: the wrapper is
 * known by its callers, told by its number, and each of these is a site of its own.
 *
 * ranks: 2
 * expect: file=none routine="" name=" of nameless_wrapper" rank=1 share=0.8 call=MPI_Barrier sites=5
 *         through=" of nameless_wrapper" waiters=0
 */
#include "known.h"

static volatile unsigned n_calls;

__attribute__((noinline)) static int meet(MPI_Comm comm)
{
    int err = MPI_Barrier(comm);
    n_calls++; /* no tail call: the wrapper is on the stack */
    return err;
}

#define PHASE(name, length)                                                                                            \
    __attribute__((noinline)) static void name(double *x, int n)                                                       \
    {                                                                                                                  \
        for (int i = 0; i < n; i++)                                                                                    \
            x[i % (length)] += 1 / (1 + x[i % (length)]);                                                              \
        meet(MPI_COMM_WORLD);                                                                                          \
        n_calls++;                                                                                                     \
    }
PHASE(assemble, 1000)
PHASE(factor, 900)
PHASE(solve, 800)
PHASE(update, 700)
PHASE(output, 600)

int main(int argc, char **argv)
{
    static double x[1000];
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 60; step++) {
        assemble(x, rank == 1 ? 4000000 : 400000);
        factor(x, 10000);
        solve(x, 10000);
        update(x, 10000);
        output(x, 10000);
    }
    known_sink = x[7];
    MPI_Finalize();
    return 0;
}
