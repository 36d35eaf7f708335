/* SPDX-License-Identifier: BSD-3-Clause */
/* A trend of more runs, or windows of one run, than a line has columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/out/series.h"
#include <stdlib.h>
#include <string.h>

enum { RUNS = 400 };

/* One loop makes others wait: for twice as long in the second half of the runs. Each run has counts of its own. */
static struct run *run_at(struct arena *arena, size_t i)
{
    struct run *run = arena_new(arena, struct run);
    *run = (struct run){.path = arena_printf(arena, "run-%zu", i),
                        .program = "program",
                        .command = "./program",
                        .hosts = "here",
                        .realtime_ns = i + 1,
                        .n_ranks = 2,
                        .n_hosts = 1,
                        .is_whole = true,
                        .is_counted = true,
                        .wall_ns = 1e9,
                        .all_ns = 2e9,
                        .compute_ns = 1e9,
                        .n_places = 1,
                        .n_nodes = 1,
                        .n_facts = 40};
    run->places = arena_array(arena, struct run_place, 1);
    run->nodes = arena_array(arena, struct run_node, 1);
    run->facts = arena_array(arena, struct fact, run->n_facts);
    run->places[0] = (struct run_place){
        .name = "loop solve.c:5-9 in solve()", .file = "solve.c", .routine = "solve", .line_first = 5, .line_last = 9};
    run->nodes[0] = (struct run_node){.parent = TRACE_NONE, .cause = 1};
    run->nodes[0].kind_ns[KIND_MORE_WORK] = i < RUNS / 2 ? 1e8 : 2e8;
    for (uint32_t k = 0; k < run->n_facts; k++) {
        run->facts[k] = (struct fact){.kind = FACT_TRIPS,
                                      .file = "solve.c",
                                      .routine = "solve",
                                      .line_first = 100 + k,
                                      .sum = i < RUNS / 2 ? 10 : 20,
                                      .sum_of = 1,
                                      .n_counts = 1};
        run->facts[k].counts = arena_array(arena, struct fact_count, 1);
        run->facts[k].counts[0] = (struct fact_count){0, run->facts[k].sum, 1};
    }
    return run;
}

/* The trend of so many runs; to be freed. */
static char *trend_of(size_t n_runs, unsigned width)
{
    struct arena arena = {0};
    struct run *runs[RUNS];
    struct series series;
    char *text = NULL;
    size_t size = 0;
    for (size_t i = 0; i < n_runs; i++)
        runs[i] = run_at(&arena, i * RUNS / n_runs);
    series_make(&series, runs, n_runs, true);
    FILE *out = open_memstream(&text, &size);
    series_print_trend(out, &series, &(struct series_options){.n_top = 10, .width = width});
    fclose(out);
    series_release(&series);
    arena_release(&arena);
    return text;
}

/* Returns how many lines there are. */
static size_t expect_columns(const char *text, unsigned width)
{
    size_t n = 0;
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, n++) {
        size_t columns = 0;
        for (const char *at = line; at < end; at++)
            columns += ((unsigned char)*at & 0xc0) != 0x80;
        if (columns > width)
            fail_msg("%zu columns instead of %u: %.*s", columns, width, (int)(end - line), line);
    }
    return n;
}

static size_t n_of(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

static void many_runs_share_bars(void **state)
{
    (void)state;
    static const unsigned widths[] = {80, 110, 200};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char *text = trend_of(RUNS, widths[i]);
        assert_true(expect_columns(text, widths[i]) <= 60);
        assert_non_null(strstr(text, "a bar is the mean of"));
        assert_non_null(strstr(text, "100 ms ->   200 ms"));
        free(text);
    }
}

static void few_runs_have_a_bar_each(void **state)
{
    (void)state;
    char *text = trend_of(20, 110);
    expect_columns(text, 110);
    assert_null(strstr(text, "a bar is the mean of"));
    /* Half as high in the first half of the runs. */
    assert_int_equal(n_of(text, "\u2584"), 10 * n_of(text, "\u2584\u2588"));
    free(text);
}

/* Of each part of the time, as of the waiting as a whole: whether it has changed. */
static void every_part_has_a_verdict(void **state)
{
    (void)state;
    char *text = trend_of(20, 110);
    assert_int_equal(n_of(text, "no change seen"), 4);
    assert_int_equal(n_of(text, "more from run 11 on"), 2); /* waiting for the program's code, and its loop */
    free(text);
    text = trend_of(3, 110);
    assert_null(strstr(text, "no change seen"));
    assert_non_null(strstr(text, "two runs on either side"));
    free(text);
}

/* As of causes the first are told, the others counted. */
static void exact_changes_are_bounded(void **state)
{
    (void)state;
    char *text = trend_of(20, 110);
    assert_int_equal(n_of(text, "counted exactly, from run"), 10);
    assert_non_null(strstr(text, "and 30 other changes counted exactly (--top 0)"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_runs_share_bars),
        cmocka_unit_test(few_runs_have_a_bar_each),
        cmocka_unit_test(every_part_has_a_verdict),
        cmocka_unit_test(exact_changes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
