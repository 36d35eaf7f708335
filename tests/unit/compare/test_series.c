/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs in a row: exponents, kinds of scaling, and where something changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/compare/series.h"
#include <math.h>
#include <string.h>

static void near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%.12g instead of %.12g", value, expected);
}

struct scene {
    struct arena arena;
    struct run *runs[32];
    size_t n;
};

/* A run in which two loops make others wait, of ranks that compute for so long in all. */
static struct run *add(struct scene *scene, uint32_t n_ranks, double f_ns, double g_ns, double compute_ns)
{
    static const char *const names[] = {"f", "g"};
    struct run *run = scene->runs[scene->n++] = arena_new(&scene->arena, struct run);
    *run = (struct run){.path = "run",
                        .program = "program",
                        .command = "./program",
                        .hosts = "here",
                        .n_ranks = n_ranks,
                        .n_hosts = 1,
                        .is_whole = true,
                        .wall_ns = 1000,
                        .all_ns = 1000.0 * n_ranks,
                        .compute_ns = compute_ns,
                        .n_places = 2,
                        .n_nodes = 2};
    run->places = arena_array(&scene->arena, struct run_place, 2);
    run->nodes = arena_array(&scene->arena, struct run_node, 2);
    for (uint32_t i = 0; i < 2; i++) {
        run->places[i] = (struct run_place){.name = names[i], .file = "x.c", .routine = names[i], .line_first = 5 + i};
        run->nodes[i] = (struct run_node){.parent = TRACE_NONE, .place = i, .cause = i + 1};
        run->nodes[i].kind_ns[KIND_MORE_WORK] = i ? g_ns : f_ns;
    }
    return run;
}

static void add_trips(struct scene *scene, struct run *run, uint64_t trips)
{
    run->is_counted = true;
    run->n_facts = 1;
    run->facts = arena_array(&scene->arena, struct fact, 1);
    run->facts[0] = (struct fact){
        .kind = FACT_TRIPS, .file = "x.c", .routine = "f", .line_first = 5, .sum = trips, .sum_of = 1, .n_counts = 1};
    run->facts[0].counts = arena_array(&scene->arena, struct fact_count, 1);
    run->facts[0].counts[0] = (struct fact_count){0, trips, 1};
}

static const struct series_row *find(const struct series *series, const char *name)
{
    for (size_t i = 0; i < series->rows.n; i++) {
        const char *is = series->comparison.rows.at[series->rows.at[i].row].name;
        if (is && !strcmp(is, name))
            return &series->rows.at[i];
    }
    fail_msg("no row %s", name);
    return NULL;
}

static void release(struct scene *scene, struct series *series)
{
    series_release(series);
    arena_release(&scene->arena);
    *scene = (struct scene){0};
}

/* Given in any order, two runs a point. */
static void exponents_are_those_of_the_family(void **state)
{
    (void)state;
    static const uint32_t ranks[] = {8, 2, 16, 4, 2, 8, 4, 16};
    struct scene scene = {0};
    struct series series;
    for (size_t i = 0; i < 8; i++)
        add(&scene, ranks[i], (i < 4 ? 9 : 11) * ranks[i], 100 * sqrt(ranks[i]), 1600);
    assert_int_equal(series_make(&series, scene.runs, scene.n, false), 4);
    assert_int_equal(series.by, SERIES_RANKS);
    near(series.x[0], 2, 0);
    near(series.x[3], 16, 0);
    near(find(&series, "f")->exponent, 1, 1e-9);
    assert_true(find(&series, "f")->error > 0.01 && find(&series, "f")->error < 0.1);
    near(find(&series, "g")->exponent, 0.5, 1e-9);
    near(find(&series, "g")->error, 0, 1e-6);
    assert_false(series.is_weak);
    near(series.scaling[3], 1, 1e-9);
    near(series.parallel[0], 0.8, 1e-9);
    release(&scene, &series);
}

/* Three runs a point, of which the machine held up one with the most and one with the fewest ranks. */
static void a_run_far_off_moves_no_exponent(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct series series;
    for (uint32_t ranks = 2; ranks <= 8; ranks *= 2)
        for (int run = 0; run < 3; run++) {
            double off = run ? 1 + 0.02 * run : ranks == 8 ? 2.5 : ranks == 2 ? 0.6 : 1;
            add(&scene, ranks, 9 * ranks * off, 100 * sqrt(ranks), 1600);
        }
    assert_int_equal(series_make(&series, scene.runs, scene.n, false), 3);
    near(find(&series, "f")->exponent, 1, 0.1);
    assert_true(find(&series, "f")->error > 0.1); /* and what it is worth is told */
    release(&scene, &series);
}

/* The work of a rank stays about the same: it is a weak series, and what it grows by is lost. */
static void a_weak_series_is_scaled_by_rank(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct series series;
    for (uint32_t ranks = 2; ranks <= 8; ranks *= 2)
        add(&scene, ranks, 1, 1, 100 * ranks * (ranks == 8 ? 1.25 : 1));
    assert_int_equal(series_make(&series, scene.runs, scene.n, false), 3);
    assert_true(series.is_weak);
    near(series.scaling[1], 1, 1e-9);
    near(series.scaling[2], 0.8, 1e-9);
    release(&scene, &series);
}

static void the_number_that_varies_is_the_input(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct series series;
    add(&scene, 4, 10, 1, 100)->command = "./program -n 100 7";
    add(&scene, 4, 40, 1, 200)->command = "./program -n 200 7";
    add(&scene, 4, 160, 1, 400)->command = "./program -n 400 7";
    assert_int_equal(series_make(&series, scene.runs, scene.n, false), 3);
    assert_int_equal(series.by, SERIES_INPUT);
    near(series.x[2], 400, 0);
    near(find(&series, "f")->exponent, 2, 1e-9);
    series_release(&series);
    /* With two numbers that vary nobody knows which it is. */
    scene.runs[1]->command = "./program -n 200 8";
    series_make(&series, scene.runs, scene.n, false);
    assert_int_equal(series.by, SERIES_ORDER);
    release(&scene, &series);
}

/* f is longer from run 6 on and again from run 9 on, g scatters; the loop is counted. */
static void the_first_run_of_a_change_is_found(void **state)
{
    (void)state;
    static const double scatter[] = {0.9, 1.1, 1.0, 1.05, 0.95, 1.0, 0.92, 1.08, 1.0, 1.1, 0.9, 1.0};
    struct scene scene = {0};
    struct series series;
    for (size_t i = 0; i < 12; i++) {
        double f_ns = i < 5 ? 20 : i < 8 ? 100 : 700;
        struct run *run = add(&scene, 2, f_ns * scatter[i], 300 * scatter[(i + 3) % 12], 100);
        run->realtime_ns = 1000 + i;
        add_trips(&scene, run, i < 5 ? 10 : 20);
    }
    struct run *last = scene.runs[11];
    scene.runs[11] = scene.runs[0];
    scene.runs[0] = last;
    assert_int_equal(series_make(&series, scene.runs, scene.n, true), 12);
    assert_int_equal(series.comparison.runs[11]->realtime_ns, 1011);
    assert_int_equal(find(&series, "f")->changed_at, 5);
    assert_true(find(&series, "f")->is_more);
    assert_int_equal(find(&series, "g")->changed_at, SERIES_NEVER);
    assert_int_equal(series.facts.n, 1);
    assert_int_equal(series.facts.at[0].changed_at, 5);
    release(&scene, &series);
}

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 33) / (double)(1u << 31);
}

/* Of runs of one kind, at most one series in twenty says that anything changed. */
static void a_series_without_a_change_has_none(void **state)
{
    (void)state;
    enum { N = 300 };
    uint64_t seed = 7;
    int n_alarms = 0;
    for (int i = 0; i < N; i++) {
        struct scene scene = {0};
        struct series series;
        bool is_alarm = false;
        for (int run = 0; run < 10; run++) {
            double skew = draw(&seed) < 0.2 ? 3 * draw(&seed) : 0;
            add(&scene, 2, 100 * (0.5 + draw(&seed) + skew), 30 * (draw(&seed) < 0.3 ? 0 : draw(&seed)), 100)->wall_ns =
                1000 * (1 + 0.2 * draw(&seed));
        }
        series_make(&series, scene.runs, scene.n, true);
        for (size_t row = 0; row < series.rows.n; row++)
            is_alarm |= series.rows.at[row].changed_at != SERIES_NEVER;
        n_alarms += is_alarm;
        release(&scene, &series);
    }
    if (n_alarms > 6 * N / 100)
        fail_msg("%d of %d series of one program name a change", n_alarms, N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponents_are_those_of_the_family),  cmocka_unit_test(a_run_far_off_moves_no_exponent),
        cmocka_unit_test(a_weak_series_is_scaled_by_rank),    cmocka_unit_test(the_number_that_varies_is_the_input),
        cmocka_unit_test(the_first_run_of_a_change_is_found), cmocka_unit_test(a_series_without_a_change_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
