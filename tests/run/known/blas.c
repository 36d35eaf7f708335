/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time passes in a BLAS library, whose kernels are written in assembly and say nothing about their frames. It is
 * the loop of the program that calls it which is named.
 *
 * ranks: 3
 * expect: loop=multiply rank=1 share=0.9 call=MPI_Allreduce routine=multiply_often
 */
#include "known.h"
#include <cblas.h>

enum { SMALL = 100, LARGE = 300, STEPS = 60, TIMES = 4 };

static __attribute__((noinline)) void multiply_often(int n, const double *a, const double *b, double *c)
{
    /* begin multiply */
    for (int i = 0; i < TIMES; i++)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a, n, b, n, 0.5, c, n);
    /* end multiply */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n = rank == 1 ? LARGE : SMALL;
    double *a = malloc(sizeof *a * LARGE * LARGE), *b = malloc(sizeof *b * LARGE * LARGE);
    double *c = malloc(sizeof *c * LARGE * LARGE), sum;
    if (!a || !b || !c)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < LARGE * LARGE; i++)
        a[i] = b[i] = c[i] = 1e-3 * (i % 7);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        multiply_often(n, a, b, c);
        MPI_Allreduce(c, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        known_sink = sum;
    }
    MPI_Finalize();
    return 0;
}
