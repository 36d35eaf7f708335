/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing runs: which causes are one, what moved, and what noise is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/compare/compare.h"
#include "analyze/compare/gate.h"
#include "analyze/compare/kept.h"
#include "analyze/compare/noise.h"
#include "analyze/compare/counterparts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Runs of both sides, in memory. */
struct scene {
    struct arena arena;
    struct run *runs[16];
    uint32_t side_of[16];
    size_t n;
};

/* A run with up to 4 causes, each a loop by itself; those without a name are left out. */
static struct run *add(struct scene *scene, uint32_t side, double wall_ns, const struct loop *loops)
{
    struct run *run = scene->runs[scene->n] = arena_new(&scene->arena, struct run);
    scene->side_of[scene->n++] = side;
    *run = (struct run){.path = "run",
                        .program = "program",
                        .command = "",
                        .hosts = "here",
                        .n_ranks = 2,
                        .n_hosts = 1,
                        .is_whole = true,
                        .wall_ns = wall_ns,
                        .all_ns = 2 * wall_ns};
    run->places = arena_array(&scene->arena, struct run_place, 5);
    run->nodes = arena_array(&scene->arena, struct run_node, 5);
    for (uint32_t i = 0; i < 4 && loops[i].name; i++) {
        run->places[i] = (struct run_place){.name = loops[i].name,
                                            .file = loops[i].file,
                                            .routine = loops[i].routine,
                                            .line_first = loops[i].line,
                                            .line_last = loops[i].line ? loops[i].line + 2 : 0,
                                            .is_loop = true};
        run->nodes[i] = (struct run_node){.parent = TRACE_NONE, .place = i, .cause = i + 1};
        run->nodes[i].kind_ns[KIND_MORE_TIME] = loops[i].ns;
        run->waiting_ns += loops[i].ns;
        run->n_places = run->n_nodes = i + 1;
    }
    return run;
}

static struct comparison compare(struct scene *scene)
{
    struct comparison comparison;
    compare_make(&comparison, scene->runs, scene->side_of, scene->n, 2);
    return comparison;
}

static void release(struct scene *scene, struct comparison *comparison)
{
    compare_release(comparison);
    arena_release(&scene->arena);
    *scene = (struct scene){0};
}

/* A row of waiting. */
static const struct compare_row *find(const struct comparison *comparison, const char *name)
{
    const struct compare_row *found = NULL;
    for (size_t i = 0; i < comparison->rows.n; i++)
        if (comparison->rows.at[i].group != GROUP_COMPUTING && comparison->rows.at[i].name &&
            !strcmp(comparison->rows.at[i].name, name)) {
            assert_null(found);
            found = &comparison->rows.at[i];
        }
    assert_non_null(found);
    return found;
}

static const struct compare_row *group(const struct comparison *comparison, enum compare_group which)
{
    return &comparison->rows.at[comparison->group_row[which]];
}

static void equal_places_are_one_and_missing_ones_are_nothing(void **state)
{
    (void)state;
    struct scene scene = {0};
    add(&scene, 0, 100, (struct loop[4]){{"x.c", "f", "f 5", 5, 10}, {"x.c", "g", "g 9", 9, 4}});
    add(&scene, 0, 110, (struct loop[4]){{"x.c", "f", "f 5", 5, 14}});
    add(&scene, 1, 60, (struct loop[4]){{"x.c", "f", "f 5", 5, 2}});
    struct comparison comparison = compare(&scene);
    near(group(&comparison, GROUP_RUN_TIME)->mean_ns[0], 105, 1e-9);
    near(group(&comparison, GROUP_PROGRAM)->mean_ns[0], 14, 1e-9);
    near(find(&comparison, "f 5")->mean_ns[0], 12, 1e-9);
    near(find(&comparison, "f 5")->mean_ns[1], 2, 1e-9);
    near(find(&comparison, "g 9")->mean_ns[0], 2, 1e-9);
    near(find(&comparison, "g 9")->mean_ns[1], 0, 1e-9);
    assert_int_equal(find(&comparison, "f 5")->place->line_first, 5);
    release(&scene, &comparison);
}

/* A routine with two loops in it, named by one side as a whole and by the other loop by loop. */
static struct run *add_tree(struct scene *scene, uint32_t side, bool is_whole, double f_ns, double g_ns)
{
    static const char *const names[] = {"step", "f", "g"};
    struct run *run = add(scene, side, 1000, (struct loop[4]){{"x.c", "step", "step", 3, 0}});
    for (uint32_t i = 0; i < 3; i++) {
        run->places[i] = (struct run_place){
            .name = names[i], .file = "x.c", .routine = "step", .line_first = 3 + i, .line_last = 9 - i};
        run->nodes[i] = (struct run_node){.parent = i ? 0 : TRACE_NONE,
                                          .place = i,
                                          .cause = is_whole == !i ? i + 1 : 0,
                                          .time_ns = 200,
                                          .longest_ns = 120,
                                          .on_path_ns = 150};
    }
    run->nodes[1].kind_ns[KIND_MORE_WORK] = f_ns;
    run->nodes[2].kind_ns[KIND_SLOWER] = g_ns;
    run->n_places = run->n_nodes = 3;
    run->path_off_cpu_ns = 1000 - 3 * 150;
    return run;
}

static void the_coarser_level_of_both_sides_is_compared(void **state)
{
    (void)state;
    struct scene scene = {0};
    for (int i = 0; i < 3; i++)
        add_tree(&scene, 0, true, 300 + i, 100);
    for (int i = 0; i < 3; i++)
        add_tree(&scene, 1, false, 3 - i, 1);
    struct comparison comparison = compare(&scene);
    const struct compare_row *row = find(&comparison, "step");
    assert_int_equal(row->depth, 1);
    near(row->mean_ns[0], 401, 1e-9);
    near(row->mean_ns[1], 3, 1e-9);
    near(row->kind_ns[KIND_MORE_WORK], 301, 1e-9);
    near(row->kind_ns[KIND_N + KIND_SLOWER], 1, 1e-9);
    assert_int_equal(row->verdict, COMPARE_LESS);
    assert_int_equal(find(&comparison, "f")->depth, 2);
    assert_int_equal(find(&comparison, "f")->verdict, COMPARE_LESS);
    /* With next to nothing on the side that names it as a whole, the loops are rows of their own. */
    release(&scene, &comparison);
    add_tree(&scene, 0, true, 3, 1);
    add_tree(&scene, 1, false, 300, 100);
    comparison = compare(&scene);
    assert_int_equal(find(&comparison, "f")->depth, 1);
    assert_int_equal(find(&comparison, "g")->depth, 1);
    release(&scene, &comparison);
}

/* One loop, called through one wrapper from a() and from b(): two causes in each run. */
static void rows_of_one_place_say_where_they_part(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "wrap", "loop"};
    static const uint32_t place[] = {0, 1, 2, 2, 3, 3}, parent[] = {TRACE_NONE, TRACE_NONE, 0, 1, 2, 3};
    struct scene scene = {0};
    for (uint32_t side = 0; side < 2; side++) {
        struct run *run = add(&scene, side, 1000, (struct loop[4]){{"x.c", "a", "a", 3, 0}});
        run->nodes = arena_array(&scene.arena, struct run_node, 6);
        for (uint32_t i = 0; i < 4; i++)
            run->places[i] = (struct run_place){.name = names[i], .file = "x.c", .routine = names[i], .line_first = i};
        for (uint32_t i = 0; i < 6; i++)
            run->nodes[i] = (struct run_node){.parent = parent[i], .place = place[i], .cause = i < 4 ? 0 : i - 3};
        run->nodes[4].kind_ns[KIND_MORE_TIME] = side ? 300 : 100;
        run->nodes[5].kind_ns[KIND_MORE_TIME] = 200;
        run->n_places = 4;
        run->n_nodes = 6;
    }
    struct comparison comparison = compare(&scene);
    near(find(&comparison, "loop, in a")->mean_ns[1], 300, 1e-9);
    near(find(&comparison, "loop, in b")->mean_ns[1], 200, 1e-9);
    release(&scene, &comparison);
}

/* What samples saw around nameless code differs from run to run, and its name with it. */
static void code_without_a_name_is_the_same_whatever_was_seen_around_it(void **state)
{
    (void)state;
    struct scene scene = {0};
    static const char *const below[] = {"", ", below solve()", ", below solve() and others"};
    for (uint32_t i = 0; i < 3; i++) {
        const char *name = arena_printf(&scene.arena, "loop at routine 5+0x10%s", below[i]);
        struct run *run = add(&scene, i > 1, 1000, (struct loop[4]){{NULL, NULL, name, 0, 100 + i}});
        run->places[0].key = "loop at routine 5+0x10";
    }
    struct comparison comparison = compare(&scene);
    const struct compare_row *row = find(&comparison, "loop at routine 5+0x10, below solve() and others");
    near(row->mean_ns[0], 100.5, 1e-9);
    near(row->mean_ns[1], 102, 1e-9);
    release(&scene, &comparison);
}

/* What the run time is made of adds up to it, whatever goes where. */
static void shares_add_up_to_the_difference(void **state)
{
    (void)state;
    struct scene scene = {0};
    add_tree(&scene, 0, true, 300, 100);
    struct run *after = add_tree(&scene, 1, true, 3, 1);
    after->nodes[1].on_path_ns = 20;
    after->nodes[2].time_ns = 7;
    after->path_off_cpu_ns = 30;
    after->wall_ns = 150 + 20 + 150 + 30;
    struct comparison comparison = compare(&scene);
    double sum_ns = 0;
    for (size_t i = 0; i < comparison.shares.n; i++) {
        const struct compare_share *share = &comparison.shares.at[i];
        sum_ns += share->computing_ns[1] + share->imbalance_ns[1] - share->computing_ns[0] - share->imbalance_ns[0];
    }
    near(sum_ns, compare_change(group(&comparison, GROUP_RUN_TIME)), 1e-9);
    assert_int_equal(comparison.shares.at[0].kind, SHARE_MACHINE);
    assert_int_equal(comparison.shares.at[1].kind, SHARE_CAUSE);
    release(&scene, &comparison);
}

static void add_fact(struct scene *scene, struct run *run, uint32_t line, uint64_t trips, uint64_t entries)
{
    run->is_counted = true;
    if (!run->facts)
        run->facts = arena_array(&scene->arena, struct fact, 4);
    struct fact *fact = &run->facts[run->n_facts++];
    *fact = (struct fact){.kind = FACT_TRIPS,
                          .file = "x.c",
                          .routine = "f",
                          .line_first = line,
                          .line_last = line + 2,
                          .sum = 3 * trips,
                          .sum_of = 2 * entries,
                          .n_counts = 2};
    fact->counts = arena_array(&scene->arena, struct fact_count, 2);
    fact->counts[0] = (struct fact_count){0, 2 * trips, entries};
    fact->counts[1] = (struct fact_count){1, trips, entries};
}

/* The loop at 5 makes one more in a million; the one at 9 is entered more often and does the same each time; that at 13
 * is not the same in the runs of one side. */
static void a_count_that_does_not_vary_is_certain(void **state)
{
    (void)state;
    struct scene scene = {0};
    static const struct loop none[4] = {{"x.c", "f", "f", 5, 1}};
    for (uint32_t run = 0; run < 3; run++) {
        struct run *at = add(&scene, run ? 1 : 0, 100, none);
        add_fact(&scene, at, 5, run ? 1000001 : 1000000, 1);
        add_fact(&scene, at, 9, run ? 20 : 10, run ? 4 : 2);
        add_fact(&scene, at, 13, 7 + run, 1);
        add_fact(&scene, at, 17, 8, 1);
    }
    struct comparison comparison = compare(&scene);
    assert_int_equal(comparison.facts.n, 2);
    assert_true(comparison.facts.at[0].is_decision);
    assert_int_equal(comparison.facts.at[0].before->line_first, 5);
    assert_int_equal(comparison.facts.at[0].after->counts[1].n, 1000001);
    assert_false(comparison.facts.at[1].is_decision);
    assert_int_equal(comparison.facts.at[1].before->line_first, 9);
    /* Where a run was not built to count, nothing is known of its counts. */
    struct comparison other;
    scene.runs[2]->is_counted = false;
    compare_make(&other, scene.runs, scene.side_of, scene.n, 2);
    assert_int_equal(other.facts.n, 0);
    assert_null(other.facts_missing);
    compare_release(&other);
    /* A run that was killed has counts of what it came to, of MPI too. */
    scene.runs[2]->is_counted = true;
    scene.runs[2]->is_whole = false;
    compare_make(&other, scene.runs, scene.side_of, scene.n, 2);
    assert_int_equal(other.facts.n, 0);
    assert_non_null(other.facts_missing);
    compare_release(&other);
    release(&scene, &comparison);
}

/* Ranks that are alike are told once: a loop that makes 100 iterations more on each of two comes before one that makes
 * 150 more on one of them. */
static void what_is_executed_is_that_of_all_ranks(void **state)
{
    (void)state;
    struct scene scene = {0};
    static const struct loop none[4] = {{"x.c", "f", "f", 5, 1}};
    for (uint32_t run = 0; run < 2; run++) {
        struct run *at = add(&scene, run, 100, none);
        assert_int_equal(at->n_ranks, 2);
        add_fact(&scene, at, 5, 0, 0);
        at->facts[0].counts[0] = (struct fact_count){0, run ? 1100 : 1000, 100};
        at->facts[0].n_counts = 1;
        add_fact(&scene, at, 9, 0, 0);
        at->facts[1].counts[0] = (struct fact_count){0, run ? 1150 : 1000, 100};
        at->facts[1].counts[1] = (struct fact_count){1, 7, 1};
    }
    struct comparison comparison = compare(&scene);
    assert_int_equal(comparison.facts.n, 2);
    assert_int_equal(comparison.facts.at[0].before->line_first, 5);
    assert_int_equal((int)comparison.facts.at[0].moved, 200);
    assert_int_equal(comparison.facts.at[1].before->line_first, 9);
    assert_int_equal((int)comparison.facts.at[1].moved, 150);
    release(&scene, &comparison);
}

/* A choice at the start goes the other way altogether; a loop that is entered 500 times makes half as many again. */
static void what_is_executed_most_is_told_first(void **state)
{
    (void)state;
    struct scene scene = {0};
    static const struct loop none[4] = {{"x.c", "f", "f", 5, 1}};
    for (uint32_t run = 0; run < 2; run++) {
        struct run *at = add(&scene, run, 100, none);
        add_fact(&scene, at, 5, run ? 10 : 1, 1);
        add_fact(&scene, at, 9, run ? 1500 : 1000, 500);
    }
    struct comparison comparison = compare(&scene);
    assert_int_equal(comparison.facts.n, 2);
    assert_int_equal(comparison.facts.at[0].before->line_first, 9);
    assert_int_equal(comparison.facts.at[1].before->line_first, 5);
    release(&scene, &comparison);
}

/* What is kept of a run is what a comparison needs of it. */
static void a_kept_run_is_the_run(void **state)
{
    (void)state;
    struct scene scene = {0};
    char path[] = "/tmp/whywait-kept-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    struct run *run = add_tree(&scene, 0, true, 300, 100);
    add_fact(&scene, run, 5, UINT64_C(1) << 60, 3);
    assert_int_equal(kept_write(path, scene.runs, 1), 0);
    assert_true(kept_is(path));
    assert_false(kept_is("/tmp"));
    run_list read = {0};
    assert_int_equal(kept_read(&scene.arena, path, &read), 0);
    assert_int_equal(read.n, 1);
    assert_int_equal(read.at[0]->n_nodes, 3);
    assert_int_equal(read.at[0]->nodes[0].parent, TRACE_NONE);
    near(read.at[0]->nodes[2].kind_ns[KIND_SLOWER], 100, 0);
    near(read.at[0]->nodes[2].longest_ns, 120, 0);
    assert_string_equal(read.at[0]->places[1].name, "f");
    assert_true(read.at[0]->facts[0].counts[0].n == UINT64_C(1) << 61);
    scene.runs[1] = read.at[0];
    scene.side_of[1] = 1;
    scene.n = 2;
    struct comparison comparison = compare(&scene);
    assert_int_equal(comparison.facts.n, 0);
    for (size_t i = 0; i < comparison.rows.n; i++)
        near(compare_change(&comparison.rows.at[i]), 0, 1e-9);
    release(&scene, &comparison);
    vec_release(&read);
    unlink(path);
}

/* Counts of ranks that there are not, or not in order: room for all up to them would be asked for. */
static void a_kept_run_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct fact_count bad[][2] = {{{0, 1, 1}, {4000000000, 2, 1}}, {{1, 1, 1}, {0, 2, 1}}};
    for (int i = 0; i < 5; i++) {
        struct scene scene = {0};
        char path[] = "/tmp/whywait-kept-XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0);
        close(file);
        struct run *run = add_tree(&scene, 0, true, 300, 100);
        add_fact(&scene, run, 5, 100, 3);
        if (i < 2)
            memcpy(run->facts[0].counts, bad[i], sizeof bad[i]);
        else if (i == 2)
            run->n_ranks = 4100000000;
        else
            *(i == 3 ? &run->machine_ns : &run->nodes[0].time_ns) = i == 3 ? -5e9 : 9e18;
        assert_int_equal(kept_write(path, scene.runs, 1), 0);
        run_list read = {0};
        assert_int_not_equal(kept_read(&scene.arena, path, &read), 0);
        vec_release(&read);
        arena_release(&scene.arena);
        unlink(path);
    }
}

static void a_gate_tells_what_grew(void **state)
{
    (void)state;
    struct gate gate;
    gate_hits hits = {0};
    bool is_blind;
    assert_false(gate_parse("much", &gate));
    assert_false(gate_parse("5%:speed", &gate));
    assert_true(gate_parse("5%:cause", &gate));
    assert_int_equal(gate.what, GATE_CAUSE);
    near(gate.share, 0.05, 1e-12);
    struct scene scene = {0};
    for (int i = 0; i < 3; i++)
        add_fact(&scene, add_tree(&scene, 0, true, 300 + i, 100), 5, 100, 1);
    for (int i = 0; i < 3; i++)
        add_fact(&scene, add_tree(&scene, 1, true, 600 + i, 100), 5, 104, 1);
    for (int i = 3; i < 6; i++)
        scene.runs[i]->nodes[2].longest_ns += 18;
    struct comparison comparison = compare(&scene);
    gate_check(&comparison, &gate, &hits, &is_blind);
    assert_int_equal(hits.n, 1);
    near(hits.at[0].share, 300 / 401.0, 1e-9);
    assert_false(is_blind);
    assert_true(gate_parse("5%:executions", &gate));
    hits.n = 0;
    gate_check(&comparison, &gate, &hits, &is_blind);
    assert_int_equal(hits.n, 0);
    assert_true(gate_parse("4%:computing", &gate));
    gate_check(&comparison, &gate, &hits, &is_blind);
    assert_int_equal(hits.n, 1);
    near(hits.at[0].share, 18.0 / 360, 1e-9);
    hits.n = 0;
    assert_true(gate_parse("3", &gate));
    gate_check(&comparison, &gate, &hits, &is_blind);
    assert_int_equal(hits.n, 4); /* waiting, cause, computing and count; not the run time */
    vec_release(&hits);
    release(&scene, &comparison);
}

/* Lines were inserted above and the first loop makes nobody wait any more: the other two are not taken for it. */
static void a_loop_that_vanishes_is_not_its_neighbour(void **state)
{
    (void)state;
    struct scene scene = {0};
    add(&scene, 0, 1,
        (struct loop[4]){{"x.c", "f", "f 5", 5, 50}, {"x.c", "f", "f 9", 9, 20}, {"x.c", "f", "f 13", 13, 30}});
    add(&scene, 1, 1, (struct loop[4]){{"x.c", "f", "f 13", 13, 20}, {"x.c", "f", "f 17", 17, 30}});
    struct comparison comparison = compare(&scene);
    near(find(&comparison, "f 5")->mean_ns[1], 0, 1e-9);
    near(find(&comparison, "f 13")->mean_ns[0], 20, 1e-9);
    near(find(&comparison, "f 13")->mean_ns[1], 20, 1e-9);
    near(find(&comparison, "f 17")->mean_ns[0], 30, 1e-9);
    release(&scene, &comparison);
}

/* Two calls in one routine, of which each run has one. */
static void code_of_one_build_has_not_moved(void **state)
{
    (void)state;
    struct candidate candidates[] = {{.alike = "f", .build = 7, .line_first = 5, .line_last = 5},
                                     {.alike = "f", .build = 7, .line_first = 8, .line_last = 8, .is_after = true}};
    uint32_t counterpart[2];
    counterparts_find(candidates, 2, counterpart);
    assert_int_equal(counterpart[0], COUNTERPART_NONE);
    assert_int_equal(counterpart[1], COUNTERPART_NONE);
    candidates[1].build = 9;
    counterparts_find(candidates, 2, counterpart);
    assert_int_equal(counterpart[0], 1);
    assert_int_equal(counterpart[1], 0);
}

/* f by its lines, g between its neighbours; l and m stand elsewhere. */
static void a_routine_that_was_renamed_is_the_same(void **state)
{
    (void)state;
    struct scene scene = {0};
    add(&scene, 0, 1, (struct loop[4]){{"x.c", "f", "f 5", 5, 50}, {"x.c", "l", "l 90", 90, 7}});
    add(&scene, 1, 1, (struct loop[4]){{"x.c", "f2", "f2 5", 5, 40}, {"x.c", "m", "m 60", 60, 9}});
    struct comparison comparison = compare(&scene);
    near(find(&comparison, "f2 5 (before: f 5)")->mean_ns[0], 50, 1e-9);
    near(find(&comparison, "l 90")->mean_ns[1], 0, 1e-9);
    near(find(&comparison, "m 60")->mean_ns[0], 0, 1e-9);
    release(&scene, &comparison);
    add(&scene, 0, 1,
        (struct loop[4]){{"x.c", "e", "e 3", 3, 5}, {"x.c", "g", "g 9", 9, 7}, {"x.c", "k", "k 15", 15, 2}});
    add(&scene, 1, 1,
        (struct loop[4]){{"x.c", "e", "e 7", 7, 5}, {"x.c", "h", "h 13", 13, 8}, {"x.c", "k", "k 24", 24, 2}});
    comparison = compare(&scene);
    near(find(&comparison, "h 13 (before: g 9)")->mean_ns[0], 7, 1e-9);
    near(find(&comparison, "k 24")->mean_ns[0], 2, 1e-9);
    release(&scene, &comparison);
}

/* Lines were inserted above: f's two loops have moved, g's stands where f's first stood, h has gone. */
static void what_moved_is_put_together_in_order(void **state)
{
    (void)state;
    struct scene scene = {0};
    add(&scene, 0, 1,
        (struct loop[4]){{"x.c", "f", "f 5", 5, 10},
                         {"x.c", "f", "f 9", 9, 20},
                         {"x.c", "h", "h 30", 30, 7},
                         {NULL, NULL, "start", 0, 1}});
    add(&scene, 1, 1,
        (struct loop[4]){{"x.c", "f", "f 27", 27, 21},
                         {"x.c", "f", "f 25", 25, 11},
                         {"x.c", "g", "g 5", 5, 3},
                         {NULL, NULL, "end", 0, 1}});
    struct comparison comparison = compare(&scene);
    near(find(&comparison, "f 25")->mean_ns[0], 10, 1e-9);
    near(find(&comparison, "f 25")->mean_ns[1], 11, 1e-9);
    near(find(&comparison, "f 27")->mean_ns[0], 20, 1e-9);
    near(find(&comparison, "g 5")->mean_ns[0], 0, 1e-9);
    near(find(&comparison, "h 30")->mean_ns[1], 0, 1e-9);
    near(find(&comparison, "start")->mean_ns[1], 0, 1e-9);
    double sum[2] = {0};
    for (size_t i = 0; i < comparison.rows.n; i++)
        for (int side = 0; side < 2 && comparison.rows.at[i].depth == 1; side++)
            sum[side] += comparison.rows.at[i].mean_ns[side];
    near(sum[0], group(&comparison, GROUP_PROGRAM)->mean_ns[0], 1e-9);
    near(sum[1], 36, 1e-9);
    release(&scene, &comparison);
}

static struct noise_test compare_values(const double *before, size_t n_before, const double *after, size_t n_after,
                                        double scale, double level)
{
    return noise_compare((struct noise_side){n_before, before, NULL}, (struct noise_side){n_after, after, NULL}, scale,
                         level);
}

/* Far below the scale values are as they are, far above they are logarithms. */
static void noise_is_student_s_test_of_transformed_values(void **state)
{
    (void)state;
    static const double a[] = {10, 12, 14}, b[] = {20, 20, 20}, same[] = {5, 5};
    near(noise_student(0.05, 4), 2.776, 1e-3);
    near(noise_student(0.001, 4), 8.610, 1e-3);
    near(noise_student(0.05, 398), 1.966, 1e-3);
    /* One variance for both, (8 + 0) / 4, and four degrees of freedom: t = 8 / sqrt(2 * 2 / 3). */
    struct noise_test test = compare_values(a, 3, b, 3, 1e6, 0.05);
    near(test.chance, 0.00226, 1e-4);
    near(test.least, 2.776 * sqrt(2 * 2.0 / 3), 1e-2);
    assert_true(test.sees_doubling);
    near(compare_values(a, 3, a, 3, 1e6, 0.05).chance, 1, 1e-9);
    near(compare_values(same, 2, same, 2, 1, 0.05).chance, 1, 0);
    near(compare_values(same, 2, b, 3, 1, 0.05).chance, 0, 1e-9);
    /* One run against two of scatter: one degree of freedom. */
    near(compare_values((double[]){0}, 1, (double[]){1, 3}, 2, 1e6, 0.05).least, 12.706 * sqrt(2 * 1.5), 2e-2);
    assert_false(compare_values(a, 1, b, 1, 1, 0.05).is_known);
    /* Orders of magnitude apart, though the larger values scatter by more than they differ from the smaller. */
    static const double small[] = {1, 2, 0, 3}, large[] = {100, 800, 300, 500};
    assert_true(compare_values(small, 4, large, 4, 1, 0.001).chance < 0.001);
    /* More scatter takes more runs, and some are never told. */
    struct noise_test scattered = {.level = 0.02, .scatter = 0.1, .doubling = 0.69};
    unsigned few = noise_runs_needed(&scattered);
    scattered.scatter = 0.5;
    unsigned more = noise_runs_needed(&scattered);
    assert_true(few >= 2 && few < more);
    scattered.apart = 2; /* a change of that size takes fewer */
    assert_true(noise_runs_needed(&scattered) < more);
    scattered.scatter = 20;
    assert_int_equal(noise_runs_needed(&scattered), 0);
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
        struct scene scene = {0};
        for (int run = 0; run < 6; run++)
            add(&scene, run >= 3, noisy(&seed, 1000),
                (struct loop[4]){{"x.c", "f", "f", 5, noisy(&seed, 300) * (run < 3 ? 1 : factor)},
                                 {"x.c", "g", "g", 9, noisy(&seed, 100)},
                                 {"x.c", "h", "h", 13, noisy(&seed, 30)},
                                 {"x.c", "i", "i", 17, noisy(&seed, 10)}});
        struct comparison comparison = compare(&scene);
        bool is_alarm = false;
        for (size_t row = 0; row < comparison.rows.n; row++)
            is_alarm |=
                comparison.rows.at[row].verdict == COMPARE_LESS || comparison.rows.at[row].verdict == COMPARE_MORE;
        n_alarms += is_alarm;
        *n_found += find(&comparison, "f")->verdict == COMPARE_MORE;
        release(&scene, &comparison);
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

enum { RANKS = 4 };

/* A run with a loop that holds three fifths of the computing, one with a fifth, and one of rank 0 alone. The machine is
 * faster in one run than in another, by up to a tenth or a fifth, and the ranks of a run differ by up
 * to two per cent; now and then one of them is held up. What ranks wait for has next to nothing to do with it. */
static void add_computing(struct scene *scene, uint32_t side, uint64_t *seed, double slower_on_1, double slower_on_all)
{
    struct run *run = add(scene, side, noisy(seed, 1e9),
                          (struct loop[4]){{"x.c", "push", "push", 5, noisy(seed, 4e7)},
                                           {"x.c", "field", "field", 9, noisy(seed, 1e7)},
                                           {"x.c", "io", "io", 13, noisy(seed, 1e6)}});
    static const double loop_ns[] = {6e8, 2e8, 5e7}, drift[] = {0.2, 0.1, 0.5};
    run->n_ranks = RANKS;
    run->all_ns = RANKS * run->wall_ns;
    for (int loop = 0; loop < 3; loop++) {
        double machine = 1 + drift[loop] * (draw(seed) + draw(seed) - 1);
        for (int rank = 0; rank < (loop == 2 ? 1 : RANKS); rank++) {
            double ns = loop_ns[loop] * machine * (1 + 0.02 * (draw(seed) + draw(seed) - 1));
            ns *= draw(seed) < 0.02 ? 1 + 0.05 * draw(seed) : 1;
            if (loop == 1)
                ns *= slower_on_all * (rank == 1 ? slower_on_1 : 1);
            run->nodes[loop].time_ns += ns;
            run->nodes[loop].longest_ns = fmax(run->nodes[loop].longest_ns, ns);
        }
    }
}

/* Comparisons that call anything a change, and those that say more computing of the field's loop. */
static void compare_computing(int n_runs, double slower_on_1, double slower_on_all, int n, int *n_told, int *n_found)
{
    uint64_t seed = 1;
    *n_told = *n_found = 0;
    for (int i = 0; i < n; i++) {
        struct scene scene = {0};
        for (int run = 0; run < 2 * n_runs; run++)
            add_computing(&scene, run >= n_runs, &seed, run < n_runs ? 1 : slower_on_1,
                          run < n_runs ? 1 : slower_on_all);
        struct comparison comparison = compare(&scene);
        bool is_told = false;
        for (size_t k = 0; k < comparison.rows.n; k++) {
            const struct compare_row *row = &comparison.rows.at[k];
            is_told |= row->verdict == COMPARE_LESS || row->verdict == COMPARE_MORE;
            *n_found += row->group == GROUP_COMPUTING && row->verdict == COMPARE_MORE && row->name &&
                        !strcmp(row->name, "field");
        }
        *n_told += is_told;
        release(&scene, &comparison);
    }
}

/* A fifth of the computing of one rank is next to nothing in the sums and in the waiting; by the other ranks, which
 * know how fast the machine was, it is told from few runs. */
static void a_loop_that_takes_longer_on_one_rank_is_told(void **state)
{
    (void)state;
    enum { N = 400 };
    static const struct {
        int n_runs;
        double slower_on_1, slower_on_all;
        int most_told, least_found; /* of a hundred */
    } cases[] = {
        {3, 1, 1, 5, 0}, {5, 1, 1, 5, 0}, {3, 1.2, 1, 100, 95}, {5, 1.1, 1, 100, 95}, {5, 1, 1.5, 100, 95},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n_told, n_found;
        compare_computing(cases[i].n_runs, cases[i].slower_on_1, cases[i].slower_on_all, N, &n_told, &n_found);
        if (100 * n_told > cases[i].most_told * N || 100 * n_found < cases[i].least_found * N)
            fail_msg("case %zu: of %d comparisons %d say anything, and %d name the loop", i, N, n_told, n_found);
    }
}

/* Something holds up one rank for seven milliseconds, in one gap between two calls or in another: of six runs, three
 * have it here and three there. Where nothing was sampled, gaps are all that is known. */
static void what_no_sample_has_hit_is_one_row(void **state)
{
    (void)state;
    for (int is_sampled = 0; is_sampled < 2; is_sampled++) {
        struct scene scene = {0};
        for (int i = 0; i < 6; i++) {
            struct run *run = add(&scene, i >= 3, 1e9,
                                  (struct loop[4]){{NULL, NULL, "code between a and b", 0, 1},
                                                   {NULL, NULL, "code between c and d", 0, 1},
                                                   {is_sampled ? "x.c" : NULL, is_sampled ? "f" : NULL, "f", 0, 1}});
            for (int loop = 0; loop < 3; loop++)
                run->nodes[loop].time_ns = run->nodes[loop].longest_ns = loop == 2          ? 1e8 + i % 3
                                                                         : loop == (i >= 3) ? 7e6 + 1e4 * (i % 3)
                                                                                            : 0;
        }
        struct comparison comparison = compare(&scene);
        int n_told = 0;
        for (size_t k = 0; k < comparison.rows.n; k++)
            n_told += comparison.rows.at[k].verdict == COMPARE_LESS || comparison.rows.at[k].verdict == COMPARE_MORE;
        assert_int_equal(n_told, is_sampled ? 0 : 2);
        release(&scene, &comparison);
    }
}

static void only_what_exceeds_noise_is_a_change(void **state)
{
    (void)state;
    struct scene scene = {0};
    static const double before[] = {100, 102, 98}, after[] = {50, 52, 48}, noisy[] = {10, 90, 50},
                        noisy_after[] = {70, 20, 60};
    for (int run = 0; run < 3; run++)
        add(&scene, 0, 1, (struct loop[4]){{"x.c", "f", "f", 5, before[run]}, {"x.c", "g", "g", 9, noisy[run]}});
    for (int run = 0; run < 3; run++)
        add(&scene, 1, 1, (struct loop[4]){{"x.c", "f", "f", 5, after[run]}, {"x.c", "g", "g", 9, noisy_after[run]}});
    struct comparison comparison = compare(&scene);
    assert_int_equal(find(&comparison, "f")->verdict, COMPARE_LESS);
    assert_int_not_equal(find(&comparison, "g")->verdict, COMPARE_LESS);
    assert_int_not_equal(find(&comparison, "g")->verdict, COMPARE_MORE);
    assert_int_equal(group(&comparison, GROUP_RUN_TIME)->verdict, COMPARE_NOISE);
    release(&scene, &comparison);
}

/* However small a part of the run it is. */
static void one_run_a_side_tells_nothing_of_times(void **state)
{
    (void)state;
    struct scene scene = {0};
    add(&scene, 0, 1e9, (struct loop[4]){{"x.c", "f", "f", 5, 1e7}, {"x.c", "g", "g", 9, 1e8}});
    add(&scene, 1, 1e9, (struct loop[4]){{"x.c", "f", "f", 5, 5e6}, {"x.c", "g", "g", 9, 1e8}});
    struct comparison comparison = compare(&scene);
    assert_int_equal(find(&comparison, "f")->verdict, COMPARE_TOO_FEW);
    assert_int_equal(find(&comparison, "g")->verdict, COMPARE_TOO_FEW);
    assert_int_equal(group(&comparison, GROUP_RUN_TIME)->verdict, COMPARE_TOO_FEW);
    release(&scene, &comparison);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_places_are_one_and_missing_ones_are_nothing),
        cmocka_unit_test(what_moved_is_put_together_in_order),
        cmocka_unit_test(noise_is_student_s_test_of_transformed_values),
        cmocka_unit_test(the_coarser_level_of_both_sides_is_compared),
        cmocka_unit_test(rows_of_one_place_say_where_they_part),
        cmocka_unit_test(code_without_a_name_is_the_same_whatever_was_seen_around_it),
        cmocka_unit_test(shares_add_up_to_the_difference),
        cmocka_unit_test(a_count_that_does_not_vary_is_certain),
        cmocka_unit_test(what_is_executed_most_is_told_first),
        cmocka_unit_test(what_is_executed_is_that_of_all_ranks),
        cmocka_unit_test(a_kept_run_is_the_run),
        cmocka_unit_test(a_kept_run_that_cannot_be_is_refused),
        cmocka_unit_test(a_gate_tells_what_grew),
        cmocka_unit_test(the_same_program_is_the_same),
        cmocka_unit_test(a_loop_that_vanishes_is_not_its_neighbour),
        cmocka_unit_test(code_of_one_build_has_not_moved),
        cmocka_unit_test(a_routine_that_was_renamed_is_the_same),
        cmocka_unit_test(a_loop_that_takes_longer_on_one_rank_is_told),
        cmocka_unit_test(what_no_sample_has_hit_is_one_row),
        cmocka_unit_test(one_run_a_side_tells_nothing_of_times),
        cmocka_unit_test(only_what_exceeds_noise_is_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
