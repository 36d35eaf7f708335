/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nearly all time of the late rank is spent inside libm; the loop to name is the one that calls it.
 *
 * ranks: 2
 * expect: loop=calls_pow rank=1 share=0.9 call=MPI_Barrier waiters=0
 */
#include "known.h"
#include <math.h>

static double powers(long n)
{
    double x = 1.5;
    /* begin calls_pow */
    for (long i = 0; i < n; i++)
        x = 1 + pow(x, 0.7) * 0.3;
    /* end calls_pow */
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 60; round++) {
        known_sink = powers(rank == 1 ? 500000 : 50000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
