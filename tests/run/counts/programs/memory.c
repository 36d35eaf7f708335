/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over memory that the compiler vectorises, unrolls or turns into calls; variable-length arrays; allocation. */
#include "tests/run/counts/sync.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double axpy(double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        x[i] += 3 * y[i];
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static void transpose(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            to[j * n + i] = from[i * n + j];
}

static double smooth(double *a, int n)
{
    double worst = 0;
    for (int i = 1; i < n - 1; i++) {
        double mean = (a[i - 1] + a[i + 1]) / 2;
        if (fabs(mean - a[i]) > worst)
            worst = fabs(mean - a[i]);
        a[i] = mean + sqrt(fabs(a[i])) * 1e-3 + sin(mean) * 1e-6;
    }
    return worst;
}

static int collatz(unsigned long n)
{
    int steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

static int variable(int n)
{
    int array[n];
    for (int i = 0; i < n; i++)
        array[i] = i * i % 7;
    counts_sync();
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += array[i];
    return sum;
}

int main(void)
{
    int n = 67;
    double *a = malloc(sizeof *a * n * n), *b = calloc(n * n, sizeof *b), sum = 0;
    for (int i = 0; i < n * n; i++)
        a[i] = i % 13;
    for (int round = 0; round < 5; round++) {
        sum += axpy(b, a, n * n - round);
        counts_sync();
        transpose(a, b, n);
        sum += smooth(b, n + round);
        sum += variable(round + 3);
        b = realloc(b, sizeof *b * n * n + round);
    }
    int steps = 0;
    for (int i = 1; i < 300; i++)
        steps += collatz(i);
    memset(a, 0, sizeof *a * n);
    counts_sync();
    printf("%g %d\n", sum + a[0], steps);
    free(a);
    free(b);
    return 0;
}
