/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement: Kruskal's algorithm on falling weights. The edges left over carry the counters. Solution: at a leaf of the
 * tree every edge but one is known, and flow conservation gives that one; take the leaf off and go on. The order is
 * found once by a breadth-first search over the tree, so that solving is one sweep over blocks and one over edges.
 *
 * Weights: Ball and Larus' static estimate ("Optimally profiling and tracing programs", section 6.2), in one traversal
 * in topological order without back edges:
 *  1. a block weighs the sum of its incoming edges that are not back edges (the root: 1);
 *  2. a head of weight W gives each exit of its loop W / (number of exits), unless the edge has a weight already;
 *  3. a block then shares out its weight (a head: ten times its weight) over its other outgoing edges alike, after
 *     taking off what its own loop-exit edges were given.
 * And one rule of ours: where the test of a loop that counts its iterations was copied to before the loop, the way past
 * the loop is given the tenth of its block that an exit of the loop would be given.
 */
#include "wrap/flow/knuth.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

struct candidate {
    uint32_t edge;
    bool is_fixed;
    double weight;
};

/* Fixed edges first, then heavy ones. The edge number makes the order total. */
static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return order_of(b->is_fixed, a->is_fixed) ?: order_of(b->weight, a->weight) ?: order_of(a->edge, b->edge);
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

bool knuth_build(struct cfg *cfg, uint32_t exit, const unsigned char *is_counted, struct knuth_tree *tree)
{
    uint32_t *leader = new_leaders(cfg);
    join(leader, exit, cfg->root);
    for (size_t e = 0; e < cfg->edges.n; e++)
        if (!is_counted[e] && !join(leader, cfg->edges.at[e].from, cfg->edges.at[e].to))
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
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t kept = tree->order[i];
        tree->order[i] = tree->order[n - 1 - i];
        tree->order[n - 1 - i] = kept;
    }
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

enum { LOOP_MULTIPLIER = 10, LONGEST_WAY = 4 /* blocks: between a test and its loop stand one or two */ };
static const double UNASSIGNED = -1;

/* The block that follows this one and nothing else, or none. */
static uint32_t only_successor(const struct cfg *cfg, uint32_t block)
{
    uint32_t first = cfg->out_at[block];
    return cfg->out_at[block + 1] - first == 1 ? cfg->edges.at[cfg->out[first]].to : CFG_NONE;
}

/* A way that branches nowhere leads from `from` to `to`. */
static bool leads_straight_to(const struct cfg *cfg, uint32_t from, uint32_t to)
{
    for (int n = 0; n < LONGEST_WAY && from != CFG_NONE; n++, from = only_successor(cfg, from))
        if (from == to)
            return true;
    return false;
}

/* The loop outside of `from` into which the edge leads, or none. */
static uint32_t loop_entered(const struct cfg *cfg, const struct cfg_loops *loops, uint32_t edge)
{
    uint32_t at = cfg->edges.at[edge].to;
    for (int n = 0; n < LONGEST_WAY && at != CFG_NONE; n++, at = only_successor(cfg, at)) {
        uint32_t l = loops->innermost[at];
        if (l != CFG_NONE && loops->at[l].head == at)
            return cfg_loop_contains(loops, l, cfg->edges.at[edge].from) ? CFG_NONE : l;
    }
    return CFG_NONE;
}

/* The edge leads into a loop that counts, and the other one to where that loop ends. */
static bool enters_guarded_loop(const struct cfg *cfg, const struct cfg_loops *loops, const unsigned char *is_counting,
                                uint32_t edge, uint32_t other)
{
    uint32_t l = loop_entered(cfg, loops, edge);
    if (l == CFG_NONE || !is_counting[l])
        return false;
    for (uint32_t i = 0; i < loops->at[l].n_exits; i++)
        if (leads_straight_to(cfg, cfg->edges.at[loops->at[l].exits[i]].to, cfg->edges.at[other].to))
            return true;
    return false;
}

static void weigh_guard(const struct cfg *cfg, const struct cfg_loops *loops, const unsigned char *is_counting,
                        uint32_t block, double weight, double *weights)
{
    const uint32_t *out = cfg->out + cfg->out_at[block];
    if (cfg->out_at[block + 1] - cfg->out_at[block] != 2 || weights[out[0]] >= 0 || weights[out[1]] >= 0)
        return;
    for (int i = 0; i < 2; i++)
        if (enters_guarded_loop(cfg, loops, is_counting, out[i], out[1 - i])) {
            weights[out[1 - i]] = weight / LOOP_MULTIPLIER;
            return;
        }
}

static void share_out(const struct cfg *cfg, uint32_t block, double weight, double *weights)
{
    uint32_t n_others = 0;
    for (uint32_t i = cfg->out_at[block]; i < cfg->out_at[block + 1]; i++) {
        double given = weights[cfg->out[i]];
        n_others += given < 0;
        weight -= given < 0 ? 0 : given;
    }
    for (uint32_t i = cfg->out_at[block]; i < cfg->out_at[block + 1]; i++)
        if (weights[cfg->out[i]] < 0)
            weights[cfg->out[i]] = weight > 0 ? weight / n_others : 0;
}

double *knuth_weights(struct cfg *cfg, const struct cfg_loops *loops, const unsigned char *is_counting)
{
    double *weights = arena_array(&cfg->arena, double, cfg->edges.n);
    for (size_t e = 0; e < cfg->edges.n; e++)
        weights[e] = UNASSIGNED;
    for (uint32_t i = 0; i < loops->order.n; i++) {
        uint32_t block = loops->order.topological[i], l = loops->innermost[block];
        double weight = block == cfg->root ? 1 : 0;
        for (uint32_t k = cfg->in_at[block]; k < cfg->in_at[block + 1]; k++) {
            uint32_t edge = cfg->in[k];
            if (!loops->order.is_retreating[edge] && weights[edge] >= 0)
                weight += weights[edge];
        }
        if (l != CFG_NONE && loops->at[l].head == block) {
            for (uint32_t k = 0; k < loops->at[l].n_exits; k++)
                if (weights[loops->at[l].exits[k]] < 0)
                    weights[loops->at[l].exits[k]] = weight / loops->at[l].n_exits;
            weight *= LOOP_MULTIPLIER;
        }
        if (is_counting)
            weigh_guard(cfg, loops, is_counting, block, weight, weights);
        share_out(cfg, block, weight, weights);
    }
    for (size_t e = 0; e < cfg->edges.n; e++)
        if (weights[e] < 0)
            weights[e] = 0; /* not reached */
    return weights;
}
