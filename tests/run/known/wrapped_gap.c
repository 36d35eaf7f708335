/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As wrapper.c, but the rate asked for is too low for any sample in so short a run: the code between two calls is told
 * by where the wrapper is called, not by its one line, which all calls share. No line of this file may move.
 *
 * ranks: 2
 * expect: routine="" file=none kind=any rank=1 share=0.85 call=MPI_Barrier site_in=assemble waiters=0
 *         name="code between MPI_Barrier wrapped_gap.c:26 and MPI_Barrier wrapped_gap.c:34"
 *         through=known_MPI_Barrier
 */
#include "known.h"

static volatile unsigned n_calls;

__attribute__((noinline)) static int known_MPI_Barrier(MPI_Comm comm)
{
    int err = MPI_Barrier(comm);
    n_calls++; /* no tail call: the wrapper is on the stack */
    return err;
}

__attribute__((noinline)) static void relax(double *x)
{
    for (int i = 1; i < 1000; i++)
        x[i] = 0.5 * (x[i] + x[i - 1]);
    known_MPI_Barrier(MPI_COMM_WORLD);
    n_calls++;
}

__attribute__((noinline)) static void assemble(double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i % 1000] += 1 / (1 + x[i % 1000]);
    known_MPI_Barrier(MPI_COMM_WORLD);
    n_calls++;
}

int main(int argc, char **argv)
{
    static double x[1000];
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 60; step++) {
        assemble(x, rank == 1 ? 4000000 : 400000);
        relax(x);
    }
    known_sink = x[7];
    MPI_Finalize();
    return 0;
}
