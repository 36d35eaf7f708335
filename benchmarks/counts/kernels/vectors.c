/* SPDX-License-Identifier: BSD-3-Clause */
/* Short vector operations: axpy, dot product, maximum, over arrays that fit the cache. */
#include <stdio.h>

enum { N = 2000, ROUNDS = 450000 };
static double x[N], y[N];

int main(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++) {
        x[i] = i % 17;
        y[i] = i % 13;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double dot = 0, factor = 1e-7 * round;
        for (int i = 0; i < N; i++)
            y[i] = factor * x[i] + 0.999 * y[i];
        for (int i = 0; i < N; i += 4)
            dot += x[i] * y[i];
        sum += dot;
    }
    printf("%.6f\n", sum);
    return 0;
}
