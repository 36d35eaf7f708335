/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/counts/work.h"
#include "wrap/base/vec.h"

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
    arena_release(&work->arena);
}

/* Adds the effects on blocks of one function to the places that the blocks lie in. */
static void add_effects(struct work *work, uint32_t module, const struct counts_function *function)
{
    for (size_t i = 0; i < work->effects.n; i++) {
        const struct counts_effect *effect = &work->effects.at[i];
        uint32_t place = executions_block_place(work->executions, module, function, effect->block);
        if (place != CODE_NONE)
            sparse_add(&work->sum, place,
                       (double)effect->executions *
                           executions_block_length(work->executions, module, function, effect->block));
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

static void point_make(struct work *work, uint32_t at)
{
    const struct trace_point *point = &work->executions->trace->points[at];
    struct counts *counts = point->is_bytes ? NULL : executions_module(work->executions, point->module);
    uint32_t function = counts ? counts_point_effects(counts, point->number, &work->effects) : CFG_NONE;
    if (function != CFG_NONE)
        add_effects(work, point->module, counts_function(counts, function));
    form_keep(work, &work->points[at]);
}

static void frame_make(struct work *work, uint32_t frame)
{
    const struct trace *trace = work->executions->trace;
    trace_walk (trace, at, frame) {
        const struct trace_frame *call = &trace->frames[at];
        struct counts *counts = call->is_return ? executions_module(work->executions, call->module) : NULL;
        uint32_t function = counts ? counts_frame_effects(counts, call->address, &work->effects) : CFG_NONE;
        if (function != CFG_NONE)
            add_effects(work, call->module, counts_function(counts, function));
    }
    form_keep(work, &work->frames[frame]);
}

static const struct work_form *form_of(struct work *work, uint32_t what)
{
    const struct trace *trace = work->executions->trace;
    if (what & COUNT_FRAME) {
        uint32_t frame = what & ~COUNT_FRAME;
        if (!work->frames || frame >= trace->n_frames)
            return NULL;
        if (!work->frames[frame].is_known)
            frame_make(work, frame);
        return &work->frames[frame];
    }
    if (!work->points || what >= trace->n_points)
        return NULL;
    if (!work->points[what].is_known)
        point_make(work, what);
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
