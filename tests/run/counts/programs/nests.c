/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested loops whose numbers of iterations multiply, and others that only look so; pointers that go down. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

enum { N = 24 };
static double a[N][N], b[N][N], c[N][N];
static volatile int zero;

__attribute__((noinline)) static void product(int n, int m, int l)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++)
                c[i][j] += a[i][k] * b[k][j];
}

__attribute__((noinline)) static double triangle(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < 5; k++)
                sum += a[i][j] * k;
    return sum;
}

/* The inner loop is not entered in every iteration, or behind the exit. */
__attribute__((noinline)) static double sometimes(int n, int m, const int *skip)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (skip[i % 8])
            continue;
        for (int j = 0; j < m; j++)
            sum += b[i % N][j % N];
    }
    for (int i = 0;; i++) {
        for (int j = 0; j < m; j++)
            sum -= c[i % N][j % N];
        if (i == n)
            break;
        for (int j = 0; j < 3; j++)
            sum += c[j][i % N];
    }
    return sum;
}

__attribute__((noinline)) static double leaves(int n, int m)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            for (int k = 0; k < 4; k++)
                sum += a[j % N][k] - b[k][i % N];
        if (sum > 1e4)
            break;
    }
    return sum;
}

__attribute__((noinline)) static long down(const int *from, const int *to, int limit)
{
    long sum = 0;
    for (int round = 0; round < 3; round++)
        for (const int *at = from; at != to && *at < limit; at--)
            sum += *at;
    for (unsigned long i = (unsigned long)(from - to); i > 0 && to[i] > 3; i--)
        sum += to[i];
    for (unsigned i = 7; i + 1 > 0 && sum > limit; i--)
        sum -= limit;
    return sum;
}

__attribute__((noinline)) static unsigned counted(unsigned n, unsigned m, unsigned step)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i += step)
        for (unsigned j = i & 1; j < m; j += 3)
            for (unsigned k = m; k > 0; k--)
                sum = sum * 31 + (i ^ j) % (k + 1);
    return sum;
}

int main(void)
{
    int values[64], skip[8] = {0, 1, 0, 0, 1, 1, 0, 1};
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + 2 * j;
            b[i][j] = i - j % 5;
        }
    for (int i = 0; i < 64; i++)
        values[i] = (i * 37) % 50;
    counts_sync();
    for (int round = 0; round < 6; round++) {
        product(round * 4, zero + round, N - round);
        product(zero, N, N);
        counts_sync();
        sum += triangle(3 * round) + sometimes(9 + round, zero + 2 * round, skip) + leaves(N, 3 * round);
        counts_sync();
        sum += (double)down(values + 63, values + 2 * round, 45) + counted(5 * (unsigned)round, 11, 1 + (unsigned)zero);
        counts_sync();
    }
    printf("%.6e\n", sum + c[3][2]);
    counts_sync();
    return 0;
}
