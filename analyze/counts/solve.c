/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One interval: bins go to their functions, frames to their blocks, and each function concerned is solved by itself. A
 * function without a bin can be concerned too. It moved from one call to the next over edges that carry no counter.
 *
 * Some functions leave it to their callers to count calls. Their callers are solved before them and hand on how often
 * each site called. These calls then stand in for a counted edge from EXIT to the root.
 */
#include "analyze/counts/counts.h"
#include "analyze/counts/table.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

/* The function that a point belongs to, or CFG_NONE. */
static uint32_t function_of(const struct counts *counts, uint32_t point)
{
    uint32_t low = 0;
    bisect(low, counts->n_functions, counts->functions[counts->by_point[low]].first_point <= point);
    uint32_t f = low ? counts->by_point[low - 1] : CFG_NONE;
    if (f == CFG_NONE || point - counts->functions[f].first_point >= counts->functions[f].n_counters)
        return CFG_NONE;
    return f;
}

const struct counts_alloc *counts_alloc_at(const struct counts *counts, uint32_t point, uint32_t *function)
{
    *function = function_of(counts, point);
    if (*function >= counts->n_shown)
        return NULL;
    const struct counts_function *f = &counts->functions[*function];
    uint32_t counter = point - f->first_point, n_edges = f->n_counters - f->n_allocs;
    return counter >= n_edges ? &f->allocs[counter - n_edges] : NULL;
}

/* The function is concerned, and waits for its turn among callers and called. */
static void touch(struct counts *counts, uint32_t function)
{
    if (counts->is_touched[function])
        return;
    counts->is_touched[function] = true;
    counts->touched[counts->n_touched++] = function;
    heap_push(&counts->pending, counts->rank[function], function);
}

/* The next one, callers first. False when there is none. */
static bool next_pending(struct counts *counts, uint32_t *function)
{
    struct heap *pending = &counts->pending;
    if (!pending->n)
        return false;
    *function = pending->items[0].stream;
    pending->items[0] = pending->items[--pending->n];
    if (pending->n)
        heap_sift_down(pending);
    return true;
}

static bool find_parked(const struct counts *counts, uint64_t return_address, uint32_t *function, uint32_t *block)
{
    size_t low = 0;
    bisect(low, counts->n_returns, counts->returns[low].address < return_address);
    if (low == counts->n_returns || counts->returns[low].address != return_address || counts->returns[low].has_left)
        return false;
    *function = counts->returns[low].function;
    *block = counts->returns[low].block;
    return true;
}

bool counts_parked_at(const struct counts *counts, uint64_t return_address, uint32_t *function, uint32_t *block)
{
    return find_parked(counts, return_address, function, block) && *function < counts->n_shown;
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
    counts->calls = arena_array(&counts->arena, int64_t, counts->n_functions);
    counts->is_unknown = arena_array(&counts->arena, bool, counts->n_functions);
}

/* Blocks of every graph. */
enum { ROOT = BLOCK_ROOT, EXIT = BLOCK_EXIT };

static bool is_called_by_site(const struct counts_function *function)
{
    return function->flags & POINTS_F_CALLED;
}

/* The function's spanning tree, empty when its table is damaged; from then on there is scratch. The edge from EXIT to
 * the root is in it, unless it is counted elsewhere. */
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
    uint32_t exit = is_called_by_site(function) ? ROOT : EXIT;
    if (!knuth_build(&function->cfg, exit, counts->is_counted[f], counts->trees[f]))
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
    int64_t executions = block == ROOT ? calls : 0;
    for (uint32_t i = cfg->in_at[block]; i < cfg->in_at[block + 1]; i++)
        executions += counts->edge_counts[cfg->in[i]];
    return executions;
}

/* More than any run can count. Below that nothing overflows: each flow is a sum of some of them. */
static const uint64_t LARGEST_SUM = INT64_MAX / 8;

/* False when they are more than that. */
static bool set_edge_counts(struct counts *counts, uint32_t f)
{
    struct counts_function *function = &counts->functions[f];
    uint64_t sum = (uint64_t)llabs(counts->calls[f]);
    if (sum > LARGEST_SUM)
        return false;
    for (size_t e = 0; e < function->cfg.edges.n; e++) {
        if (!counts->is_counted[f][e])
            continue;
        uint64_t value = value_of(counts, function, function->edges[e].counter);
        if (value > LARGEST_SUM - sum)
            return false;
        sum += value;
        counts->edge_counts[e] = (int64_t)value;
    }
    return true;
}

/* The calls that the callers counted leave EXIT, but for the frames that did not come there yet, for the root. */
static int64_t exit_through_root(const struct counts *counts, uint32_t f)
{
    int64_t leave = counts->calls[f];
    for (uint32_t b = 0; b < counts->functions[f].cfg.n_blocks; b++)
        leave -= b == EXIT ? 0 : counts->parked[b];
    return leave;
}

/* Fills in edge_counts and the calls, from values, parked and the calls that the callers counted. False when these
 * contradict each other, or are not to be solved. */
static bool solve_flow(struct counts *counts, uint32_t f, int64_t *calls)
{
    const struct counts_function *function = &counts->functions[f];
    const struct knuth_tree *tree = tree_of(counts, f);
    int64_t parked_at_exit = counts->parked[EXIT];
    uint32_t fault;
    *calls = 0;
    if (!tree->n || !set_edge_counts(counts, f))
        return false;
    if (is_called_by_site(function))
        counts->parked[EXIT] = exit_through_root(counts, f);
    bool is_sound =
        knuth_solve(&function->cfg, tree, counts->parked, counts->edge_counts, calls, counts->excess, &fault);
    counts->parked[EXIT] = parked_at_exit;
    if (is_called_by_site(function))
        *calls = counts->calls[f];
    return is_sound && !counts->is_unknown[f];
}

/* Tells the callees how often they were called, as the flow says or, for what cannot be solved, that it is unknown. */
static void hand_on_calls(struct counts *counts, uint32_t f, bool is_known, int64_t calls)
{
    const struct counts_function *function = &counts->functions[f];
    for (uint32_t i = 0; i < function->calls.n_sites; i++) {
        const struct points_site *site = &function->sites[i];
        uint32_t callee = function->callees[i];
        if (callee == CFG_NONE)
            continue;
        int64_t n = !is_known                      ? 0
                    : site->counter != POINTS_NONE ? (int64_t)(value_of(counts, function, site->counter) & INT64_MAX)
                                                   : entries_of(counts, f, site->block, calls);
        counts->is_unknown[callee] |= !is_known || (uint64_t)llabs(n) > LARGEST_SUM;
        counts->calls[callee] = counts->is_unknown[callee] ? 0 : counts->calls[callee] + n;
        counts->is_unknown[callee] |= (uint64_t)llabs(counts->calls[callee]) > LARGEST_SUM;
        if (n || !is_known)
            touch(counts, callee);
    }
}

static void solve_edges(struct counts *counts, uint32_t f, struct counts_result *result)
{
    int64_t calls;
    if (!solve_flow(counts, f, &calls)) {
        *vec_push(&result->faults) = (struct counts_fault){f};
        return;
    }
    size_t n_rows = result->rows.n;
    for (uint32_t b = 0; b < counts->functions[f].cfg.n_blocks; b++)
        if (b != EXIT && b != counts->functions[f].dispatcher)
            add_row(result, f, b, (uint64_t)entries_of(counts, f, b, calls));
    if (result->keeps_flows && result->rows.n > n_rows) {
        *vec_push(&result->flows) = (struct counts_flow){f, result->edge_counts.n, calls};
        for (size_t e = 0; e < counts->functions[f].cfg.edges.n; e++)
            *vec_push(&result->edge_counts) = counts->edge_counts[e];
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
    if (find_parked(counts, return_address, &parked.function, &parked.block))
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
    vec_sort(list, key_order_u32);
}

/* The first frame of a function, or of one behind it. */
static size_t first_parked(const struct parked_list *list, uint32_t function)
{
    size_t low = 0;
    bisect(low, list->n, list->at[low].function < function);
    return low;
}

static void add_parked(struct counts *counts, const struct parked_list *list, uint32_t f, int64_t factor)
{
    for (size_t i = first_parked(list, f); i < list->n && list->at[i].function == f; i++)
        counts->parked[list->at[i].block] += factor * list->at[i].n;
}

/* Concerns the called functions as well. */
static void count_calls(struct counts *counts, const struct parked_list *parked)
{
    for (uint32_t f; next_pending(counts, &f);) {
        int64_t calls;
        if (!counts->functions[f].calls.n_sites)
            continue;
        add_parked(counts, parked, f, 1);
        bool is_known = solve_flow(counts, f, &calls);
        hand_on_calls(counts, f, is_known, calls);
        add_parked(counts, parked, f, -1);
    }
}

/* All scratch is zero again. */
static void untouch_all(struct counts *counts)
{
    for (uint32_t i = 0; i < counts->n_touched; i++) {
        uint32_t f = counts->touched[i];
        const struct counts_function *function = &counts->functions[f];
        memset(counts->values + function->first_point, 0, function->n_counters * sizeof *counts->values);
        counts->is_touched[f] = counts->is_unknown[f] = false;
        counts->calls[f] = 0;
    }
    counts->n_touched = 0;
    vec_free(counts->pending.items);
    counts->pending = (struct heap){0};
}

static void touch_all(struct counts *counts, const struct counts_bin *bins, size_t n_bins,
                      const struct parked_list *parked)
{
    for (size_t i = 0; i < n_bins; i++) {
        uint32_t f = function_of(counts, bins[i].point);
        if (f == CFG_NONE)
            continue;
        counts->values[bins[i].point] += bins[i].value;
        touch(counts, f);
    }
    for (size_t i = 0; i < parked->n; i++)
        touch(counts, parked->at[i].function);
}

void counts_solve(struct counts *counts, const struct counts_bin *bins, size_t n_bins,
                  const struct counts_frame *frames, size_t n_frames, struct counts_result *result)
{
    make_scratch(counts);
    result->rows.n = result->bytes.n = result->faults.n = result->flows.n = result->edge_counts.n = 0;
    struct parked_list parked = {0};
    look_up_frames(counts, bins, n_bins, frames, n_frames, &parked);
    touch_all(counts, bins, n_bins, &parked);
    count_calls(counts, &parked);
    qsort(counts->touched, counts->n_touched, sizeof *counts->touched, key_order_u32);
    for (uint32_t i = 0; i < counts->n_touched; i++) {
        uint32_t f = counts->touched[i];
        add_parked(counts, &parked, f, 1);
        if (f < counts->n_shown)
            solve_one(counts, f, result);
        add_parked(counts, &parked, f, -1);
    }
    untouch_all(counts);
    vec_release(&parked);
}

/*
 * Solving is linear: the executions of a block in an interval are a sum over the counters and the frames in flight,
 * each with a whole factor that follows from the graphs alone. The factors of one counter are what solving gives for
 * that counter at 1 and everything else at 0 (some blocks then run a negative number of times, which is right for a
 * factor).
 */

static void add_effects_on(struct counts *counts, uint32_t f, int64_t calls, struct counts_effects *effects)
{
    const struct counts_function *function = &counts->functions[f];
    for (uint32_t b = 0; b < function->cfg.n_blocks && f < counts->n_shown; b++) {
        int64_t executions = b == EXIT || b == function->dispatcher ? 0 : entries_of(counts, f, b, calls);
        if (executions)
            *vec_push(effects) = (struct counts_effect){f, b, executions};
    }
}

/* Behind many functions that call each other twice a factor grows beyond all bounds; in damaged tables alone so far. */
static const int64_t LARGEST_FACTOR = INT64_C(1) << 40;

/* On the function and on what it calls. Scratch has what acts on the function. */
static void effects_from(struct counts *counts, uint32_t f, uint32_t parked_in, struct counts_effects *effects)
{
    touch(counts, f);
    for (uint32_t at; next_pending(counts, &at);) {
        bool is_parked = at == f && parked_in != CFG_NONE;
        int64_t calls;
        if (is_parked)
            counts->parked[parked_in] = 1;
        solve_flow(counts, at, &calls);
        if (tree_of(counts, at)->n && llabs(calls) <= LARGEST_FACTOR) {
            add_effects_on(counts, at, calls, effects);
            hand_on_calls(counts, at, true, calls);
        }
        if (is_parked)
            counts->parked[parked_in] = 0;
    }
    untouch_all(counts);
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
            *vec_push(effects) = (struct counts_effect){f, counter + 2, 1};
        return f;
    }
    make_scratch(counts);
    counts->values[point] = 1;
    effects_from(counts, f, CFG_NONE, effects);
    return f;
}

uint32_t counts_frame_effects(struct counts *counts, uint64_t return_address, struct counts_effects *effects)
{
    uint32_t f, block;
    effects->n = 0;
    if (!find_parked(counts, return_address, &f, &block))
        return CFG_NONE;
    if (counts->functions[f].flags & POINTS_F_EVERY_BLOCK)
        return f;
    make_scratch(counts);
    effects_from(counts, f, block, effects);
    return f;
}
