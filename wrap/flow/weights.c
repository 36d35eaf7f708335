/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ball and Larus' static estimate ("Optimally profiling and tracing programs", section 6.2), in one traversal in
 * topological order without back edges:
 *  1. a block weighs the sum of its incoming edges that are not back edges (the root: 1);
 *  2. a head of weight W gives each exit of its loop W / (number of exits), unless the edge has a weight already;
 *  3. a block then shares out its weight (a head: ten times its weight) over its other outgoing edges alike, after
 *     taking off what its own loop-exit edges were given.
 */
#include "wrap/flow/knuth.h"

enum { LOOP_MULTIPLIER = 10 };
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

double *knuth_weights(struct cfg *cfg, const struct cfg_loops *loops)
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
        share_out(cfg, block, weight, weights);
    }
    for (size_t e = 0; e < cfg->edges.n; e++)
        if (weights[e] < 0)
            weights[e] = 0; /* not reached */
    return weights;
}
