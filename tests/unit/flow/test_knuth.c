/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts solved from the counters of random executions against the real ones; placement against its definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "random_cfg.h"
#include "wrap/flow/knuth.h"
#include <string.h>

enum { N_GRAPHS = 20000, MOST_BLOCKS = 16, MOST_EDGES = 48 };

struct execution {
    int64_t count[MOST_EDGES];
    int64_t parked[MOST_BLOCKS];
    int64_t calls;
};

/* Walks on from a block until EXIT, or until the steps are used up: then the frame stays in flight. */
static void walk(const struct cfg *cfg, struct random *random, uint32_t block, uint32_t n_steps, struct execution *run)
{
    while (block != cfg->n_blocks - 1) {
        if (n_steps-- == 0) {
            run->parked[block]++;
            return;
        }
        uint32_t n_out = cfg->out_at[block + 1] - cfg->out_at[block];
        uint32_t edge = cfg->out[cfg->out_at[block] + random_below(random, n_out)];
        run->count[edge]++;
        block = cfg->edges.at[edge].to;
    }
}

/* An interval: some frames were in flight at its beginning, some calls are made, some frames remain. */
static void execute(const struct cfg *cfg, struct random *random, struct execution *run)
{
    memset(run, 0, sizeof *run);
    for (uint32_t n = random_below(random, 3); n > 0; n--) {
        uint32_t block = random_below(random, cfg->n_blocks - 1);
        run->parked[block]--;
        walk(cfg, random, block, random_below(random, 40), run);
    }
    run->calls = random_below(random, 20);
    for (int64_t i = 0; i < run->calls; i++)
        walk(cfg, random, 0, random_below(random, 2) ? 100000 : random_below(random, 20), run);
}

static void check_solution(struct cfg *cfg, const unsigned char *is_counted, const struct execution *run)
{
    struct knuth_tree tree;
    assert_true(knuth_build(cfg, cfg->n_blocks - 1, is_counted, &tree));
    int64_t count[MOST_EDGES], calls = -1, excess[MOST_BLOCKS];
    for (size_t e = 0; e < cfg->edges.n; e++)
        count[e] = is_counted[e] ? run->count[e] : -12345;
    uint32_t fault;
    assert_true(knuth_solve(cfg, &tree, run->parked, count, &calls, excess, &fault));
    assert_int_equal(calls, run->calls);
    for (size_t e = 0; e < cfg->edges.n; e++)
        assert_int_equal(count[e], run->count[e]);
}

static void test_counts_of_random_executions(void **state)
{
    (void)state;
    struct random random = {7};
    for (int i = 0; i < N_GRAPHS; i++) {
        struct cfg cfg;
        random_routine(&cfg, &random);
        struct cfg_loops loops = cfg_find_loops(&cfg);
        unsigned char is_counted[MOST_EDGES];
        uint32_t n = knuth_place(&cfg, cfg.n_blocks - 1, knuth_weights(&cfg, &loops, NULL), NULL, is_counted);
        assert_int_equal(n, cfg.edges.n + 1 - (cfg.n_blocks - 1));
        struct execution run;
        execute(&cfg, &random, &run);
        check_solution(&cfg, is_counted, &run);
        cfg_release(&cfg);
    }
}

/* Edges that cannot carry a counter never get one, and placement fails only when they close a cycle. */
static void test_fixed_edges(void **state)
{
    (void)state;
    struct random random = {11};
    uint32_t n_refused = 0;
    for (int i = 0; i < N_GRAPHS; i++) {
        struct cfg cfg;
        random_routine(&cfg, &random);
        struct cfg_loops loops = cfg_find_loops(&cfg);
        unsigned char is_fixed[MOST_EDGES], is_counted[MOST_EDGES], is_free[MOST_EDGES];
        for (size_t e = 0; e < cfg.edges.n; e++) {
            is_fixed[e] = random_below(&random, 4) == 0;
            is_free[e] = !is_fixed[e];
        }
        struct knuth_tree tree;
        bool has_no_cycle = knuth_build(&cfg, cfg.n_blocks - 1, is_free, &tree);
        uint32_t n = knuth_place(&cfg, cfg.n_blocks - 1, knuth_weights(&cfg, &loops, NULL), is_fixed, is_counted);
        assert_int_equal(n != CFG_NONE, has_no_cycle);
        n_refused += n == CFG_NONE;
        struct execution run;
        execute(&cfg, &random, &run);
        if (n != CFG_NONE)
            check_solution(&cfg, is_counted, &run);
        for (size_t e = 0; n != CFG_NONE && e < cfg.edges.n; e++)
            assert_false(is_fixed[e] && is_counted[e]);
        cfg_release(&cfg);
    }
    assert_true(n_refused > 100 && n_refused < N_GRAPHS / 2);
}

/* No other spanning tree leaves lighter edges to be counted: every set of edges of a small graph is tried. */
static void test_placement_is_optimal(void **state)
{
    (void)state;
    struct random random = {13};
    for (int i = 0; i < 300; i++) {
        struct cfg cfg;
        do
            random_routine(&cfg, &random);
        while (cfg.edges.n > 11 && (cfg_release(&cfg), true));
        struct cfg_loops loops = cfg_find_loops(&cfg);
        double *weights = knuth_weights(&cfg, &loops, NULL), cost = 0;
        unsigned char is_counted[MOST_EDGES];
        knuth_place(&cfg, cfg.n_blocks - 1, weights, NULL, is_counted);
        for (size_t e = 0; e < cfg.edges.n; e++)
            cost += is_counted[e] ? weights[e] : 0;
        for (uint32_t set = 0; set < 1u << cfg.edges.n; set++) {
            unsigned char is_chosen[MOST_EDGES];
            double other = 0;
            for (size_t e = 0; e < cfg.edges.n; e++) {
                is_chosen[e] = set >> e & 1;
                other += is_chosen[e] ? weights[e] : 0;
            }
            struct knuth_tree tree;
            if (other < cost - 1e-9)
                assert_false(knuth_build(&cfg, cfg.n_blocks - 1, is_chosen, &tree));
        }
        cfg_release(&cfg);
    }
}

/*
 * A loop over an if, the usual example: 0 -> 1; 1 -> 2 (body) or 5 (EXIT); 2 -> 3 or 4; 3 -> 4; 4 -> 1. By the three
 * rules block 1 weighs 10, its exit 1 and the body 9, each arm 4.5.
 */
static void worked_example(struct cfg *cfg)
{
    static const struct cfg_edge edges[] = {{0, 1}, {1, 2}, {1, 5}, {2, 3}, {2, 4}, {3, 4}, {4, 1}};
    cfg_init(cfg, 6, 0);
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
        cfg_add_edge(cfg, edges[e].from, edges[e].to);
    cfg_finish(cfg);
}

static void test_worked_weights(void **state)
{
    (void)state;
    static const double expected[] = {1, 9, 1, 4.5, 4.5, 4.5, 9};
    struct cfg cfg;
    worked_example(&cfg);
    struct cfg_loops loops = cfg_find_loops(&cfg);
    double *weights = knuth_weights(&cfg, &loops, NULL);
    for (size_t e = 0; e < cfg.edges.n; e++)
        assert_true(weights[e] == expected[e]);
    cfg_release(&cfg);
}

/*
 * A loop whose test is repeated before it: 1 goes to 2, from which the loop 3 begins, or past it to 5, where the loop
 * ends through 4. A loop that counts is entered nine times of ten.
 */
static void test_guard_weights(void **state)
{
    (void)state;
    static const struct cfg_edge edges[] = {{0, 1}, {1, 2}, {1, 5}, {2, 3}, {3, 3}, {3, 4}, {4, 5}};
    static const double even[] = {1, .5, .5, .5, 4.5, .5, .5}, guarded[] = {1, .9, .1, .9, 8.1, .9, .9};
    struct cfg cfg;
    cfg_init(&cfg, 6, 0);
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
        cfg_add_edge(&cfg, edges[e].from, edges[e].to);
    cfg_finish(&cfg);
    struct cfg_loops loops = cfg_find_loops(&cfg);
    assert_int_equal(loops.n, 1);
    for (unsigned char is_counting = 0; is_counting < 2; is_counting++) {
        const double *weights = knuth_weights(&cfg, &loops, &is_counting);
        for (size_t e = 0; e < cfg.edges.n; e++)
            assert_float_equal(weights[e], is_counting ? guarded[e] : even[e], 1e-12);
    }
    cfg_release(&cfg);
}

static int64_t placement_cost(const struct cfg *cfg, const unsigned char *is_counted, const int64_t *count)
{
    int64_t cost = 0;
    for (size_t e = 0; e < cfg->edges.n; e++)
        cost += is_counted[e] ? count[e] : 0;
    return cost;
}

/* 100 iterations, the arm taken in 50 of them: what the counters cost, against a counter per block and against a tree
 * that was chosen without looking at weights. */
static void test_worked_cost(void **state)
{
    (void)state;
    static const int64_t count[] = {1, 100, 1, 50, 50, 50, 100};
    enum { EVERY_BLOCK = 1 + 101 + 100 + 50 + 100 };
    struct cfg cfg;
    worked_example(&cfg);
    struct cfg_loops loops = cfg_find_loops(&cfg);
    double flat[7] = {0};
    unsigned char best[7], blind[7];
    assert_int_equal(knuth_place(&cfg, 5, knuth_weights(&cfg, &loops, NULL), NULL, best), 3);
    assert_int_equal(knuth_place(&cfg, 5, flat, NULL, blind), 3);
    int64_t cost = placement_cost(&cfg, best, count);
    assert_true(cost <= 101);
    assert_true(cost < placement_cost(&cfg, blind, count));
    assert_true(3 * cost < EVERY_BLOCK);
    cfg_release(&cfg);
}

/* A frame left block 4 by longjmp: nothing is parked there, and the counts cannot be true. */
static void test_contradiction(void **state)
{
    (void)state;
    struct cfg cfg;
    worked_example(&cfg);
    static const unsigned char is_counted[] = {1, 0, 0, 0, 1, 0, 1};
    int64_t count[] = {1, 0, 0, 0, 5, 0, 3}, calls, excess[6];
    struct knuth_tree tree;
    assert_true(knuth_build(&cfg, 5, is_counted, &tree));
    uint32_t fault = 77;
    assert_false(knuth_solve(&cfg, &tree, NULL, count, &calls, excess, &fault));
    assert_int_equal(fault, 5);
    cfg_release(&cfg);
}

/* A part without a connection to the rest is solved by itself, and lost flow in it is noticed. */
static void test_forest(void **state)
{
    (void)state;
    struct cfg cfg;
    cfg_init(&cfg, 4, 0);
    cfg_add_edge(&cfg, 0, 1);
    cfg_add_edge(&cfg, 2, 3);
    cfg_add_edge(&cfg, 3, 2);
    cfg_finish(&cfg);
    static const unsigned char is_counted[] = {1, 1, 0};
    int64_t count[] = {4, 9, 0}, calls, excess[4], parked[] = {0, 0, 0, 1};
    struct knuth_tree tree;
    assert_true(knuth_build(&cfg, 1, is_counted, &tree));
    uint32_t fault;
    assert_true(knuth_solve(&cfg, &tree, NULL, count, &calls, excess, &fault));
    assert_int_equal(count[2], 9);
    assert_int_equal(calls, 4);
    assert_false(knuth_solve(&cfg, &tree, parked, count, &calls, excess, &fault));
    assert_int_equal(fault, KNUTH_ROOT);
    cfg_release(&cfg);
}

static void test_cycle_is_refused(void **state)
{
    (void)state;
    struct cfg cfg;
    worked_example(&cfg);
    static const unsigned char none[7] = {0};
    struct knuth_tree tree;
    assert_false(knuth_build(&cfg, 5, none, &tree));
    cfg_release(&cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_of_random_executions),
        cmocka_unit_test(test_fixed_edges),
        cmocka_unit_test(test_placement_is_optimal),
        cmocka_unit_test(test_worked_weights),
        cmocka_unit_test(test_guard_weights),
        cmocka_unit_test(test_worked_cost),
        cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_forest),
        cmocka_unit_test(test_cycle_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
