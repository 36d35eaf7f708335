/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank: there is nobody to wait for.
 *
 * ranks: 1
 * expect: waiting<=0.001
 */
#include "known.h"

int main(int argc, char **argv)
{
    known_start(&argc, &argv);
    for (int round = 0; round < 100; round++) {
        double x = round, sum = 0;
        common_work(2000000);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        known_sink = sum;
    }
    MPI_Finalize();
    return 0;
}
