/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solving is linear: the executions of a block in an interval are a sum over the counters and the frames in flight,
 * each with a whole factor that follows from the graph alone. The factors of one counter are what solving gives for
 * that counter at 1 and everything else at 0 (some blocks then run a negative number of times, which is right for a
 * factor).
 */
#include "analyze/counts/table.h"
#include <string.h>

static void add_effect(struct counts_effects *effects, uint32_t block, int64_t executions)
{
    if (executions)
        *vec_push(effects) = (struct counts_effect){.block = block, .executions = executions};
}

static void effects_of_unit(struct counts *counts, uint32_t f, struct counts_effects *effects)
{
    const struct counts_function *function = &counts->functions[f];
    const struct knuth_tree *tree = counts_tree(counts, f);
    int64_t calls = 0;
    uint32_t fault;
    if (!tree->n)
        return;
    knuth_solve(&function->cfg, tree, counts->parked, counts->edge_counts, &calls, counts->excess, &fault);
    for (uint32_t b = 0; b < function->cfg.n_blocks; b++)
        if (b != 1 && b != function->dispatcher)
            add_effect(effects, b, counts_entries(counts, f, b, calls));
}

uint32_t counts_point_effects(struct counts *counts, uint32_t point, struct counts_effects *effects)
{
    effects->n = 0;
    if (point >= POINTS_GONE_FRAME)
        return counts_frame_effects(counts, point - POINTS_GONE_FRAME, effects);
    uint32_t f = counts_function_of(counts, point);
    if (f == CFG_NONE)
        return CFG_NONE;
    const struct counts_function *function = &counts->functions[f];
    uint32_t counter = point - function->first_point;
    if (function->flags & POINTS_F_EVERY_BLOCK) {
        if (counter + 2 < function->n_blocks)
            add_effect(effects, counter + 2, 1);
        return f;
    }
    counts_tree(counts, f);
    for (size_t e = 0; e < function->cfg.edges.n; e++)
        counts->edge_counts[e] = counts->is_counted[f][e] && function->edges[e].counter == counter;
    effects_of_unit(counts, f, effects);
    return f;
}

uint32_t counts_frame_effects(struct counts *counts, uint64_t return_address, struct counts_effects *effects)
{
    uint32_t f, block;
    effects->n = 0;
    if (!counts_parked_at(counts, return_address, &f, &block))
        return CFG_NONE;
    const struct counts_function *function = &counts->functions[f];
    if (function->flags & POINTS_F_EVERY_BLOCK)
        return f;
    counts_tree(counts, f);
    memset(counts->edge_counts, 0, function->cfg.edges.n * sizeof *counts->edge_counts);
    counts->parked[block] = 1;
    effects_of_unit(counts, f, effects);
    counts->parked[block] = 0;
    return f;
}
