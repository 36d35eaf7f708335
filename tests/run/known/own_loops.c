/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank has a loop of its own, as where one builds the edges to its upper neighbour and the other those to its
 * lower one. Rank 1's takes longer, by more than the speeds of two CPUs differ: rank 0, which never comes to it, was
 * not idle for all that time.
 *
 * ranks: 2
 * expect: loop=upper rank=1 share=0.85 call=MPI_Barrier instead=lower
 */
#include "known.h"

__attribute__((noinline)) static void build_upper(long n)
{
    double x = known_sink;
    /* begin upper */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end upper */
    known_sink = x;
}

__attribute__((noinline)) static void build_lower(long n)
{
    double x = known_sink;
    /* begin lower */
    for (long i = 0; i < n; i++)
        x = LINK(x) + 1e-9;
    /* end lower */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 10; step++) {
        if (rank == 1)
            build_upper(20000000);
        else
            build_lower(9000000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
