/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops whose branches go another way from one interval to the next, with constants that compilers take out of them. */
#include "tests/run/counts/measured/steps.h"
#include <stdio.h>
#include <stdlib.h>

enum { N = 400 };
#define KEPT __attribute__((noinline, noclone))

static unsigned char flags[N];
static double values[N];
static unsigned numbers[N];

KEPT static double divides(const unsigned char *flag, const double *v, int n)
{
    double sum = 1;
    for (int i = 0; i < n; i++)
        if (flag[i]) {
            double x = v[i];
            x = 3.0 / (x + 0.7);
            x = 2.0 / (x + 0.3);
            x = 5.0 / (x + 0.9);
            sum += 7.0 / (x + 0.1);
        }
    return sum;
}

KEPT static double divides_by_the_last(const unsigned char *flag, int n)
{
    double x = 1;
    for (int i = 0; i < n; i++)
        if (flag[i])
            x = 7.0 / (5.0 / (3.0 / (2.0 / (x + 0.3) + 0.9) + 0.1) + 0.7);
    return x;
}

KEPT static double takes_one_of_two(const unsigned char *flag, const double *v, int n)
{
    double sum = 1;
    for (int i = 0; i < n; i++) {
        if (flag[i])
            sum += 3.0 / (v[i] + 0.7) + 2.0 / (v[i] + 0.3) + 5.0 / (v[i] + 1.3) + 7.0 / (v[i] + 2.3);
        else
            sum = sum * 0.75 + 1.25;
    }
    return sum;
}

KEPT static unsigned switches(const unsigned char *flag, const unsigned *v, int n)
{
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        switch (flag[i]) {
        case 0:
            sum += 3;
            break;
        case 1:
            sum += v[i] / 7 + v[i] % 13 + v[i] / 1021 + v[i] % 4099;
            break;
        case 2:
            sum ^= v[i] * 0x9e3779b9u;
            break;
        default:
            sum += sum << 7 | sum >> 25;
        }
    }
    return sum;
}

KEPT static double nests(const unsigned char *flag, const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += 0.5;
        if (flag[i]) {
            sum = 1.5 / (sum + 0.125);
            for (int k = 0; k < 5; k++) {
                sum += v[(i + k) % N] * 0.0625;
                if (sum > 3.25)
                    sum = 9.0 / (sum + 3.0) - 0.75;
            }
        }
    }
    return sum;
}

KEPT static double goes_on(const unsigned char *flag, const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (!flag[i])
            continue;
        sum += 1.0 / (v[i] + 0.6) + 2.0 / (v[i] + 1.6);
        if (sum < 0.001)
            break;
        sum = sum * 0.9 + 11.0 / (v[i] + 4.5);
    }
    return sum;
}

static inline double weigh(double x)
{
    return x > 0.7 ? 13.0 / (x + 0.3) + 17.0 / (x + 3.3) : 0.25;
}

KEPT static double rounds(const unsigned char *flag, double *v, int n)
{
    double sum = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++)
            v[i] += 0.001;
        for (int i = 0; i < n; i++)
            if (flag[i])
                sum += weigh(v[i]);
    }
    return sum;
}

static double run(void)
{
    return divides(flags, values, N) + divides_by_the_last(flags, N) + takes_one_of_two(flags, values, N) +
           switches(flags, numbers, N) + nests(flags, values, N) + goes_on(flags, values, N) + rounds(flags, values, N);
}

int main(void)
{
    double sum = 0;
    for (int tenths = 1; tenths <= 9; tenths += 4) {
        for (int i = 0; i < N; i++) {
            flags[i] = rand() % 10 < tenths;
            if (flags[i] && i % 8 == 7)
                flags[i] = (unsigned char)(2 + i % 3);
            values[i] = (double)(i * 37 % N) / N;
            numbers[i] = (unsigned)rand();
        }
        steps_begin();
        sum += run();
        steps_end();
    }
    printf("%.17g\n", sum);
    return 0;
}
