/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bins are summed while the events go by, location by location, and solved when a rank is asked for.
 */
#include "analyze/counts/coverage.h"
#include "wrap/base/err.h"
#include "wrap/flow/measured.h"
#include <stdlib.h>

/* Calls in flight where something begins (-1) and where it ends (1). */
struct border {
    uint32_t frame;
    int32_t sign;
};

struct coverage_location {
    uint64_t *values;            /* by point of the trace */
    VEC(struct trace_bin) taken; /* bins whose call has not come yet */
    VEC(struct border) borders;  /* of what was recorded, but for the end of the run */
    uint32_t last_frame;         /* of the call at which the last bins were taken */
    bool is_taken, was_off;      /* bins came; recording was off at the last call at which they did */
};

static void open_modules(struct coverage *coverage)
{
    struct trace *trace = coverage->trace;
    coverage->counts = arena_array(&coverage->arena, struct counts *, trace->n_modules);
    for (uint32_t m = 0; m < trace->n_modules; m++) {
        const struct trace_module *module = &trace->modules[m];
        if (!module->has_points)
            continue;
        const char *unread;
        enum code_state state = code_module_state(coverage->code, m);
        bool is_told = state == CODE_MISSING && code_module_fault(coverage->code, m, &unread); /* in the end */
        if (state == CODE_CHANGED || (state == CODE_MISSING && !is_told))
            warn("%s is not the file that ran (or is gone): its counts are left out", module->path);
        else if (!is_told && counts_open(code_module_file(coverage->code, m), &coverage->counts[m]))
            coverage->counts[m] = NULL;
        else if (!is_told && !coverage->counts[m])
            warn("%s has counters of another version of whywait, or none that can be read: its counts are left out; "
                 "build it again with `whywait cc`",
                 module->path);
        trace->lacks_counts |= !coverage->counts[m];
        if (coverage->counts[m])
            counts_keep_only(coverage->counts[m], coverage->trace->only);
    }
}

static bool location_is_off(const struct coverage *coverage, uint32_t at)
{
    uint32_t rank = coverage->trace->locations[at].rank;
    return rank < coverage->trace->n_ranks && coverage->is_off[rank];
}

/* Executions counted while recording was off are left out. */
static void take_bins(struct coverage *coverage, struct coverage_location *location, bool is_off)
{
    if (!location->values)
        location->values = arena_array(&coverage->arena, uint64_t, coverage->trace->n_points);
    for (size_t i = 0; i < location->taken.n && !is_off; i++)
        if (location->taken.at[i].point < coverage->trace->n_points)
            location->values[location->taken.at[i].point] += location->taken.at[i].value;
    location->taken.n = 0;
}

static void take_event(struct coverage *coverage, const struct event *event)
{
    struct coverage_location *location = &coverage->locations[event->loc];
    uint32_t rank = coverage->trace->locations[event->loc].rank;
    if (event->kind == EV_BINS) {
        for (uint32_t i = 0; i < event->n_bins; i++)
            *vec_push(&location->taken) = event->bins[i];
        location->is_taken = true;
    } else if (event->kind == EV_ENTER && location->is_taken) {
        /* The call at which bins were taken. */
        bool is_off = location_is_off(coverage, event->loc);
        take_bins(coverage, location, is_off);
        if (is_off != location->was_off && location->last_frame != TRACE_NONE)
            *vec_push(&location->borders) = (struct border){location->last_frame, is_off ? 1 : -1};
        location->last_frame = event->frame;
        location->was_off = is_off;
        location->is_taken = false;
    } else if (event->kind == EV_CONTROL && rank < coverage->trace->n_ranks) {
        coverage->is_off[rank] = !event->flags;
    }
}

/* The counts of one thread in one module, added to the rank's. */
static void add_location(struct coverage *coverage, const struct coverage_location *location, uint32_t module,
                         struct counts_sum *sum)
{
    const struct trace *trace = coverage->trace;
    VEC(struct counts_bin) bins = {0};
    VEC(struct counts_frame) frames = {0};
    struct counts_result result = {.keeps_flows = true};
    for (uint32_t p = 0; p < trace->n_points; p++)
        if (trace->points[p].module == module && location->values[p])
            *vec_push(&bins) = (struct counts_bin){trace->points[p].number, location->values[p]};
    for (size_t i = 0; i < location->borders.n; i++)
        trace_walk (trace, f, location->borders.at[i].frame)
            if (trace->frames[f].module == module && trace->frames[f].is_return)
                *vec_push(&frames) = (struct counts_frame){trace->frames[f].address, location->borders.at[i].sign};
    counts_solve(coverage->counts[module], bins.at, bins.n, frames.at, frames.n, &result);
    counts_sum_add(sum, &result);
    for (size_t i = 0; i < result.faults.n; i++)
        warn("the counts of %s contradict each other and are left out",
             counts_function(coverage->counts[module], result.faults.at[i].function)->name);
    vec_release(&bins);
    vec_release(&frames);
    counts_result_release(&result);
}

int coverage_read(struct coverage *coverage, struct trace *trace, struct code *code)
{
    const struct event *event;
    coverage->trace = trace;
    coverage->code = code;
    coverage->locations = arena_array(&coverage->arena, struct coverage_location, trace->n_locations);
    coverage->is_off = arena_array(&coverage->arena, bool, trace->n_ranks);
    for (uint32_t l = 0; l < trace->n_locations; l++)
        coverage->locations[l].last_frame = TRACE_NONE;
    if (!trace->is_counted && trace->only)
        return error("%s has no exact counts: nothing that ran was chosen by --only %s", trace->path, trace->only);
    if (!trace->is_counted)
        return error("%s has no exact counts: build the program with `mpicc $(whywait cc) ...`", trace->path);
    if (trace_rewind(trace))
        return -1;
    open_modules(coverage);
    while ((event = trace_next(trace)))
        take_event(coverage, event);
    if (trace->has_failed)
        return -1;
    for (uint32_t l = 0; l < trace->n_locations; l++) {
        struct coverage_location *location = &coverage->locations[l];
        if (location->is_taken)
            take_bins(coverage, location, location_is_off(coverage, l));
        if (!location->was_off && location->last_frame != TRACE_NONE)
            *vec_push(&location->borders) = (struct border){location->last_frame, 1};
    }
    return 0;
}

/* The module of a trace that is the same build; TRACE_NONE. */
static uint32_t same_build(const struct trace *trace, const struct trace_module *as)
{
    for (uint32_t m = 0; m < trace->n_modules; m++) {
        const struct trace_module *module = &trace->modules[m];
        if (as->build_id_bytes && module->build_id_bytes == as->build_id_bytes &&
            !memcmp(module->build_id, as->build_id, as->build_id_bytes))
            return m;
    }
    return TRACE_NONE;
}

void coverage_rank_of_all(struct coverage *runs, size_t n_runs, uint32_t rank, uint32_t module,
                          struct coverage_listing *listing)
{
    struct counts_sum sum;
    *listing = (struct coverage_listing){0};
    if (!runs[0].counts[module])
        return;
    counts_sum_init(&sum, &listing->arena, runs[0].counts[module]);
    for (size_t run = 0; run < n_runs; run++) {
        const struct trace *trace = runs[run].trace;
        uint32_t at = run ? same_build(trace, &runs[0].trace->modules[module]) : module;
        bool is_counted = at != TRACE_NONE && runs[run].counts[at];
        for (uint32_t l = 0; is_counted && l < trace->n_locations; l++)
            if (trace->locations[l].rank == rank && runs[run].locations[l].values)
                add_location(&runs[run], &runs[run].locations[l], at, &sum);
    }
    listing->n_lines = counts_lines(&sum, &listing->arena, &listing->lines);
    listing->n_branches = counts_branches(&sum, &listing->arena, &listing->branches);
    listing->n_heads = counts_heads(&sum, &listing->arena, &listing->heads);
}

void coverage_rank(struct coverage *coverage, uint32_t rank, uint32_t module, struct coverage_listing *listing)
{
    coverage_rank_of_all(coverage, 1, rank, module, listing);
}

void coverage_write_measured(struct coverage *coverage, FILE *out)
{
    const struct trace *trace = coverage->trace;
    for (uint32_t m = 0; m < trace->n_modules; m++) {
        const struct counts *counts = coverage->counts[m];
        struct arena scratch = {0};
        struct counts_sum sum;
        if (!counts)
            continue;
        counts_sum_init(&sum, &scratch, counts);
        for (uint32_t l = 0; l < trace->n_locations; l++)
            if (coverage->locations[l].values)
                add_location(coverage, &coverage->locations[l], m, &sum);
        for (uint32_t f = 0; f < counts_n_functions(counts); f++) {
            const struct counts_function *function = counts_function(counts, f);
            measured_write(out, function->name, &function->cfg, sum.taken + sum.first_edge[f]);
        }
        arena_release(&scratch);
    }
}

void coverage_release(struct coverage *coverage)
{
    for (uint32_t m = 0; coverage->counts && m < coverage->trace->n_modules; m++)
        counts_close(coverage->counts[m]);
    for (uint32_t l = 0; coverage->locations && l < coverage->trace->n_locations; l++) {
        vec_release(&coverage->locations[l].taken);
        vec_release(&coverage->locations[l].borders);
    }
    arena_release(&coverage->arena);
    *coverage = (struct coverage){0};
}
