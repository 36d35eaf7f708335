/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A routine of two loops, of which all ranks run one alike. The other names the cause: what is said of how
 * long it takes, and how often it is run, is said of that loop alone.
 *
 * ranks: 2
 * expect: loop=uneven rank=1 share=0.85 rows=1 measured=0.1 alike=0.2 call=MPI_Barrier counted_kind=more-work
 */
#include "known.h"

static double uneven_ns;

__attribute__((noinline)) static void sweep(long uneven, long even)
{
    double x = known_sink;
    for (long i = 0; i < even; i++)
        x = LINK(x);
    double begin_ns = known_cpu_ns();
    /* begin uneven */
    for (long i = 0; i < uneven; i++)
        x = LINK(x);
    /* end uneven */
    uneven_ns += known_cpu_ns() - begin_ns;
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 360; step++) {
        sweep(rank == 1 ? 1500000 : 150000, 200000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1)
        fprintf(stderr, "measured %.0f ns\n", uneven_ns);
    MPI_Finalize();
    return 0;
}
