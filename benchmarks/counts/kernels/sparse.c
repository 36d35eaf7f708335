/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse matrix times vector: inner loops of five to nine iterations. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 60000, ROUNDS = 1900 };
static int start[N + 1], column[9 * N];
static double value[9 * N], x[N], y[N];

static void multiply(double *restrict to, const double *restrict from)
{
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * from[column[k]];
        to[i] = sum;
    }
}

int main(void)
{
    int n = 0;
    for (int i = 0; i < N; i++) {
        start[i] = n;
        for (int k = 0; k < 5 + i % 5; k++, n++) {
            column[n] = (i + k * k * 7) % N;
            value[n] = 0.1 * (k + 1) - 0.2;
        }
        x[i] = i % 3;
    }
    start[N] = n;
    for (int round = 0; round < ROUNDS; round++)
        multiply(round % 2 ? x : y, round % 2 ? y : x);
    printf("%.6f\n", x[77]);
    return 0;
}
