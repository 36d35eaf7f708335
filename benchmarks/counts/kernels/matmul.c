/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix product, blocked. */
#include <stdio.h>

enum { N = 720, B = 24 };
static double a[N][N], b[N][N], c[N][N];

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i % 7 + j;
            b[i][j] = j % 5 - i;
        }
    for (int round = 0; round < 4; round++)
        for (int i0 = 0; i0 < N; i0 += B)
            for (int k0 = 0; k0 < N; k0 += B)
                for (int j0 = 0; j0 < N; j0 += B)
                    for (int i = i0; i < i0 + B; i++)
                        for (int k = k0; k < k0 + B; k++)
                            for (int j = j0; j < j0 + B; j++)
                                c[i][j] += a[i][k] * b[k][j];
    printf("%.0f\n", c[17][33] + c[N - 1][N - 1]);
    return 0;
}
