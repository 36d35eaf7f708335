/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/noise.h"
#include <math.h>

static const double CHANCE_MIN = 1e-9; /* below, the tail of the distribution is lost in rounding */

double noise_mean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i] / (double)n;
    return sum;
}

/* Mean and sum of squared distances from it, of the transformed values. */
struct moments {
    double mean, squares;
};

static struct moments moments_of(const double *values, size_t n, double scale)
{
    struct moments moments = {0};
    for (size_t i = 0; i < n; i++)
        moments.mean += asinh(values[i] / scale) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double distance = asinh(values[i] / scale) - moments.mean;
        moments.squares += distance * distance;
    }
    return moments;
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

double noise_student(double chance, size_t freedom)
{
    double low = 0, high = 1e9;
    chance = fmax(chance, CHANCE_MIN);
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(student_within(middle, freedom) < 1 - chance ? &low : &high) = middle;
    }
    return high;
}

struct noise_test noise_compare(const double *before, size_t n_before, const double *after, size_t n_after,
                                double scale, double level)
{
    struct noise_test test = {.chance = 1, .least = INFINITY, .scatter = NAN};
    if (!n_before || !n_after || n_before + n_after < 3 || !(scale > 0))
        return test;
    size_t freedom = n_before + n_after - 2;
    struct moments first = moments_of(before, n_before, scale), second = moments_of(after, n_after, scale);
    double apart = fabs(second.mean - first.mean), spread = 1 / (double)n_before + 1 / (double)n_after;
    test.is_known = true;
    test.scatter = sqrt((first.squares + second.squares) / (double)freedom);
    double error = test.scatter * sqrt(spread), rounding = 1e-12 * (1 + fabs(first.mean));
    if (error > rounding)
        test.chance = fmax(1 - student_within(apart / error, freedom), 0);
    else
        test.chance = apart > rounding ? 0 : 1;
    double told = noise_student(level, freedom) * error;
    double most = fmax(noise_mean(before, n_before), noise_mean(after, n_after));
    test.apart = apart;
    test.doubling = asinh(2 * most / scale) - asinh(most / scale);
    test.sees_doubling = told <= test.doubling;
    test.least = scale * fabs(sinh(first.mean + (second.mean < first.mean ? -told : told)) - sinh(first.mean));
    return test;
}

unsigned noise_runs_needed(const struct noise_test *test, double level)
{
    enum { RUNS_MOST = 100 };
    static const double POWER = 0.84; /* standard deviations: four times out of five */
    double apart = fmax(test->apart, test->doubling);
    for (unsigned n = 2; n <= RUNS_MOST; n++)
        if ((noise_student(level, 2 * n - 2) + POWER) * test->scatter * sqrt(2.0 / n) <= apart)
            return n;
    return 0;
}
