/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/result/ratio.h"
#include "analyze/constants/constants.h"
#include <math.h>

/* The ends between which a quantity may be: centre +- half. Of a sum of samples with variance v, those true values m
 * are in question from which it is z deviations away at most: (value - m)^2 <= z^2 v m / value. */
struct range {
    double centre, half;
};

static struct range range_of(struct measured quantity)
{
    double off = SAME_DEVIATIONS * quantity.error;
    double shift = quantity.is_sampled && quantity.value > 0 ? off * off / quantity.value / 2 : 0;
    return (struct range){quantity.value + shift, hypot(off, shift)};
}

/* With x and y in such ranges +- a and b: the ratios r with (x - r y)^2 <= a^2 + r^2 b^2. */
struct ratio ratio_of(struct measured over, struct measured under)
{
    struct range x = range_of(over), y = range_of(under);
    double least_x2 = (x.centre - x.half) * (x.centre + x.half), least_y2 = (y.centre - y.half) * (y.centre + y.half);
    double both = x.centre * y.centre, root = sqrt(fmax(both * both - least_y2 * least_x2, 0));
    struct ratio ratio = {.value = over.value / under.value};
    ratio.low = least_x2 > 0 ? least_x2 / (both + root) : 0;
    ratio.high = least_y2 > 0 ? (both + root) / least_y2 : INFINITY;
    return ratio;
}

bool ratio_is_like(struct ratio one, struct ratio other, double factor)
{
    return one.low <= other.high * factor && other.low <= one.high * factor;
}

double ratio_doubt(struct ratio ratio)
{
    return ratio.low > 0 ? log(ratio.high / ratio.low) / 2 : INFINITY;
}
