/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/result/ratio.h"
#include "analyze/constants/constants.h"
#include <math.h>

/* With x = over, y = under and their errors a, b times the deviations: the ratios r with (x - r y)^2 <= a^2 + r^2 b^2.
 */
struct ratio ratio_of(struct measured over, struct measured under)
{
    double x = over.value, y = under.value;
    double off_x2 = pow(SAME_DEVIATIONS * over.error, 2), off_y2 = pow(SAME_DEVIATIONS * under.error, 2);
    double least_x2 = fmax(x * x - off_x2, 0), least_y2 = y * y - off_y2, both = x * y;
    double root = sqrt(fmax(both * both - least_y2 * (x * x - off_x2), 0));
    struct ratio ratio = {.value = x / y};
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
