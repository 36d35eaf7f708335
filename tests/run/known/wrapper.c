/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All barriers stand in one wrapper, as in libraries that keep MPI behind routines of their own: the site is where the
 * wrapper is called.
 *
 * ranks: 2
 * expect: loop=slow rank=1 share=0.85 call=MPI_Barrier site_in=assemble through=known_MPI_Barrier waiters=0
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
    /* begin slow */
    for (int i = 0; i < n; i++)
        x[i % 1000] += 1 / (1 + x[i % 1000]);
    /* end slow */
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
