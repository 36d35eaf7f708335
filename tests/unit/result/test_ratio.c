/* SPDX-License-Identifier: BSD-3-Clause */
/* How well a ratio of two sampled times is known. */
#include "analyze/result/ratio.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Uniform in (0, 1): a linear congruential generator (Knuth's MMIX). */
static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

/* So many samples fall into a time in which `mean` are expected. */
static int samples(uint64_t *seed, double mean)
{
    int n = 0;
    for (double left = exp(-mean), product = uniform(seed); product > left; product *= uniform(seed))
        n++;
    return n;
}

static struct measured time_of(int n_samples)
{
    const double sample_ns = 4e6;
    return (struct measured){n_samples * sample_ns, sqrt(n_samples) * sample_ns, true};
}

/* Ends at two standard deviations leave 2.3 % on each side; and samples are whole numbers. Where there is no sample at
 * all, nothing tells what one stands for. */
static void leaves_the_true_ratio_outside_once_in_forty(void **state)
{
    (void)state;
    const double factors[] = {1, 3, 12}, means[] = {3, 5, 10, 30};
    const int n_tries = 20000;
    uint64_t seed = 1;
    for (int k = 0; k < 3; k++) {
        for (int m = 0; m < 4; m++) {
            int n_above = 0, n_below = 0;
            for (int i = 0; i < n_tries; i++) {
                int over = samples(&seed, factors[k] * means[m]), under = samples(&seed, means[m]);
                struct ratio ratio = ratio_of(time_of(over), time_of(under));
                n_above += under > 0 && ratio.low > factors[k];
                n_below += over > 0 && ratio.high < factors[k];
            }
            assert_true(n_above < 0.03 * n_tries);
            assert_true(n_below < 0.035 * n_tries);
        }
    }
}

static void knows_nothing_of_what_was_never_seen(void **state)
{
    (void)state;
    struct ratio ratio = ratio_of(time_of(5), time_of(0));
    assert_true(isinf(ratio.high));
    assert_true(isinf(ratio_doubt(ratio_of(time_of(0), time_of(5)))));
}

static void has_no_error_of_exact_counts(void **state)
{
    (void)state;
    struct ratio ratio = ratio_of((struct measured){6, 0, false}, (struct measured){2, 0, false});
    assert_true(ratio.low == 3 && ratio.value == 3 && ratio.high == 3);
    assert_true(ratio_exceeds(ratio, 2.9) && !ratio_exceeds(ratio, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_the_true_ratio_outside_once_in_forty),
        cmocka_unit_test(knows_nothing_of_what_was_never_seen),
        cmocka_unit_test(has_no_error_of_exact_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
