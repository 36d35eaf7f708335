/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ranks go equally often round a loop that calls a routine with a loop of its own, alike on both. What the outer
 * loop does itself beside that call rank 1 alone has: rank 0 is in it for long all the same.
 *
 * ranks: 2
 * expect: loop=around rank=1 share=0.8 call=MPI_Barrier says_not="next to nothing"
 */
#include "known.h"

#define LINKS_4(x) x = LINK(LINK(LINK(LINK(x))))
#define LINKS_16(x) LINKS_4(x), LINKS_4(x), LINKS_4(x), LINKS_4(x)
#define LINKS_64(x) LINKS_16(x), LINKS_16(x), LINKS_16(x), LINKS_16(x)

__attribute__((noinline)) static double flux(double x)
{
    for (int i = 0; i < 100; i++)
        x = LINK(x);
    return x;
}

__attribute__((noinline)) static void cells(int n, int is_odd)
{
    double x = known_sink;
    /* begin around */
    for (int i = 0; i < n; i++) {
        x = flux(x);
        if (is_odd) {
            LINKS_64(x);
            LINKS_64(x);
        }
    }
    /* end around */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 40; step++) {
        cells(30000, rank == 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
