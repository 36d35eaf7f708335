/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 repeats three parallel loops. Its team's threads have stacks of their own, which begin in the run-time
 * library: what they do belongs to the loop that started them.
 *
 * ranks: 2
 * expect: loop=repeat_openmp_loops routine=material rank=1 share=0.8 rows=1 call=MPI_Barrier counted_kind=any
 */
#include "known.h"

enum { CELLS = 60000 };
static double a[CELLS], b[CELLS];

/* begin repeat_openmp_loops */
__attribute__((noinline)) static void material(int times)
{
    for (int time = 0; time < times; time++) {
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < CELLS; i++)
            a[i] = a[i] * 0.999 / (b[i] + 1.5) + 1e-6;
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < CELLS; i++)
            b[i] = b[i] * 0.99 / (a[i] + 1.3) + 1e-6 * time;
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < CELLS; i++)
            a[i] = (a[i] + b[i]) / (a[i] * b[i] + 2.5);
    }
}
/* end repeat_openmp_loops */

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 140; step++) {
        material(rank == 1 ? 24 : 6);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = a[7] + b[9];
    MPI_Finalize();
    return 0;
}
