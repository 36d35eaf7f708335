/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/export/stack.h"
#include "analyze/code/origin.h"
#include "analyze/result/names.h"
#include "analyze/words/label.h"

enum { INLINED_MOST = 16 };

static void add_frame(struct stack_levels *levels, const struct analysis *analysis, const struct trace_frame *frame)
{
    if (frame->module >= analysis->trace->n_modules || !analysis->code) {
        const char *name =
            frame->region < analysis->trace->n_regions ? analysis->trace->regions[frame->region].name : "(unknown)";
        *vec_push(&levels->levels) = (struct stack_level){.name = name};
        return;
    }
    struct code_routine chain[INLINED_MOST];
    uint64_t address = trace_code_address(frame->address, frame->is_return);
    uint32_t n = code_routines_at(analysis->code, frame->module, address, chain, INLINED_MOST);
    const struct stack_level *inner = levels->levels.n ? &levels->levels.at[levels->levels.n - 1] : NULL;
    if (code_module_language(analysis->code, frame->module) && inner && inner->name == chain[0].name)
        return; /* how deep an interpreter is in its own routines is no matter of the program */
    struct code_spot spot = code_spot_at(analysis->code, frame->module, address);
    const char *module = library_name(&levels->arena, analysis->trace->modules[frame->module].path);
    for (uint32_t i = 0; i < n; i++) {
        struct stack_level level = {.name = chain[i].name, .file = chain[i].file, .head = chain[i].line};
        level.at_file = i ? chain[i].file : spot.file;
        level.at_line = i ? chain[i - 1].call_line : spot.line;
        if (!level.name)
            level.name =
                chain[i].address
                    ? names_nameless(analysis->code, analysis->trace, &levels->arena,
                                     &(struct trace_frame){.module = frame->module, .address = chain[i].address}, true)
                    : arena_printf(&levels->arena, "(in %s)", module);
        *vec_push(&levels->levels) = level;
    }
}

void stack_read(struct stack_levels *levels, const struct analysis *analysis, const struct profile *profile,
                const struct profile_stack *stack)
{
    const struct trace *trace = analysis->trace;
    levels->levels.n = 0;
    arena_release(&levels->arena);
    if (stack->mpi != TRACE_NONE)
        *vec_push(&levels->levels) = (struct stack_level){.name = profile->routines[stack->mpi].name};
    trace_walk (trace, at, stack->frame)
        add_frame(levels, analysis, &trace->frames[at]);
    if (stack->frame != TRACE_NONE || stack->step >= analysis->n_steps)
        return;
    for (uint32_t step = analysis->steps[stack->step].caller, n = 0; step < analysis->n_steps && n < analysis->n_steps;
         step = analysis->steps[step].caller, n++) {
        const struct step *at = &analysis->steps[step];
        *vec_push(&levels->levels) = (struct stack_level){.name = at->routine ? at->routine : "(unknown)",
                                                          .file = at->file,
                                                          .head = at->line_first,
                                                          .at_file = at->file};
    }
}

void stack_release(struct stack_levels *levels)
{
    vec_release(&levels->levels);
    arena_release(&levels->arena);
}
