/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/counts/executions.h"
#include "wrap/base/containers.h"
#include <math.h>

void executions_begin(struct executions *executions, const struct trace *trace, struct code *code)
{
    *executions = (struct executions){.trace = trace, .code = code};
    size_t cap = 0, opened_cap = 0, points_cap = 0;
    vec_grow((void **)&executions->modules, &cap, trace->n_modules + 1, sizeof *executions->modules);
    vec_grow((void **)&executions->is_opened, &opened_cap, trace->n_modules + 1, sizeof *executions->is_opened);
    vec_grow((void **)&executions->has_points, &points_cap, trace->n_modules + 1, sizeof *executions->has_points);
    for (uint32_t i = 0; i < trace->n_modules; i++) {
        executions->modules[i] = NULL;
        executions->is_opened[i] = executions->has_points[i] = false;
    }
    for (uint32_t i = 0; i < trace->n_points; i++)
        if (trace->points[i].module < trace->n_modules)
            executions->has_points[trace->points[i].module] = true;
}

void executions_release(struct executions *executions)
{
    for (uint32_t i = 0; executions->modules && i < executions->trace->n_modules; i++)
        if (executions->modules[i])
            counts_close(executions->modules[i]);
    block_places_release(&executions->block_places);
    vec_free(executions->modules);
    vec_free(executions->is_opened);
    vec_free(executions->has_points);
    counts_result_release(&executions->result);
    vec_release(&executions->is_partial);
    vec_release(&executions->contradicted);
    vec_release(&executions->bins);
    vec_release(&executions->frames);
}

void executions_leave_out(struct executions *executions, uint32_t place)
{
    if (place >= executions->is_partial.n)
        vec_resize(&executions->is_partial, place + 1);
    executions->is_partial.at[place] = true;
}

struct counts *executions_module(struct executions *executions, uint32_t module)
{
    if (!executions->code || module >= executions->trace->n_modules || !executions->has_points[module])
        return NULL;
    if (!executions->is_opened[module]) {
        executions->is_opened[module] = true;
        enum code_state state = code_module_state(executions->code, module);
        if (state == CODE_FULL || state == CODE_SYMBOLS)
            if (counts_open(code_module_file(executions->code, module), &executions->modules[module]))
                executions->modules[module] = NULL;
        if (executions->modules[module])
            counts_keep_only(executions->modules[module], executions->trace->only);
    }
    return executions->modules[module];
}

uint32_t executions_block_place(struct executions *executions, uint32_t module, const struct counts_function *function,
                                uint32_t block)
{
    return block_place(&executions->block_places, executions->code, module, function, block);
}

double executions_block_length(struct executions *executions, uint32_t module, const struct counts_function *function,
                               uint32_t block)
{
    return block_instructions(&executions->block_places, executions->code, module, function, block);
}

bool executions_contradict(struct executions *executions, uint32_t module, const struct counts_function *function)
{
    for (size_t i = 0; i < executions->contradicted.n; i++)
        for (uint32_t b = 0; b < function->n_blocks; b++)
            if (executions_block_place(executions, module, function, b) == executions->contradicted.at[i])
                return true;
    return false;
}

/* Solves what of the terms concerns one module; NULL when nothing does. */
static struct counts *solve_module(struct executions *executions, uint32_t module, const struct term *terms, size_t n,
                                   bool keeps_flows)
{
    if (!executions->has_points[module])
        return NULL;
    /* What of the terms concerns one module. */
    executions->bins.n = executions->frames.n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t what = (uint32_t)terms[i].key;
        const struct trace_point *point = what < executions->trace->n_points ? &executions->trace->points[what] : NULL;
        if (what & COUNT_FRAME) {
            const struct trace *trace = executions->trace;
            trace_walk (trace, at, (what & ~COUNT_FRAME))
                if (trace->frames[at].module == module && trace->frames[at].is_return)
                    *vec_push(&executions->frames) = (struct counts_frame){.return_address = trace->frames[at].address,
                                                                           .sign = (int32_t)terms[i].ns};
        } else if (point && point->module == module && !point->is_bytes && terms[i].ns > 0)
            *vec_push(&executions->bins) =
                (struct counts_bin){.point = point->number, .value = (uint64_t)llround(terms[i].ns)};
    }
    struct counts *counts = executions->bins.n ? executions_module(executions, module) : NULL;
    executions->result.keeps_flows = keeps_flows;
    if (counts)
        counts_solve(counts, executions->bins.at, executions->bins.n, executions->frames.at, executions->frames.n,
                     &executions->result);
    return counts;
}

void executions_each_block(struct executions *executions, const struct term *terms, size_t n, executions_visit *visit,
                           void *context)
{
    for (uint32_t module = 0; module < executions->trace->n_modules; module++) {
        struct counts *counts = solve_module(executions, module, terms, n, false);
        if (!counts)
            continue;
        /* Frames that were not known to be in flight, as a rule: those of other threads. */
        for (size_t i = 0; i < executions->result.faults.n; i++) {
            const struct counts_function *function = counts_function(counts, executions->result.faults.at[i].function);
            for (uint32_t b = 0; b < function->n_blocks; b++) {
                uint32_t place = executions_block_place(executions, module, function, b);
                if (place != CODE_NONE)
                    *vec_push(&executions->contradicted) = place;
            }
        }
        for (size_t i = 0; i < executions->result.rows.n; i++) {
            const struct counts_row *row = &executions->result.rows.at[i];
            visit(context, module, counts_function(counts, row->function), row);
        }
    }
}

void executions_each_flow(struct executions *executions, const struct term *terms, size_t n,
                          executions_visit_flow *visit, void *context)
{
    for (uint32_t module = 0; module < executions->trace->n_modules; module++) {
        struct counts *counts = solve_module(executions, module, terms, n, true);
        for (size_t i = 0; counts && i < executions->result.flows.n; i++) {
            const struct counts_flow *flow = &executions->result.flows.at[i];
            visit(context, module, counts_function(counts, flow->function),
                  &executions->result.edge_counts.at[flow->first_edge], flow->calls);
        }
    }
}

/* The most executed block of each copy of a place. */
struct most_executed {
    struct executions *executions;
    struct intern copies;
    VEC(uint64_t) most; /* by copy */
};

struct copy_key {
    uint32_t place, module, function, copy;
};

static void copy_ran(struct most_executed *found, struct copy_key key, uint64_t executions)
{
    const struct executions *from = found->executions;
    if (key.place == CODE_NONE || (key.place < from->is_partial.n && from->is_partial.at[key.place]))
        return;
    uint32_t copy = intern_put(&found->copies, &key, sizeof key);
    if (copy == found->most.n)
        *vec_push(&found->most) = 0;
    if (executions > found->most.at[copy])
        found->most.at[copy] = executions;
}

static void block_ran(void *context, uint32_t module, const struct counts_function *function,
                      const struct counts_row *row)
{
    struct most_executed *found = context;
    struct executions *from = found->executions;
    struct copy_key key = {.place = executions_block_place(from, module, function, row->block),
                           .module = module,
                           .function = row->function,
                           .copy = block_copy(&from->block_places, from->code, module, function, row->block)};
    copy_ran(found, key, row->executions);
    const struct block_calls *calls = block_calls_of(&from->block_places, from->code, module, function);
    for (uint32_t i = 0; i < calls->n; i++)
        if (calls->at[i].block == row->block) {
            key.place = calls->at[i].place;
            copy_ran(found, key, row->executions);
        }
}

void executions_solve(struct executions *executions, struct sparse *bins, struct sparse *out)
{
    executions->contradicted.n = 0;
    sparse_pack(bins);
    for (size_t i = 0, end; i < bins->n; i = end) {
        uint64_t high = bins->at[i].key & ~(uint64_t)UINT32_MAX;
        for (end = i; end < bins->n && (bins->at[end].key & ~(uint64_t)UINT32_MAX) == high;)
            end++;
        struct most_executed found = {.executions = executions};
        executions_each_block(executions, &bins->at[i], (end - i), block_ran, &found);
        for (uint32_t k = 0; k < found.most.n; k++) {
            const struct copy_key *key = (const struct copy_key *)found.copies.items[k].bytes;
            sparse_add(out, high | key->place, (double)found.most.at[k]);
        }
        vec_release(&found.most);
        intern_release(&found.copies);
    }
    sparse_pack(out);
    /* One side of a comparison without the other would be wrong: what is contradicted once is left out everywhere. */
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        bool is_contradicted = false;
        for (size_t j = 0; j < executions->contradicted.n && !is_contradicted; j++)
            is_contradicted = executions->contradicted.at[j] == (uint32_t)out->at[i].key;
        if (!is_contradicted)
            out->at[n++] = out->at[i];
    }
    out->n = out->n_packed = n;
}

double executions_share_of_work(struct side late, struct side others, double cost_error_ns)
{
    if (!(late.executions > 0))
        return -1;
    if (!(others.executions > 0) || !(late.ns > 0))
        return 1;
    double cost_late = late.ns / late.executions, cost_others = others.ns / others.executions;
    cost_others = fmin(fmax(cost_late, cost_others - cost_error_ns), cost_others + cost_error_ns);
    double work_ns = fmax((late.executions - others.executions) * cost_others, 0);
    double slower_ns = fmax(late.ns - others.ns - (late.executions - others.executions) * cost_others, 0);
    return work_ns + slower_ns > 0 ? work_ns / (work_ns + slower_ns) : 1;
}

void work_begin(struct work *work, struct executions *executions)
{
    *work = (struct work){.executions = executions};
    work->points = arena_array(&work->arena, struct work_form, executions->trace->n_points + 1);
    work->frames = arena_array(&work->arena, struct work_form, executions->trace->n_frames + 1);
}

void work_release(struct work *work)
{
    vec_release(&work->effects);
    sparse_release(&work->sum);
    map_release(&work->heavier);
    vec_release(&work->more);
    arena_release(&work->arena);
}

void work_add_weight(struct work *work, const struct counts_block *block, double more)
{
    bool is_new;
    uint64_t *index = map_put(&work->heavier, (uint64_t)(uintptr_t)block, &is_new);
    if (is_new) {
        *vec_push(&work->more) = 0;
        *index = work->more.n;
    }
    work->more.at[*index - 1] += more;
}

/* Adds the effects on blocks of one function to the places that the blocks lie in. */
static void add_effects(struct work *work, uint32_t module, const struct counts_function *function)
{
    for (size_t i = 0; i < work->effects.n; i++) {
        const struct counts_effect *effect = &work->effects.at[i];
        uint32_t place = executions_block_place(work->executions, module, function, effect->block);
        const uint64_t *more = map_get(&work->heavier, (uint64_t)(uintptr_t)&function->blocks[effect->block]);
        double length = executions_block_length(work->executions, module, function, effect->block);
        if (place != CODE_NONE)
            sparse_add(&work->sum, place,
                       (double)effect->executions * (length + (more ? work->more.at[*more - 1] : 0)));
    }
}

static void form_keep(struct work *work, struct work_form *form)
{
    sparse_pack(&work->sum);
    *form = (struct work_form){.is_known = true,
                               .at = arena_copy(&work->arena, work->sum.at, work->sum.n * sizeof *work->sum.at),
                               .n = work->sum.n};
    sparse_clear(&work->sum);
}

static const struct work_form *form_of(struct work *work, uint32_t what)
{
    const struct trace *trace = work->executions->trace;
    if (what & COUNT_FRAME) {
        uint32_t frame = what & ~COUNT_FRAME;
        if (!work->frames || frame >= trace->n_frames)
            return NULL;
        if (!work->frames[frame].is_known) {
            trace_walk (trace, at, frame) {
                const struct trace_frame *call = &trace->frames[at];
                struct counts *counts = call->is_return ? executions_module(work->executions, call->module) : NULL;
                uint32_t function = counts ? counts_frame_effects(counts, call->address, &work->effects) : CFG_NONE;
                if (function != CFG_NONE)
                    add_effects(work, call->module, counts_function(counts, function));
            }
            form_keep(work, &work->frames[frame]);
        }
        return &work->frames[frame];
    }
    if (!work->points || what >= trace->n_points)
        return NULL;
    if (!work->points[what].is_known) {
        const struct trace_point *point = &work->executions->trace->points[what];
        struct counts *counts = point->is_bytes ? NULL : executions_module(work->executions, point->module);
        uint32_t function = counts ? counts_point_effects(counts, point->number, &work->effects) : CFG_NONE;
        if (function != CFG_NONE)
            add_effects(work, point->module, counts_function(counts, function));
        form_keep(work, &work->points[what]);
    }
    return &work->points[what];
}

void work_measure(struct work *work, const struct sparse *counts, struct sparse *out)
{
    sparse_clear(out);
    for (size_t i = 0; i < counts->n; i++) {
        const struct work_form *form = form_of(work, (uint32_t)counts->at[i].key);
        for (size_t j = 0; form && j < form->n; j++)
            sparse_add(out, form->at[j].key, form->at[j].ns * counts->at[i].ns);
    }
    sparse_pack(out);
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].ns > 0)
            out->at[n++] = out->at[i];
    out->n = out->n_packed = n;
}
