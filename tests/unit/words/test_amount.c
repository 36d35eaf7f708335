/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/words/amount.h"
#include "analyze/result/whole.h"
#include <math.h>

static void durations_have_three_digits(void **state)
{
    (void)state;
    static const struct {
        double ns;
        const char *text;
    } cases[] = {
        {0, "0 s"},
        {0.4, "0 s"},
        {1, "1 ns"},
        {999, "999 ns"},
        {999.6, "1.00 us"},
        {1234, "1.23 us"},
        {12345, "12.3 us"},
        {123456, "123 us"},
        {999600, "1.00 ms"},
        {9.71e9, "9.71 s"},
        {12.84e9, "12.8 s"},
        {9.996e9, "10.0 s"},
        {99.96e9, "100 s"},
        {3600e9, "3600 s"},
        {-2e6, "-2.00 ms"},
        /* Halves go away from zero, and what is rounded are whole nanoseconds: JSON has no others. */
        {3625, "3.63 us"},
        {3624.9, "3.63 us"},
        {3624.4, "3.62 us"},
        {-3625, "-3.63 us"},
        {33350, "33.4 us"},
        {9995, "10.0 us"},
        {999.4, "999 ns"},
        {2e18, "2000000000 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(amount_duration(cases[i].ns).text, cases[i].text);
}

static void numbers_that_differ_read_differently(void **state)
{
    (void)state;
    static const struct {
        double numbers[2];
        const char *texts[2];
    } cases[] = {
        {{160, 80}, {"160", "80"}},
        {{33.0 + 1.0 / 3, 12.5}, {"33.3", "12.5"}},
        {{50, 49.999975}, {"50", "49.99998"}},
        {{0, 1.0 / 3}, {"0", "0.333"}},
        {{100, 9.996}, {"100", "10"}},
        {{8000, 8000.3333333}, {"8,000", "8,000.3"}},
        {{1e6 + 1, 1e6}, {"1,000,001", "1,000,000"}},
        {{7, 7}, {"7", "7"}},
        {{0, 1e-12}, {"0", "0"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amount texts[2];
        amount_apart(cases[i].numbers, texts);
        for (int side = 0; side < 2; side++)
            assert_string_equal(texts[side].text, cases[i].texts[side]);
    }
}

static void shares_are_never_rounded_to_nothing(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *text;
    } cases[] = {
        {0, "0 %"},        {-1e-18, "0 %"}, {1e-6, "<0.1 %"}, {0.004, "0.4 %"},
        {0.0994, "9.9 %"}, {0.61, "61 %"},  {1, "100 %"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(amount_share(cases[i].share).text, cases[i].text);
}

static void signs_and_thousands(void **state)
{
    (void)state;
    assert_string_equal(amount_change(9.71e9).text, "+9.71 s");
    assert_string_equal(amount_change(-3e3).text, "-3.00 us");
    assert_string_equal(amount_change(0).text, "0 s");
    assert_string_equal(amount_gain(3.94e9).text, "-3.9 s");
    assert_string_equal(amount_gain(0.2).text, "nothing");
    assert_string_equal(amount_count(0).text, "0");
    assert_string_equal(amount_count(999).text, "999");
    assert_string_equal(amount_count(81204).text, "81,204");
    assert_string_equal(amount_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

static void ranks_are_sorted_and_joined(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(amount_ranks(&arena, (uint32_t[]){1}, 1), "rank 1");
    assert_string_equal(amount_ranks(&arena, (uint32_t[]){3, 0, 2}, 3), "ranks 0,2,3");
    assert_string_equal(amount_ranks(&arena, (uint32_t[]){5, 0, 4, 3}, 4), "ranks 0,3-5");
    uint32_t odd[100];
    for (uint32_t i = 0; i < 100; i++)
        odd[i] = 2 * i + 1;
    assert_string_equal(amount_ranks(&arena, odd, 100), "ranks 1,3,5 ... 199");
    for (uint32_t i = 0; i < 100; i++)
        odd[i] = i * i;
    assert_string_equal(amount_ranks(&arena, odd, 100), "ranks 0,1,4,9,16,25,36,49,64,81 and 90 more");
    assert_string_equal(amount_ranks(&arena, (uint32_t[]){0, 1, 2, 8, 10, 12, 14, 16, 20}, 9),
                        "ranks 0-2,8,10,12 ... 16,20");
    assert_string_equal(amount_other_ranks(&arena, (uint32_t[]){0, 2, 4, 6, 9}, 5), "ranks 0,2,4,6,9");
    assert_string_equal(amount_other_ranks(&arena, odd, 100), "100 other ranks");
    arena_release(&arena);
}

/* Many random falling sequences: sum kept, order kept, no value moved by 1 or more. */
static void apportioned_integers_add_up(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 1000; round++) {
        double values[50], sum = 0, value = 1000;
        int64_t integers[50], integer_sum = 0;
        uint32_t n = 1 + (uint32_t)round % 50;
        for (uint32_t i = 0; i < n; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            value *= seed >> 60 ? 1 - (double)(seed >> 34) / (1u << 30) / 20 : 1;
            values[i] = value;
            sum += value;
        }
        whole_apportion(values, n, llround(sum), integers);
        for (uint32_t i = 0; i < n; i++) {
            integer_sum += integers[i];
            assert_true(fabs((double)integers[i] - values[i]) < 1);
            assert_true(i == 0 || integers[i] <= integers[i - 1]);
        }
        assert_int_equal(integer_sum, llround(sum));
    }
}

static void a_total_one_beside_the_sum_is_met(void **state)
{
    (void)state;
    int64_t integers[3];
    whole_apportion((double[]){4, 2, 0}, 3, 7, integers);
    assert_int_equal(integers[0] + integers[1] + integers[2], 7);
    whole_apportion((double[]){4, 2, 0}, 3, 5, integers);
    assert_int_equal(integers[0] + integers[1] + integers[2], 5);
    assert_true(integers[2] >= 0);
}

/* A damaged archive may hold decades: one value keeps nearly the whole of a sum that fits, and none overflows. */
static void a_value_beside_many_small_ones_is_not_cut(void **state)
{
    (void)state;
    const double large = 0x1p60;
    int64_t integers[12];
    whole_apportion((double[12]){large, 2, 1}, 12, (int64_t)large + 3, integers);
    assert_int_equal(integers[0] + integers[1] + integers[2], (int64_t)large + 3);
    whole_apportion((double[12]){1e30, 1e30, INFINITY}, 12, INT64_MAX, integers);
    assert_true(integers[0] >= INT64_MAX / 2 && integers[1] >= 0 && integers[2] >= 0);
}

/* What is beyond any integer is told as the same everywhere. */
static void figures_beyond_any_integer_still_agree(void **state)
{
    (void)state;
    struct cause cause = {.waiting_ns = 8e18};
    struct wait_site sites[] = {{.waiting_ns = 6e18}, {.waiting_ns = 4e18}};
    struct analysis analysis = {.waiting_ns = 1e19, .causes = &cause, .n_causes = 1, .sites = sites, .n_sites = 2};
    analysis.machine.waiting_ns = 2e18;
    whole_figures(&analysis);
    assert_true(fabs(cause.waiting_ns + analysis.machine.waiting_ns - analysis.waiting_ns) < 1000);
    assert_true(fabs(sites[0].waiting_ns + sites[1].waiting_ns - analysis.waiting_ns) < 1000);
}

static void brief_counts_have_three_digits(void **state)
{
    (void)state;
    static const struct {
        double count;
        const char *text;
    } cases[] = {{0, "0"},         {7, "7"},          {999, "999"},    {1000, "1.00k"}, {81204, "81.2k"},
                 {999499, "999k"}, {999999, "1.00M"}, {105e6, "105M"}, {2.5, "2.50"},   {1e18, "1.00E"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(amount_brief(cases[i].count).text, cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_three_digits),
        cmocka_unit_test(numbers_that_differ_read_differently),
        cmocka_unit_test(shares_are_never_rounded_to_nothing),
        cmocka_unit_test(signs_and_thousands),
        cmocka_unit_test(ranks_are_sorted_and_joined),
        cmocka_unit_test(apportioned_integers_add_up),
        cmocka_unit_test(a_total_one_beside_the_sum_is_met),
        cmocka_unit_test(a_value_beside_many_small_ones_is_not_cut),
        cmocka_unit_test(figures_beyond_any_integer_still_agree),
        cmocka_unit_test(brief_counts_have_three_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
