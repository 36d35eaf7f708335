/* SPDX-License-Identifier: BSD-3-Clause */
/* Search and loops against their definitions, by brute force on thousands of random graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "random_cfg.h"
#include <string.h>

enum { N_GRAPHS = 20000, MOST_BLOCKS = 16 };

/* Blocks reached from `from` without entering `avoid` (CFG_NONE: nothing is avoided). */
static void reach(const struct cfg *cfg, uint32_t from, uint32_t avoid, bool *is_reached)
{
    memset(is_reached, 0, MOST_BLOCKS);
    is_reached[from] = from != avoid;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (size_t e = 0; e < cfg->edges.n; e++) {
            struct cfg_edge edge = cfg->edges.at[e];
            if (is_reached[edge.from] && !is_reached[edge.to] && edge.to != avoid)
                is_changed = is_reached[edge.to] = true;
        }
    }
}

static bool dominates_by_definition(const struct cfg *cfg, uint32_t dominator, uint32_t block)
{
    bool is_reached[MOST_BLOCKS];
    reach(cfg, cfg->root, dominator, is_reached);
    return !is_reached[block];
}

static void check_search(const struct cfg *cfg, const struct cfg_order *order)
{
    bool is_reached[MOST_BLOCKS];
    reach(cfg, cfg->root, CFG_NONE, is_reached);
    for (uint32_t b = 0; b < cfg->n_blocks; b++)
        assert_int_equal(is_reached[b], order->number[b] != CFG_NONE);
    for (size_t e = 0; e < cfg->edges.n; e++) {
        struct cfg_edge edge = cfg->edges.at[e];
        if (is_reached[edge.from])
            assert_int_equal(order->is_retreating[e], order->position[edge.from] >= order->position[edge.to]);
    }
}

/* The nearest of those without which a block is not reached: all others of them are met before it. */
static void check_dominators(struct cfg *cfg, const struct cfg_order *order)
{
    const uint32_t *dominator = cfg_dominators(cfg, order);
    for (uint32_t b = 0; b < cfg->n_blocks; b++) {
        bool has_one = order->number[b] != CFG_NONE && b != cfg->root;
        assert_int_equal(dominator[b] != CFG_NONE, has_one);
        for (uint32_t d = 0; has_one && d < cfg->n_blocks; d++)
            if (d != b && order->number[d] != CFG_NONE)
                assert_int_equal(dominates_by_definition(cfg, d, b),
                                 d == dominator[b] || dominates_by_definition(cfg, d, dominator[b]));
    }
}

/* {head} and what reaches the tail of a back edge without passing the head. */
static void natural_loop(const struct cfg *cfg, const struct cfg_order *order, uint32_t head, bool *is_in)
{
    memset(is_in, 0, MOST_BLOCKS);
    is_in[head] = true;
    for (size_t e = 0; e < cfg->edges.n; e++) {
        struct cfg_edge edge = cfg->edges.at[e];
        if (edge.to != head || !order->is_retreating[e])
            continue;
        for (uint32_t b = 0; b < cfg->n_blocks; b++) {
            bool is_reached[MOST_BLOCKS];
            reach(cfg, b, head, is_reached);
            is_in[b] |= b != head && order->number[b] != CFG_NONE && is_reached[edge.from];
        }
    }
}

/* Every back edge comes from a block that the head dominates. */
static bool is_natural(const struct cfg *cfg, const struct cfg_order *order, uint32_t head)
{
    for (size_t e = 0; e < cfg->edges.n; e++)
        if (order->is_retreating[e] && cfg->edges.at[e].to == head &&
            !dominates_by_definition(cfg, head, cfg->edges.at[e].from))
            return false;
    return true;
}

static bool has_block(const struct cfg_loop *loop, uint32_t block)
{
    for (uint32_t i = 0; i < loop->n_blocks; i++)
        if (loop->blocks[i] == block)
            return true;
    return false;
}

static void check_loop(const struct cfg *cfg, const struct cfg_loops *loops, uint32_t l)
{
    const struct cfg_loop *loop = &loops->at[l];
    assert_int_equal(loop->is_irreducible, !is_natural(cfg, &loops->order, loop->head));
    assert_true(has_block(loop, loop->head));
    bool is_in[MOST_BLOCKS];
    natural_loop(cfg, &loops->order, loop->head, is_in);
    for (uint32_t b = 0; b < cfg->n_blocks; b++) {
        assert_int_equal(has_block(loop, b), cfg_loop_contains(loops, l, b));
        if (!loop->is_irreducible)
            assert_int_equal(has_block(loop, b), is_in[b]);
    }
    uint32_t n_exits = 0;
    for (size_t e = 0; e < cfg->edges.n; e++)
        n_exits += has_block(loop, cfg->edges.at[e].from) && !has_block(loop, cfg->edges.at[e].to);
    assert_int_equal(loop->n_exits, n_exits);
    for (uint32_t i = 0; i < loop->n_exits; i++)
        assert_true(has_block(loop, cfg->edges.at[loop->exits[i]].from));
    if (loop->parent != CFG_NONE) {
        assert_true(loop->parent < l);
        assert_int_equal(loop->depth, loops->at[loop->parent].depth + 1);
        for (uint32_t i = 0; i < loop->n_blocks; i++)
            assert_true(has_block(&loops->at[loop->parent], loop->blocks[i]));
    }
}

static void check_every_head_has_a_loop(const struct cfg *cfg, const struct cfg_loops *loops)
{
    for (size_t e = 0; e < cfg->edges.n; e++) {
        if (!loops->order.is_retreating[e])
            continue;
        bool is_found = false;
        for (uint32_t l = 0; l < loops->n; l++)
            is_found |= loops->at[l].head == cfg->edges.at[e].to && has_block(&loops->at[l], cfg->edges.at[e].from);
        assert_true(is_found);
    }
}

static void test_random_graphs(void **state)
{
    (void)state;
    struct random random = {20261121};
    uint32_t n_loops = 0, n_irreducible = 0, n_nested = 0;
    for (int i = 0; i < N_GRAPHS; i++) {
        struct cfg cfg;
        (i % 2 ? random_graph : random_routine)(&cfg, &random);
        struct cfg_loops loops = cfg_find_loops(&cfg);
        check_search(&cfg, &loops.order);
        check_dominators(&cfg, &loops.order);
        for (uint32_t l = 0; l < loops.n; l++) {
            check_loop(&cfg, &loops, l);
            n_nested += loops.at[l].depth > 1;
            n_irreducible += loops.at[l].is_irreducible;
        }
        check_every_head_has_a_loop(&cfg, &loops);
        n_loops += loops.n;
        cfg_release(&cfg);
    }
    assert_true(n_loops > N_GRAPHS && n_nested > 1000 && n_irreducible > 1000);
}

/* Depth must cost heap, not stack, and not quadratic time. */
static void test_long_chain(void **state)
{
    (void)state;
    enum { N = 1000000 };
    struct cfg cfg;
    cfg_init(&cfg, N, 0);
    for (uint32_t b = 0; b + 1 < N; b++)
        cfg_add_edge(&cfg, b, b + 1);
    cfg_add_edge(&cfg, N - 1, 0);
    cfg_finish(&cfg);
    struct cfg_loops loops = cfg_find_loops(&cfg);
    assert_int_equal(loops.n, 1);
    assert_int_equal(loops.at[0].n_blocks, N);
    cfg_release(&cfg);
}

static void test_no_blocks(void **state)
{
    (void)state;
    struct cfg cfg;
    cfg_init(&cfg, 0, 0);
    cfg_finish(&cfg);
    struct cfg_loops loops = cfg_find_loops(&cfg);
    assert_int_equal(loops.n, 0);
    cfg_release(&cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_no_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
