/* SPDX-License-Identifier: BSD-3-Clause */
/* Many small dense systems: loops of three to six iterations, nested three deep. */
#include <stdio.h>

enum { N = 6, COUNT = 20000, ROUNDS = 130 };
static double systems[COUNT][N][N + 1];

static double eliminate(double (*m)[N + 1], int n)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (m[i][k] > m[pivot][k])
                pivot = i;
        if (m[pivot][k] < 1e-9 && m[pivot][k] > -1e-9)
            return 0;
        for (int j = k; j <= n; j++) {
            double kept = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = kept;
        }
        for (int i = k + 1; i < n; i++) {
            double factor = m[i][k] / m[k][k];
            for (int j = k; j <= n; j++)
                m[i][j] -= factor * m[k][j];
        }
    }
    return m[n - 1][n] / m[n - 1][n - 1];
}

int main(void)
{
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < COUNT; s++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j <= N; j++)
                    systems[s][i][j] = (s + i * 7 + j * 13 + round) % 23 + (i == j) * 40;
        for (int s = 0; s < COUNT; s++)
            sum += eliminate(systems[s], 3 + s % 4);
    }
    printf("%.6f\n", sum);
    return 0;
}
