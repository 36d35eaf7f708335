/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that was built to count calls a library that was not, three times as often on rank 1 as on rank 0. What the
 * library takes is charged to the loop that calls it: more work, not slower.
 *
 * ranks: 2
 * expect: loop=item rank=1 share=0.9 routine=uncounted_item call=MPI_Barrier counted_kind=more-work
 *         says="3.0 x as many iterations"
 */
#include "known.h"

double uncounted_item(double x, long n);

__attribute__((noinline)) static double all_items(int n)
{
    double x = 1;
    for (int i = 0; i < n; i++)
        x += uncounted_item(i, 50000);
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 60; step++) {
        known_sink = all_items(rank == 1 ? 30 : 10);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
