/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1's iteration does not converge in the third step: it goes round in newton() until its alarm ends it, and with
 * it the job. Rank 0 waits in the reduction behind.
 *
 * ranks: 2
 * exit: any
 * expect: open=MPI_Allreduce meanwhile=newton
 */
#include "known.h"
#include <math.h>
#include <unistd.h>

static double newton(double x, double square)
{
    while (fabs(x * x - square) > 1e-9)
        x = (x + square / x) / 2;
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double sum = 0;
    if (rank == 1)
        alarm(2);
    for (int step = 0; step < 10; step++) {
        double root = newton(1, rank == 1 && step == 2 ? -2 : 2);
        MPI_Allreduce(&root, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return sum > 0 ? 0 : 1;
}
