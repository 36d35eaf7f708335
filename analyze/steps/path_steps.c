/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/path_steps.h"

void path_steps_release(struct path_steps *paths)
{
    vec_release(&paths->is_part);
    vec_release(&paths->step);
}

void path_steps_context_is_part(struct path_steps *paths, uint32_t context)
{
    if (context == TRACE_NONE)
        return;
    if (context >= paths->is_part.n)
        vec_resize(&paths->is_part, context + 1);
    paths->is_part.at[context] = true;
}

static bool is_told(const struct path_steps *paths, const struct sites *sites, uint32_t context)
{
    const struct trace *trace = sites->trace;
    for (bool is_inner = true; context != TRACE_NONE; is_inner = false) {
        const struct context *at = sites_context_at(sites, context);
        const struct trace_region *region = at->region < trace->n_regions ? &trace->regions[at->region] : NULL;
        if (is_inner && region && region->file && region->line_first)
            return true;
        if (context < paths->is_part.n && paths->is_part.at[context])
            return true;
        context = at->parent;
    }
    return false;
}

/* A context that was found to tell something does so to the end. */
uint32_t path_step(struct path_steps *paths, struct sites *sites, uint32_t context)
{
    if (context < paths->step.n && paths->step.at[context])
        return paths->step.at[context] - 1;
    if (!is_told(paths, sites, context))
        return TRACE_NONE;
    if (context >= paths->step.n)
        vec_resize(&paths->step, (size_t)context + 1);
    uint32_t step = steps_put(sites->steps, STEP_COMPUTING, WHAT_PATH, context, TRACE_NONE);
    paths->step.at[context] = step + 1;
    return step;
}

void path_steps_forget(struct path_steps *paths, uint32_t from)
{
    for (size_t i = 0; i < paths->step.n; i++)
        if (paths->step.at[i] > from)
            paths->step.at[i] = 0;
}

void path_steps_pack(struct path_steps *paths, struct packing *packing)
{
    pack_vec(packing, &paths->is_part);
}

void path_steps_unpack(struct path_steps *paths, struct unpacking *unpacking, const struct numbers *numbers)
{
    struct path_steps later = {0};
    unpack_vec(unpacking, &later.is_part);
    for (uint32_t i = 0; i < later.is_part.n; i++)
        if (later.is_part.at[i])
            path_steps_context_is_part(paths, numbers_context(numbers, i));
    path_steps_release(&later);
}
