/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/noise.h"
#include <math.h>
#include <stdbool.h>

static const double CHANCE_MIN = 1e-9; /* below, the tail of the distribution is lost in rounding */

double noise_mean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i] / (double)n;
    return sum;
}

static double squares_of(const double *values, size_t n)
{
    double mean = noise_mean(values, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

/* How likely Student's t stays within +-t: Abramowitz and Stegun, 26.7.3 and 26.7.4. */
static double student_within(double t, size_t freedom)
{
    double angle = atan(t / sqrt((double)freedom)), square = cos(angle) * cos(angle);
    bool is_odd = freedom % 2;
    double term = is_odd ? cos(angle) : 1, sum = freedom > 1 ? term : 0;
    for (size_t k = is_odd ? 3 : 2; k + 2 <= freedom; k += 2) {
        term *= square * (double)(k - 1) / (double)k;
        sum += term;
    }
    return is_odd ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

/* What |t| exceeds with this chance. */
static double student(double chance, size_t freedom)
{
    double low = 0, high = 1e9;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(student_within(middle, freedom) < 1 - chance ? &low : &high) = middle;
    }
    return high;
}

double noise_of_difference(const double *before, size_t n_before, const double *after, size_t n_after, double chance)
{
    if (n_before < 2 || n_after < 2)
        return INFINITY;
    size_t freedom = n_before + n_after - 2;
    double variance = (squares_of(before, n_before) + squares_of(after, n_after)) / (double)freedom;
    if (variance <= 0)
        return 0;
    return student(fmax(chance, CHANCE_MIN), freedom) * sqrt(variance * (1 / (double)n_before + 1 / (double)n_after));
}
