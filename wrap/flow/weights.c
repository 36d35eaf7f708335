/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ball and Larus' static estimate ("Optimally profiling and tracing programs", section 6.2), in one traversal in
 * topological order without back edges:
 *  1. a block weighs the sum of its incoming edges that are not back edges (the root: 1);
 *  2. a head of weight W gives each exit of its loop W / (number of exits), unless the edge has a weight already;
 *  3. a block then shares out its weight (a head: ten times its weight) over its other outgoing edges alike, after
 *     taking off what its own loop-exit edges were given.
 * And one rule of ours: where the test of a loop that counts its iterations was copied to before the loop, the way past
 * the loop is given the tenth of its block that an exit of the loop would be given.
 */
#include "wrap/flow/knuth.h"

enum { LOOP_MULTIPLIER = 10, LONGEST_WAY = 4 /* blocks: between a test and its loop stand one or two */ };
static const double UNASSIGNED = -1;

static double block_weight(const struct cfg *cfg, const struct cfg_order *order, const double *weights, uint32_t block)
{
    double sum = block == cfg->root ? 1 : 0;
    for (uint32_t i = cfg->in_at[block]; i < cfg->in_at[block + 1]; i++) {
        uint32_t edge = cfg->in[i];
        if (!order->is_retreating[edge] && weights[edge] >= 0)
            sum += weights[edge];
    }
    return sum;
}

static void weigh_exits(const struct cfg_loop *loop, double weight, double *weights)
{
    for (uint32_t i = 0; i < loop->n_exits; i++)
        if (weights[loop->exits[i]] < 0)
            weights[loop->exits[i]] = weight / loop->n_exits;
}

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
        double weight = block_weight(cfg, &loops->order, weights, block);
        if (l != CFG_NONE && loops->at[l].head == block) {
            weigh_exits(&loops->at[l], weight, weights);
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
