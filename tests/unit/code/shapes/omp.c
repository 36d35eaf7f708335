/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP moves the body of a parallel region into a routine of its own; marks as in shapes.c. */
#include <stdio.h>
#include <stdlib.h>

static double work(double *x, int n)
{
    double s = 0;
#pragma omp parallel for reduction(+ : s)   /* @?reduction( @?reduction) */
    for (int i = 0; i < n; i++) {           /* @parallel_for( */
        x[i] = x[i] * x[i] + 1;
        for (int k = 0; k < i; k++)         /* @within( */
            s += x[i] / (k + 1);            /* @within) @parallel_for) */
    }
    return s;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    double *x = calloc((size_t)n, sizeof *x);
    printf("%g\n", work(x, n));
    free(x);
    return 0;
}
