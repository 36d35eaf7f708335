/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing runs: which causes are one, what moved, and what noise is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/compare/compare.h"
#include "analyze/compare/noise.h"
#include "analyze/compare/counterparts.h"
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
    struct cause_part parts[4] = {0};
    const char *names[4];
    struct analysis analysis = {.steps = steps, .causes = causes, .efficiency = {.wall_ns = wall_ns}};
    for (uint32_t i = 0; i < 4 && loops[i].name; i++) {
        steps[i] = (struct step){.file = loops[i].file,
                                 .routine = loops[i].routine,
                                 .line_first = loops[i].line,
                                 .line_last = loops[i].line ? loops[i].line + 2 : 0,
                                 .is_loop = true};
        parts[i] = (struct cause_part){.step = i, .waiting_ns = loops[i].ns, .own_ns = loops[i].ns};
        causes[i] = (struct cause){.step = i, .waiting_ns = loops[i].ns, .parts = &parts[i], .n_parts = 1};
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

/* Lines were inserted above and the first loop makes nobody wait any more: the other two are not taken for it. */
static void a_loop_that_vanishes_is_not_its_neighbour(void **state)
{
    (void)state;
    struct comparison comparison = {0};
    add(&comparison, false, 1,
        (struct loop[4]){{"x.c", "f", "f 5", 5, 50}, {"x.c", "f", "f 9", 9, 20}, {"x.c", "f", "f 13", 13, 30}});
    add(&comparison, true, 1, (struct loop[4]){{"x.c", "f", "f 13", 13, 20}, {"x.c", "f", "f 17", 17, 30}});
    compare_finish(&comparison);
    near(find(&comparison, "f 5")->mean_ns[1], 0, 1e-9);
    near(find(&comparison, "f 13")->mean_ns[0], 20, 1e-9);
    near(find(&comparison, "f 13")->mean_ns[1], 20, 1e-9);
    near(find(&comparison, "f 17")->mean_ns[0], 30, 1e-9);
    compare_release(&comparison);
}

/* Two calls in one routine, of which each run has one. */
static void code_of_one_build_has_not_moved(void **state)
{
    (void)state;
    struct stand stands[] = {{.alike = "f", .build = 7, .line_first = 5, .line_last = 5},
                             {.alike = "f", .build = 7, .line_first = 8, .line_last = 8, .is_after = true}};
    uint32_t counterpart[2];
    counterparts_find(stands, 2, counterpart);
    assert_int_equal(counterpart[0], COUNTERPART_NONE);
    assert_int_equal(counterpart[1], COUNTERPART_NONE);
    stands[1].build = 9;
    counterparts_find(stands, 2, counterpart);
    assert_int_equal(counterpart[0], 1);
    assert_int_equal(counterpart[1], 0);
}

/* f by its lines, g between its neighbours; l and m stand elsewhere. */
static void a_routine_that_was_renamed_is_the_same(void **state)
{
    (void)state;
    struct comparison comparison = {0};
    add(&comparison, false, 1, (struct loop[4]){{"x.c", "f", "f 5", 5, 50}, {"x.c", "l", "l 90", 90, 7}});
    add(&comparison, true, 1, (struct loop[4]){{"x.c", "f2", "f2 5", 5, 40}, {"x.c", "m", "m 60", 60, 9}});
    compare_finish(&comparison);
    near(find(&comparison, "f2 5 (before: f 5)")->mean_ns[0], 50, 1e-9);
    near(find(&comparison, "l 90")->mean_ns[1], 0, 1e-9);
    near(find(&comparison, "m 60")->mean_ns[0], 0, 1e-9);
    compare_release(&comparison);
    comparison = (struct comparison){0};
    add(&comparison, false, 1,
        (struct loop[4]){{"x.c", "e", "e 3", 3, 5}, {"x.c", "g", "g 9", 9, 7}, {"x.c", "k", "k 15", 15, 2}});
    add(&comparison, true, 1,
        (struct loop[4]){{"x.c", "e", "e 7", 7, 5}, {"x.c", "h", "h 13", 13, 8}, {"x.c", "k", "k 24", 24, 2}});
    compare_finish(&comparison);
    near(find(&comparison, "h 13 (before: g 9)")->mean_ns[0], 7, 1e-9);
    near(find(&comparison, "k 24")->mean_ns[0], 2, 1e-9);
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

static void noise_is_student_s_interval(void **state)
{
    (void)state;
    static const double a[] = {10, 12, 14}, b[] = {20, 20, 20}, same[] = {5, 5};
    /* One variance for both, (8 + 0) / 4, and four degrees of freedom. */
    near(noise_of_difference(a, 3, b, 3, 0.05), 2.776 * sqrt(2 * 2.0 / 3), 1e-2);
    near(noise_of_difference(a, 3, a, 3, 0.05), 2.776 * sqrt(4 * 2.0 / 3), 1e-2);
    near(noise_of_difference(a, 3, a, 3, 0.001), 8.610 * sqrt(4 * 2.0 / 3), 1e-2);
    /* Unequal numbers: (8 + 0.5) / 3 with three. */
    near(noise_of_difference(a, 3, (double[]){1, 2}, 2, 0.01), 5.841 * sqrt(8.5 / 3 * (1.0 / 3 + 1.0 / 2)), 1e-2);
    near(noise_of_difference(same, 2, same, 2, 0.05), 0, 1e-12);
    near(noise_of_difference((double[]){0, 2}, 2, (double[]){0, 2}, 2, 0.05), 4.303 * sqrt(2), 1e-2);
    assert_true(isinf(noise_of_difference(a, 1, b, 3, 0.05)));
    double many[200], other[200];
    for (int i = 0; i < 200; i++)
        many[i] = other[i] = i % 2;
    near(noise_of_difference(many, 200, other, 200, 0.05), 1.966 * sqrt(2 * 0.25 / 199), 1e-3);
}

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 33) / (double)(1u << 31);
}

/* Waiting as a busy machine makes it: mostly near its mean, now and then far above. */
static double noisy(uint64_t *seed, double mean)
{
    double value = mean * (0.9 + 0.2 * (draw(seed) + draw(seed) + draw(seed)) / 3);
    return draw(seed) < 0.1 ? value * (1 + draw(seed)) : value;
}

/* Comparisons of three runs with three of the same program that call anything a change. */
static int n_false_alarms(int n_comparisons, double factor, int *n_found)
{
    uint64_t seed = 1;
    int n_alarms = 0;
    *n_found = 0;
    for (int i = 0; i < n_comparisons; i++) {
        struct comparison comparison = {0};
        for (int run = 0; run < 6; run++)
            add(&comparison, run >= 3, noisy(&seed, 1000),
                (struct loop[4]){{"x.c", "f", "f", 5, noisy(&seed, 300) * (run < 3 ? 1 : factor)},
                                 {"x.c", "g", "g", 9, noisy(&seed, 100)},
                                 {"x.c", "h", "h", 13, noisy(&seed, 30)},
                                 {"x.c", "i", "i", 17, noisy(&seed, 10)}});
        compare_finish(&comparison);
        bool is_alarm = false;
        for (size_t row = 0; row < comparison.rows.n; row++)
            is_alarm |= comparison.rows.at[row].verdict != COMPARE_NOISE;
        n_alarms += is_alarm;
        *n_found += find(&comparison, "f")->verdict == COMPARE_MORE;
        compare_release(&comparison);
    }
    return n_alarms;
}

/* The chance of a false alarm is that of a comparison, not of each of its rows. */
static void the_same_program_is_the_same(void **state)
{
    (void)state;
    enum { N = 400 };
    int n_found;
    int n_alarms = n_false_alarms(N, 1, &n_found);
    if (n_alarms > 6 * N / 100)
        fail_msg("%d of %d comparisons of one program with itself name a change", n_alarms, N);
    n_false_alarms(N, 3, &n_found);
    if (n_found < 9 * N / 10)
        fail_msg("%d of %d times what has trebled is found", n_found, N);
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
        cmocka_unit_test(noise_is_student_s_interval),
        cmocka_unit_test(the_same_program_is_the_same),
        cmocka_unit_test(a_loop_that_vanishes_is_not_its_neighbour),
        cmocka_unit_test(code_of_one_build_has_not_moved),
        cmocka_unit_test(a_routine_that_was_renamed_is_the_same),
        cmocka_unit_test(only_what_exceeds_noise_is_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
