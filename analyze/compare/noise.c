/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/noise.h"
#include "analyze/constants/constants.h"
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

static double transformed(const struct noise_side *side, size_t i, double scale)
{
    return asinh(side->values[i] / scale) - (side->others ? asinh(side->others[i] / scale) : 0);
}

static struct moments moments_of(const struct noise_side *side, double scale)
{
    struct moments moments = {0};
    for (size_t i = 0; i < side->n; i++)
        moments.mean += transformed(side, i, scale) / (double)side->n;
    for (size_t i = 0; i < side->n; i++) {
        double distance = transformed(side, i, scale) - moments.mean;
        moments.squares += distance * distance;
    }
    return moments;
}

/* The chance that Student's t stays within +-t: Abramowitz and Stegun, 26.7.3 and 26.7.4. */
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

/* Of the values, or of how many times as large as the others they are. */
static struct noise_test compare_one(const struct noise_side *before, const struct noise_side *after, double scale,
                                     double level)
{
    struct noise_test test = {
        .chance = 1, .level = level, .is_by_others = before->others, .least = INFINITY, .scatter = NAN};
    if (!before->n || !after->n || before->n + after->n < 3 || !(scale > 0))
        return test;
    size_t freedom = before->n + after->n - 2;
    struct moments first = moments_of(before, scale), second = moments_of(after, scale);
    double apart = second.mean - first.mean, spread = 1 / (double)before->n + 1 / (double)after->n;
    test.is_known = true;
    test.scatter = sqrt((first.squares + second.squares) / (double)freedom);
    double error = test.scatter * sqrt(spread), rounding = 1e-12 * (1 + fabs(first.mean));
    if (error > rounding)
        test.chance = fmax(1 - student_within(fabs(apart) / error, freedom), 0);
    else
        test.chance = fabs(apart) > rounding ? 0 : 1;
    double means[2] = {noise_mean(before->values, before->n), noise_mean(after->values, after->n)};
    double told = noise_student(level, freedom) * error, most = fmax(means[0], means[1]);
    double was = moments_of(&(struct noise_side){before->n, before->values, NULL}, scale).mean;
    test.apart = fabs(apart);
    test.doubling = asinh(2 * most / scale) - asinh(most / scale);
    test.sees_doubling = told <= test.doubling;
    test.least = scale * fabs(sinh(was + (apart < 0 ? -told : told)) - sinh(was));
    test.is_opposed = (apart < 0) != (means[1] < means[0]);
    return test;
}

struct noise_test noise_compare(struct noise_side before, struct noise_side after, double scale, double level)
{
    if (!before.others || !after.others)
        return compare_one(&before, &after, scale, level);
    struct noise_test by_others = compare_one(&before, &after, scale, level / 2);
    before.others = after.others = NULL;
    struct noise_test test = compare_one(&before, &after, scale, level / 2);
    if (by_others.chance < test.chance && !by_others.is_opposed)
        test = by_others;
    test.chance = fmin(2 * test.chance, 1);
    return test;
}

unsigned noise_runs_needed(const struct noise_test *test)
{
    enum { RUNS_MOST = 100 };
    double apart = fmax(test->apart, test->doubling);
    for (unsigned n = 2; n <= RUNS_MOST; n++)
        if ((noise_student(test->level, 2 * n - 2) + COMPARE_POWER) * test->scatter * sqrt(2.0 / n) <= apart)
            return n;
    return 0;
}
