/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's own library, called by native.py. */

double smooth(double *x, int n, int times)
{
    double sum = 0;
    for (int k = 0; k < times; k++) {
        /* begin smooth */
        for (int i = 1; i + 1 < n; i++)
            x[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1];
        /* end smooth */
        sum += x[n / 2];
    }
    return sum;
}
