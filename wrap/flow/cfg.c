/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph itself, and its depth-first search with an explicit stack: generated code and machine code have chains of
 * hundreds of thousands of blocks, which a recursive search would not survive.
 */
#include "wrap/flow/cfg.h"
#include <string.h>

void cfg_init(struct cfg *cfg, uint32_t n_blocks, uint32_t root)
{
    *cfg = (struct cfg){.n_blocks = n_blocks, .root = root};
}

uint32_t cfg_add_edge(struct cfg *cfg, uint32_t from, uint32_t to)
{
    *vec_push(&cfg->edges) = (struct cfg_edge){from, to};
    return (uint32_t)(cfg->edges.n - 1);
}

void cfg_release(struct cfg *cfg)
{
    vec_release(&cfg->edges);
    arena_release(&cfg->arena);
}

/* Counting sort of the edges by one of their ends. */
static void index_edges(struct cfg *cfg, bool by_head, uint32_t **at, uint32_t **list)
{
    uint32_t *start = arena_array(&cfg->arena, uint32_t, cfg->n_blocks + 2);
    uint32_t *sorted = arena_array(&cfg->arena, uint32_t, cfg->edges.n);
    for (size_t e = 0; e < cfg->edges.n; e++)
        start[(by_head ? cfg->edges.at[e].to : cfg->edges.at[e].from) + 2]++;
    for (uint32_t b = 2; b < cfg->n_blocks + 2; b++)
        start[b] += start[b - 1];
    for (uint32_t e = 0; e < cfg->edges.n; e++)
        sorted[start[(by_head ? cfg->edges.at[e].to : cfg->edges.at[e].from) + 1]++] = e;
    *at = start;
    *list = sorted;
}

void cfg_finish(struct cfg *cfg)
{
    index_edges(cfg, false, &cfg->out_at, &cfg->out);
    index_edges(cfg, true, &cfg->in_at, &cfg->in);
}

static void fill_none(uint32_t *values, uint32_t n)
{
    memset(values, 0xff, n * sizeof *values);
}

static struct cfg_order order_new(struct cfg *cfg)
{
    struct cfg_order order = {
        .preorder = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .number = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .last = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .topological = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .position = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .is_retreating = arena_array(&cfg->arena, unsigned char, cfg->edges.n),
    };
    fill_none(order.number, cfg->n_blocks);
    fill_none(order.position, cfg->n_blocks);
    return order;
}

static void order_reach(struct cfg_order *order, uint32_t block)
{
    order->number[block] = order->n;
    order->preorder[order->n++] = block;
}

/* An edge retreats when its head is on the search's stack: reached, but not left yet. */
static void mark_retreating(struct cfg *cfg, struct cfg_order *order)
{
    for (size_t e = 0; e < cfg->edges.n; e++) {
        const struct cfg_edge *edge = &cfg->edges.at[e];
        if (order->number[edge->from] != CFG_NONE)
            order->is_retreating[e] = cfg_is_ancestor(order, edge->to, edge->from);
    }
}

struct cfg_order cfg_search(struct cfg *cfg)
{
    struct cfg_order order = order_new(cfg);
    if (!cfg->n_blocks)
        return order;
    uint32_t *stack = arena_array(&cfg->arena, uint32_t, cfg->n_blocks);
    uint32_t *next = arena_array(&cfg->arena, uint32_t, cfg->n_blocks);
    uint32_t depth = 0, n_left = 0;
    order_reach(&order, stack[depth++] = cfg->root);
    while (depth) {
        uint32_t block = stack[depth - 1];
        uint32_t at = cfg->out_at[block] + next[block]++;
        if (at < cfg->out_at[block + 1]) {
            uint32_t to = cfg->edges.at[cfg->out[at]].to;
            if (order.number[to] == CFG_NONE)
                order_reach(&order, stack[depth++] = to);
        } else {
            order.last[block] = order.n - 1;
            order.position[block] = n_left++;
            depth--;
        }
    }
    for (uint32_t i = 0; i < order.n; i++) {
        uint32_t block = order.preorder[i];
        order.position[block] = order.n - 1 - order.position[block];
        order.topological[order.position[block]] = block;
    }
    mark_retreating(cfg, &order);
    return order;
}
