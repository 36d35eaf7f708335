/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One interval: bins go to their functions, frames to their blocks, and each function concerned is solved by itself. A
 * function without a bin can be concerned too. It moved from one call to the next over edges that carry no counter.
 */
#include "analyze/counts/counts.h"
#include "analyze/counts/table.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

/* The function that a point belongs to, or CFG_NONE. */
static uint32_t function_of(const struct counts *counts, uint32_t point)
{
    uint32_t low = 0, high = counts->n_functions;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (counts->functions[middle].first_point <= point)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || point - counts->functions[low - 1].first_point >= counts->functions[low - 1].n_counters)
        return CFG_NONE;
    return low - 1;
}

const struct counts_alloc *counts_alloc_at(const struct counts *counts, uint32_t point, uint32_t *function)
{
    *function = function_of(counts, point);
    if (*function == CFG_NONE)
        return NULL;
    const struct counts_function *f = &counts->functions[*function];
    uint32_t counter = point - f->first_point, n_edges = f->n_counters - f->n_allocs;
    return counter >= n_edges ? &f->allocs[counter - n_edges] : NULL;
}

static uint32_t touch(struct counts *counts, uint32_t function, uint32_t n_touched)
{
    if (counts->is_touched[function])
        return n_touched;
    counts->is_touched[function] = true;
    counts->touched[n_touched] = function;
    return n_touched + 1;
}

bool counts_parked_at(const struct counts *counts, uint64_t return_address, uint32_t *function, uint32_t *block)
{
    size_t low = 0, high = counts->n_returns;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (counts->returns[middle].address < return_address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == counts->n_returns || counts->returns[low].address != return_address || counts->returns[low].has_left)
        return false;
    *function = counts->returns[low].function;
    *block = counts->returns[low].block;
    return true;
}

static void make_scratch(struct counts *counts)
{
    if (counts->values)
        return;
    size_t n_edges = 0, n_blocks = 0;
    for (uint32_t f = 0; f < counts->n_functions; f++) {
        const struct cfg *cfg = &counts->functions[f].cfg;
        n_edges = cfg->edges.n > n_edges ? cfg->edges.n : n_edges;
        n_blocks = cfg->n_blocks > n_blocks ? cfg->n_blocks : n_blocks;
    }
    counts->values = arena_array(&counts->arena, uint64_t, counts->n_points);
    counts->is_touched = arena_array(&counts->arena, bool, counts->n_functions);
    counts->touched = arena_array(&counts->arena, uint32_t, counts->n_functions);
    counts->edge_counts = arena_array(&counts->arena, int64_t, n_edges);
    counts->parked = arena_array(&counts->arena, int64_t, n_blocks);
    counts->excess = arena_array(&counts->arena, int64_t, n_blocks);
    counts->trees = arena_array(&counts->arena, struct knuth_tree *, counts->n_functions);
    counts->is_counted = arena_array(&counts->arena, unsigned char *, counts->n_functions);
}

/* The function's spanning tree, empty when its table is damaged; from then on there is scratch. */
static const struct knuth_tree *tree_of(struct counts *counts, uint32_t f)
{
    make_scratch(counts);
    if (counts->trees[f])
        return counts->trees[f];
    struct counts_function *function = &counts->functions[f];
    counts->is_counted[f] = arena_array(&counts->arena, unsigned char, function->cfg.edges.n);
    for (size_t e = 0; e < function->cfg.edges.n; e++)
        counts->is_counted[f][e] = function->edges[e].counter != POINTS_NONE;
    counts->trees[f] = arena_new(&counts->arena, struct knuth_tree);
    if (!knuth_build(&function->cfg, 1, counts->is_counted[f], counts->trees[f]))
        counts->trees[f]->n = 0;
    return counts->trees[f];
}

static uint64_t value_of(const struct counts *counts, const struct counts_function *function, uint32_t counter)
{
    return counts->values[function->first_point + counter];
}

static void add_row(struct counts_result *result, uint32_t f, uint32_t block, uint64_t executions)
{
    if (executions)
        *vec_push(&result->rows) = (struct counts_row){f, block, executions};
}

/* From edge_counts: a block is executed as often as it is entered. The root, as often as the function is called. */
static int64_t entries_of(const struct counts *counts, uint32_t f, uint32_t block, int64_t calls)
{
    const struct cfg *cfg = &counts->functions[f].cfg;
    int64_t executions = block == 0 ? calls : 0;
    for (uint32_t i = cfg->in_at[block]; i < cfg->in_at[block + 1]; i++)
        executions += counts->edge_counts[cfg->in[i]];
    return executions;
}

/* False when they are more than any run can count. Below that nothing overflows: each flow is a sum of some of them. */
static bool set_edge_counts(struct counts *counts, uint32_t f)
{
    static const uint64_t largest_sum = INT64_MAX / 8;
    struct counts_function *function = &counts->functions[f];
    uint64_t sum = 0;
    for (size_t e = 0; e < function->cfg.edges.n; e++) {
        if (!counts->is_counted[f][e])
            continue;
        uint64_t value = value_of(counts, function, function->edges[e].counter);
        if (value > largest_sum - sum)
            return false;
        sum += value;
        counts->edge_counts[e] = (int64_t)value;
    }
    return true;
}

static void solve_edges(struct counts *counts, uint32_t f, struct counts_result *result)
{
    struct counts_function *function = &counts->functions[f];
    const struct knuth_tree *tree = tree_of(counts, f);
    bool has_sane_sum = set_edge_counts(counts, f);
    int64_t calls;
    uint32_t fault;
    if (tree->n && has_sane_sum &&
        knuth_solve(&function->cfg, tree, counts->parked, counts->edge_counts, &calls, counts->excess, &fault)) {
        for (uint32_t b = 0; b < counts->functions[f].cfg.n_blocks; b++)
            if (b != 1 && b != counts->functions[f].dispatcher)
                add_row(result, f, b, (uint64_t)entries_of(counts, f, b, calls));
        if (result->keeps_flows) {
            *vec_push(&result->flows) = (struct counts_flow){f, result->edge_counts.n, calls};
            for (size_t e = 0; e < counts->functions[f].cfg.edges.n; e++)
                *vec_push(&result->edge_counts) = counts->edge_counts[e];
        }
    } else {
        *vec_push(&result->faults) = (struct counts_fault){f};
    }
}

static void solve_one(struct counts *counts, uint32_t f, struct counts_result *result)
{
    const struct counts_function *function = &counts->functions[f];
    if (function->flags & POINTS_F_EVERY_BLOCK) {
        for (uint32_t b = 2; b < function->n_blocks; b++)
            add_row(result, f, b, value_of(counts, function, b - 2));
    } else {
        solve_edges(counts, f, result);
    }
    for (uint32_t i = 0; i < function->n_allocs; i++) {
        uint64_t bytes = value_of(counts, function, function->n_counters - function->n_allocs + i);
        if (bytes)
            *vec_push(&result->bytes) = (struct counts_bytes){f, i, bytes};
    }
}

/* A frame with its block looked up; in the order of functions. */
struct parked {
    uint32_t function, block;
    int64_t n;
};

struct parked_list {
    struct parked *at;
    size_t n, cap;
};

static void park(const struct counts *counts, uint64_t return_address, int64_t n, struct parked_list *list)
{
    struct parked parked = {.n = n};
    if (counts_parked_at(counts, return_address, &parked.function, &parked.block))
        *vec_push(list) = parked;
}

/* The frames in flight, and those that a longjmp removed. They stay where they were. */
static void look_up_frames(const struct counts *counts, const struct counts_bin *bins, size_t n_bins,
                           const struct counts_frame *frames, size_t n_frames, struct parked_list *list)
{
    for (size_t i = 0; i < n_frames; i++)
        park(counts, frames[i].return_address, frames[i].sign, list);
    for (size_t i = 0; i < n_bins; i++)
        if (bins[i].point >= POINTS_UNWOUND_FRAME)
            park(counts, bins[i].point - POINTS_UNWOUND_FRAME, (int64_t)(bins[i].value & INT32_MAX), list);
    if (list->n)
        qsort(list->at, list->n, sizeof *list->at, key_order_u32);
}

static void add_parked(struct counts *counts, const struct parked_list *list, size_t first, size_t end, int64_t factor)
{
    for (size_t i = first; i < end; i++)
        counts->parked[list->at[i].block] += factor * list->at[i].n;
}

void counts_solve(struct counts *counts, const struct counts_bin *bins, size_t n_bins,
                  const struct counts_frame *frames, size_t n_frames, struct counts_result *result)
{
    make_scratch(counts);
    result->rows.n = result->bytes.n = result->faults.n = result->flows.n = result->edge_counts.n = 0;
    struct parked_list parked = {0};
    look_up_frames(counts, bins, n_bins, frames, n_frames, &parked);
    size_t p = 0;
    uint32_t n_touched = 0;
    for (size_t i = 0; i < n_bins; i++) {
        uint32_t f = function_of(counts, bins[i].point);
        if (f == CFG_NONE)
            continue;
        counts->values[bins[i].point] += bins[i].value;
        n_touched = touch(counts, f, n_touched);
    }
    for (size_t i = 0; i < parked.n; i++)
        n_touched = touch(counts, parked.at[i].function, n_touched);
    qsort(counts->touched, n_touched, sizeof *counts->touched, key_order_u32);
    for (uint32_t i = 0; i < n_touched; i++) {
        uint32_t f = counts->touched[i];
        size_t first = p;
        while (p < parked.n && parked.at[p].function == f)
            p++;
        add_parked(counts, &parked, first, p, 1);
        solve_one(counts, f, result);
        add_parked(counts, &parked, first, p, -1);
        const struct counts_function *function = &counts->functions[f];
        memset(counts->values + function->first_point, 0, function->n_counters * sizeof *counts->values);
        counts->is_touched[f] = false;
    }
    vec_release(&parked);
}

/*
 * Solving is linear: the executions of a block in an interval are a sum over the counters and the frames in flight,
 * each with a whole factor that follows from the graph alone. The factors of one counter are what solving gives for
 * that counter at 1 and everything else at 0 (some blocks then run a negative number of times, which is right for a
 * factor).
 */

static void add_effect(struct counts_effects *effects, uint32_t block, int64_t executions)
{
    if (executions)
        *vec_push(effects) = (struct counts_effect){.block = block, .executions = executions};
}

static void effects_of_unit(struct counts *counts, uint32_t f, struct counts_effects *effects)
{
    const struct counts_function *function = &counts->functions[f];
    const struct knuth_tree *tree = tree_of(counts, f);
    int64_t calls = 0;
    uint32_t fault;
    if (!tree->n)
        return;
    knuth_solve(&function->cfg, tree, counts->parked, counts->edge_counts, &calls, counts->excess, &fault);
    for (uint32_t b = 0; b < function->cfg.n_blocks; b++)
        if (b != 1 && b != function->dispatcher)
            add_effect(effects, b, entries_of(counts, f, b, calls));
}

uint32_t counts_point_effects(struct counts *counts, uint32_t point, struct counts_effects *effects)
{
    effects->n = 0;
    if (point >= POINTS_UNWOUND_FRAME)
        return counts_frame_effects(counts, point - POINTS_UNWOUND_FRAME, effects);
    uint32_t f = function_of(counts, point);
    if (f == CFG_NONE)
        return CFG_NONE;
    const struct counts_function *function = &counts->functions[f];
    uint32_t counter = point - function->first_point;
    if (function->flags & POINTS_F_EVERY_BLOCK) {
        if (counter + 2 < function->n_blocks)
            add_effect(effects, counter + 2, 1);
        return f;
    }
    tree_of(counts, f);
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
    tree_of(counts, f);
    memset(counts->edge_counts, 0, function->cfg.edges.n * sizeof *counts->edge_counts);
    counts->parked[block] = 1;
    effects_of_unit(counts, f, effects);
    counts->parked[block] = 0;
    return f;
}
