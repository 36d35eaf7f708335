/* SPDX-License-Identifier: BSD-3-Clause */
/* The library of shared.c. */

double library_work(long n);

double library_work(long n)
{
    double x = 0;
    /* begin library_loop */
    for (long i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    /* end library_loop */
    return x;
}
