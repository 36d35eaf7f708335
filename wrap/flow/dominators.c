/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Immediate dominators by iteration to the fixed point in topological order (Cooper, Harvey, Kennedy: "A simple, fast
 * dominance algorithm"). A reducible graph needs two rounds; irreducible ones a few more.
 */
#include "wrap/flow/cfg.h"
#include <string.h>

/* The nearest common dominator of two blocks, as far as known: climb from the later one. */
static uint32_t intersect(const uint32_t *idom, const uint32_t *position, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (position[a] > position[b])
            a = idom[a];
        while (position[b] > position[a])
            b = idom[b];
    }
    return a;
}

static uint32_t meet_of_predecessors(const struct cfg *cfg, const struct cfg_order *order, const uint32_t *idom,
                                     uint32_t block)
{
    uint32_t meet = CFG_NONE;
    for (uint32_t i = cfg->in_at[block]; i < cfg->in_at[block + 1]; i++) {
        uint32_t from = cfg->edges.at[cfg->in[i]].from;
        if (idom[from] == CFG_NONE)
            continue; /* not reached, or not yet */
        meet = meet == CFG_NONE ? from : intersect(idom, order->position, meet, from);
    }
    return meet;
}

uint32_t *cfg_dominators(struct cfg *cfg, const struct cfg_order *order)
{
    uint32_t *idom = arena_array(&cfg->arena, uint32_t, cfg->n_blocks);
    memset(idom, 0xff, cfg->n_blocks * sizeof *idom);
    if (!order->n)
        return idom;
    idom[cfg->root] = cfg->root;
    for (bool is_stable = false; !is_stable;) {
        is_stable = true;
        for (uint32_t i = 1; i < order->n; i++) {
            uint32_t block = order->topological[i];
            uint32_t meet = meet_of_predecessors(cfg, order, idom, block);
            is_stable &= meet == idom[block];
            idom[block] = meet;
        }
    }
    return idom;
}

bool cfg_dominates(const uint32_t *idom, const struct cfg_order *order, uint32_t dominator, uint32_t block)
{
    while (order->position[block] > order->position[dominator])
        block = idom[block];
    return block == dominator;
}
