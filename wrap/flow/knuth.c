/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement: Kruskal's algorithm on falling weights; the edges left over carry the counters. Solution: at a leaf of the
 * tree every edge but one is known, and flow conservation gives that one; take the leaf off and go on. The order is
 * found once by a breadth-first search over the tree, so that solving is one sweep over blocks and one over edges.
 */
#include "wrap/flow/knuth.h"
#include "wrap/base/err.h"
#include <stdlib.h>

struct candidate {
    uint32_t edge;
    bool is_fixed;
    double weight;
};

/* Fixed edges first, then heavy ones; the edge number makes the order total. */
static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->is_fixed != b->is_fixed)
        return a->is_fixed ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->edge < b->edge ? -1 : a->edge > b->edge;
}

static uint32_t find(uint32_t *leader, uint32_t block)
{
    while (leader[block] != block)
        block = leader[block] = leader[leader[block]];
    return block;
}

/* False when both ends were in one tree already. */
static bool join(uint32_t *leader, uint32_t a, uint32_t b)
{
    a = find(leader, a);
    b = find(leader, b);
    leader[a] = b;
    return a != b;
}

static uint32_t *new_leaders(struct cfg *cfg)
{
    uint32_t *leader = arena_array(&cfg->arena, uint32_t, cfg->n_blocks);
    for (uint32_t b = 0; b < cfg->n_blocks; b++)
        leader[b] = b;
    return leader;
}

uint32_t knuth_place(struct cfg *cfg, uint32_t exit, const double *weights, const unsigned char *is_fixed,
                     unsigned char *is_counted)
{
    size_t n = cfg->edges.n;
    struct candidate *candidates = arena_array(&cfg->arena, struct candidate, n);
    for (uint32_t e = 0; e < n; e++)
        candidates[e] = (struct candidate){e, is_fixed && is_fixed[e], weights[e]};
    qsort(candidates, n, sizeof *candidates, compare_candidates);
    uint32_t *leader = new_leaders(cfg);
    uint32_t n_joined = join(leader, exit, cfg->root), n_counted = 0;
    for (size_t i = 0; i < n; i++) {
        const struct cfg_edge *edge = &cfg->edges.at[candidates[i].edge];
        bool is_in_tree = join(leader, edge->from, edge->to);
        is_counted[candidates[i].edge] = !is_in_tree;
        n_joined += is_in_tree;
        n_counted += !is_in_tree;
        if (!is_in_tree && candidates[i].is_fixed)
            return CFG_NONE;
    }
    if (n_joined > cfg->n_blocks - 1 || n_counted + n_joined != n + (exit != cfg->root))
        bug("a spanning tree of %u blocks has %u edges", cfg->n_blocks, n_joined);
    return n_counted;
}

/* The tree's edges by block, as a graph of its own: edge 2e goes along edge e, 2e + 1 against it. */
static void link_tree(struct cfg *cfg, uint32_t exit, const unsigned char *is_counted, struct cfg *both,
                      uint32_t *which)
{
    for (uint32_t e = 0; e < cfg->edges.n; e++) {
        if (is_counted[e])
            continue;
        which[cfg_add_edge(both, cfg->edges.at[e].from, cfg->edges.at[e].to)] = e;
        which[cfg_add_edge(both, cfg->edges.at[e].to, cfg->edges.at[e].from)] = e;
    }
    if (exit != cfg->root) {
        which[cfg_add_edge(both, exit, cfg->root)] = KNUTH_CALLS;
        which[cfg_add_edge(both, cfg->root, exit)] = KNUTH_CALLS;
    }
    cfg_finish(both);
}

static bool has_cycle(struct cfg *cfg, uint32_t exit, const unsigned char *is_counted)
{
    uint32_t *leader = new_leaders(cfg);
    join(leader, exit, cfg->root);
    for (size_t e = 0; e < cfg->edges.n; e++)
        if (!is_counted[e] && !join(leader, cfg->edges.at[e].from, cfg->edges.at[e].to))
            return true;
    return false;
}

/* Appends the blocks of one tree to the order, root first. */
static uint32_t walk_tree(const struct cfg *both, const uint32_t *which, struct knuth_tree *tree, uint32_t n,
                          uint32_t root, bool *is_seen)
{
    uint32_t head = n;
    tree->order[n++] = root;
    tree->parent[root] = KNUTH_ROOT;
    is_seen[root] = true;
    for (; head < n; head++) {
        uint32_t block = tree->order[head];
        for (uint32_t i = both->out_at[block]; i < both->out_at[block + 1]; i++) {
            uint32_t to = both->edges.at[both->out[i]].to;
            if (is_seen[to])
                continue;
            is_seen[to] = true;
            tree->parent[to] = which[both->out[i]];
            tree->order[n++] = to;
        }
    }
    return n;
}

static void reverse(uint32_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t kept = values[i];
        values[i] = values[n - 1 - i];
        values[n - 1 - i] = kept;
    }
}

bool knuth_build(struct cfg *cfg, uint32_t exit, const unsigned char *is_counted, struct knuth_tree *tree)
{
    if (has_cycle(cfg, exit, is_counted))
        return false;
    struct cfg both;
    cfg_init(&both, cfg->n_blocks, cfg->root);
    uint32_t *which = arena_array(&both.arena, uint32_t, 2 * cfg->edges.n + 2);
    bool *is_seen = arena_array(&both.arena, bool, cfg->n_blocks);
    link_tree(cfg, exit, is_counted, &both, which);
    *tree = (struct knuth_tree){.exit = exit,
                                .is_counted = is_counted,
                                .n = cfg->n_blocks,
                                .order = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
                                .parent = arena_array(&cfg->arena, uint32_t, cfg->n_blocks)};
    uint32_t n = 0;
    for (uint32_t b = 0; b < cfg->n_blocks; b++)
        if (!is_seen[b])
            n = walk_tree(&both, which, tree, n, b, is_seen);
    reverse(tree->order, n);
    cfg_release(&both);
    return true;
}

/* In excess: what came into a block over counted edges, less what left it and what is parked in it. */
static void start_excess(const struct cfg *cfg, const struct knuth_tree *tree, const int64_t *parked,
                         const int64_t *count, int64_t *excess)
{
    int64_t n_parked = 0;
    for (uint32_t b = 0; b < cfg->n_blocks; b++) {
        int64_t here = parked && b != tree->exit ? parked[b] : 0;
        excess[b] = -here;
        n_parked += here;
    }
    excess[tree->exit] = n_parked; /* a call that did not come back did not pass EXIT */
    for (size_t e = 0; e < cfg->edges.n; e++) {
        if (!tree->is_counted[e])
            continue;
        excess[cfg->edges.at[e].to] += count[e];
        excess[cfg->edges.at[e].from] -= count[e];
    }
}

bool knuth_solve(const struct cfg *cfg, const struct knuth_tree *tree, const int64_t *parked, int64_t *count,
                 int64_t *calls, int64_t *excess, uint32_t *fault)
{
    uint32_t first_fault = 0;
    bool is_sound = true;
    start_excess(cfg, tree, parked, count, excess);
    *calls = 0;
    for (uint32_t i = 0; i < tree->n; i++) {
        uint32_t block = tree->order[i], edge = tree->parent[block];
        struct cfg_edge ends = {tree->exit, cfg->root};
        if (edge < cfg->edges.n)
            ends = cfg->edges.at[edge];
        int64_t flow = edge == KNUTH_ROOT ? -llabs(excess[block]) : ends.to == block ? -excess[block] : excess[block];
        if (flow < 0 && is_sound) {
            is_sound = false;
            first_fault = edge;
        }
        if (edge == KNUTH_ROOT)
            continue;
        *(edge == KNUTH_CALLS ? calls : &count[edge]) = flow;
        excess[ends.to == block ? ends.from : ends.to] += ends.to == block ? -flow : flow;
    }
    if (!is_sound)
        *fault = first_fault;
    return is_sound;
}
