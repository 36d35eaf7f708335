/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank calls the same routine on a line of its own, and rank 1 has four times the work. What the report compares
 * with is what rank 0 does there, although it never comes to the line of rank 1.
 *
 * ranks: 2
 * expect: routine=smooth rank=1 share=0.85 rows=1 call=MPI_Barrier says_not=next counted_kind=more-work
 */
#include "known.h"

__attribute__((noinline)) static void smooth(long n)
{
    double x = known_sink;
    for (long i = 0; i < n; i++)
        x = LINK(x);
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 40; step++) {
        if (rank == 1)
            smooth(3200000);
        else
            smooth(800000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
