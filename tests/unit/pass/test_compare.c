/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing runs: which causes are one, what moved, and what noise is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/pass/compare.h"
#include <math.h>
#include <string.h>

static void near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%.12g instead of %.12g", value, expected);
}

struct loop {
    const char *file, *routine, *name;
    uint32_t line;
    double ns;
};

/* A run with up to 4 causes; those without a name are left out. */
static void add(struct comparison *comparison, bool is_after, double wall_ns, const struct loop *loops)
{
    struct step steps[4] = {0};
    struct cause causes[4] = {0};
    const char *names[4];
    struct analysis analysis = {.steps = steps, .causes = causes, .efficiency = {.wall_ns = wall_ns}};
    for (uint32_t i = 0; i < 4 && loops[i].name; i++) {
        steps[i] = (struct step){.file = loops[i].file,
                                 .routine = loops[i].routine,
                                 .line_first = loops[i].line,
                                 .line_last = loops[i].line ? loops[i].line + 2 : 0,
                                 .is_loop = true};
        causes[i] = (struct cause){.step = i, .waiting_ns = loops[i].ns};
        names[i] = loops[i].name;
        analysis.waiting_ns += loops[i].ns;
        analysis.n_causes++;
    }
    compare_add(comparison, &analysis, is_after, names);
}

static const struct compare_row *find(const struct comparison *comparison, const char *name)
{
    const struct compare_row *found = NULL;
    for (size_t i = 0; i < comparison->rows.n; i++)
        if (!strcmp(comparison->rows.at[i].name, name)) {
            assert_null(found);
            found = &comparison->rows.at[i];
        }
    assert_non_null(found);
    return found;
}

static void equal_places_are_one_and_missing_ones_are_nothing(void **state)
{
    (void)state;
    struct comparison comparison = {0};
    add(&comparison, false, 100, (struct loop[4]){{"/a/x.c", "f", "f 5", 5, 10}, {"/a/x.c", "g", "g 9", 9, 4}});
    add(&comparison, false, 110, (struct loop[4]){{"/a/x.c", "f", "f 5", 5, 14}});
    add(&comparison, true, 60, (struct loop[4]){{"/b/x.c", "f", "f 5", 5, 2}});
    compare_finish(&comparison);
    assert_int_equal(comparison.rows.n, COMPARE_FIRST_CAUSE + 2);
    near(comparison.rows.at[COMPARE_RUN_TIME].mean_ns[0], 105, 1e-9);
    near(comparison.rows.at[COMPARE_WAITING].mean_ns[0], 14, 1e-9);
    near(find(&comparison, "f 5")->mean_ns[0], 12, 1e-9);
    near(find(&comparison, "f 5")->mean_ns[1], 2, 1e-9);
    near(find(&comparison, "g 9")->mean_ns[0], 2, 1e-9);
    near(find(&comparison, "g 9")->mean_ns[1], 0, 1e-9);
    assert_int_equal(comparison.rows.at[COMPARE_FIRST_CAUSE].line_first, 5);
    assert_int_equal(find(&comparison, "f 5")->verdict, COMPARE_UNKNOWN);
    compare_release(&comparison);
}

/* Lines were inserted above: f's two loops have moved, g's stands where f's first stood, h has gone. */
static void what_moved_is_put_together_in_order(void **state)
{
    (void)state;
    struct comparison comparison = {0};
    add(&comparison, false, 1,
        (struct loop[4]){{"x.c", "f", "f 5", 5, 10},
                         {"x.c", "f", "f 9", 9, 20},
                         {"x.c", "h", "h 30", 30, 7},
                         {NULL, NULL, "start", 0, 1}});
    add(&comparison, true, 1,
        (struct loop[4]){{"x.c", "f", "f 27", 27, 21},
                         {"x.c", "f", "f 25", 25, 11},
                         {"x.c", "g", "g 5", 5, 3},
                         {NULL, NULL, "end", 0, 1}});
    compare_finish(&comparison);
    near(find(&comparison, "f 25")->mean_ns[0], 10, 1e-9);
    near(find(&comparison, "f 25")->mean_ns[1], 11, 1e-9);
    near(find(&comparison, "f 27")->mean_ns[0], 20, 1e-9);
    near(find(&comparison, "g 5")->mean_ns[0], 0, 1e-9);
    near(find(&comparison, "h 30")->mean_ns[1], 0, 1e-9);
    near(find(&comparison, "start")->mean_ns[1], 0, 1e-9);
    assert_int_equal(comparison.rows.n, COMPARE_FIRST_CAUSE + 6);
    double sum[2] = {0};
    for (size_t i = COMPARE_FIRST_CAUSE; i < comparison.rows.n; i++)
        for (int side = 0; side < 2; side++)
            sum[side] += comparison.rows.at[i].mean_ns[side];
    near(sum[0], comparison.rows.at[COMPARE_WAITING].mean_ns[0], 1e-9);
    near(sum[1], comparison.rows.at[COMPARE_WAITING].mean_ns[1], 1e-9);
    compare_release(&comparison);
}

static void noise_is_welch_s_interval(void **state)
{
    (void)state;
    static const double a[] = {10, 12, 14}, b[] = {20, 20, 20}, same[] = {5, 5};
    /* Variance of the mean 4/3, two degrees of freedom: 4.303 sqrt(4/3). */
    near(compare_noise(a, 3, b, 3), 4.303 * sqrt(4.0 / 3), 1e-3);
    /* Equal variances 4/3 each: four degrees of freedom. */
    near(compare_noise(a, 3, a, 3), 2.776 * sqrt(8.0 / 3), 1e-3);
    near(compare_noise(same, 2, same, 2), 0, 1e-12);
    assert_true(isinf(compare_noise(a, 1, b, 3)));
    double many[200], other[200];
    for (int i = 0; i < 200; i++)
        many[i] = other[i] = i % 2;
    near(compare_noise(many, 200, other, 200), 1.966 * sqrt(2 * 0.25 / 199), 1e-3);
}

static void only_what_exceeds_noise_is_a_change(void **state)
{
    (void)state;
    struct comparison comparison = {0};
    static const double before[] = {100, 102, 98}, after[] = {50, 52, 48}, noisy[] = {10, 90, 50},
                        noisy_after[] = {70, 20, 60};
    for (int run = 0; run < 3; run++)
        add(&comparison, false, 1,
            (struct loop[4]){{"x.c", "f", "f", 5, before[run]}, {"x.c", "g", "g", 9, noisy[run]}});
    for (int run = 0; run < 3; run++)
        add(&comparison, true, 1,
            (struct loop[4]){{"x.c", "f", "f", 5, after[run]}, {"x.c", "g", "g", 9, noisy_after[run]}});
    compare_finish(&comparison);
    assert_int_equal(find(&comparison, "f")->verdict, COMPARE_LESS);
    assert_int_equal(find(&comparison, "g")->verdict, COMPARE_NOISE);
    assert_int_equal(comparison.rows.at[COMPARE_RUN_TIME].verdict, COMPARE_NOISE);
    compare_release(&comparison);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_places_are_one_and_missing_ones_are_nothing),
        cmocka_unit_test(what_moved_is_put_together_in_order),
        cmocka_unit_test(noise_is_welch_s_interval),
        cmocka_unit_test(only_what_exceeds_noise_is_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
