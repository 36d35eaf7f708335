/* SPDX-License-Identifier: BSD-3-Clause */
/* The library of nameless.c and nameless_routine.c. */
double library_work(long n);
double library_loops(long n);

__attribute__((noinline)) static double without_name(long n)
{
    double x = 0;
    for (long i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

double library_work(long n)
{
    return without_name(n) + 1;
}

__attribute__((noinline)) static double with_loops(long n)
{
    double x = 0;
    for (long i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    for (long i = 0; i < n; i++)
        x = x * 0.99999 / 1.00001 + 1e-6;
    return x;
}

double library_loops(long n)
{
    return with_loops(n) + 1;
}
