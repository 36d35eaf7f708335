/* SPDX-License-Identifier: BSD-3-Clause */
/* Jacobi relaxation on a square: the innermost loop is long and vectorised. */
#include <stdio.h>

enum { N = 700, ROUNDS = 900 };
static double a[N][N], b[N][N];

static double relax(double (*to)[N], double (*from)[N])
{
    double change = 0;
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
            to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
            change += to[i][j] - from[i][j];
        }
    return change;
}

int main(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        a[i][0] = b[i][0] = i;
    for (int round = 0; round < ROUNDS; round++)
        sum += relax(round % 2 ? a : b, round % 2 ? b : a);
    printf("%.6f\n", sum);
    return 0;
}
