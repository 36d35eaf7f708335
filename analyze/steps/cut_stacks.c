/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/cut_stacks.h"
#include "analyze/code/model.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"

enum { SEVERAL = UINT32_MAX };

static uint64_t routine_of(struct code *code, const struct trace_frame *frame)
{
    uint32_t number =
        frame->module == TRACE_NONE
            ? 0
            : code_routine_number(code, frame->module, trace_code_address(frame->address, frame->is_return));
    return number ? key_pair(1 + frame->module, number) : 0;
}

static bool is_cut_off(const struct trace_frame *frame)
{
    return frame->is_cut && frame->parent == TRACE_NONE;
}

/* From here outwards both lead through the same code. */
static bool are_same_way(const struct trace *trace, uint32_t a, uint32_t b)
{
    while (a != b && a != TRACE_NONE && b != TRACE_NONE) {
        const struct trace_frame *left = &trace->frames[a], *right = &trace->frames[b];
        if (left->module != right->module || left->address != right->address || left->region != right->region)
            return false;
        a = left->parent;
        b = right->parent;
    }
    return a == b;
}

static uint32_t outermost(const struct trace *trace, uint32_t frame)
{
    uint32_t last = frame;
    trace_walk (trace, at, frame)
        last = at;
    return last;
}

/* Of routines in which a stack is cut off: */
struct cut_routines {
    struct map modules; /* that they are in */
    struct map called;  /* 1 = a stack has a caller of it */
    struct map callers; /* 1 + the frame that calls it, 0 = none is known, or SEVERAL */
};

static void find_routines(const struct trace *trace, struct code *code, struct cut_routines *routines)
{
    for (uint32_t i = 0; i < trace->n_frames; i++) {
        uint64_t routine = is_cut_off(&trace->frames[i]) ? routine_of(code, &trace->frames[i]) : 0;
        if (!routine)
            continue;
        map_put(&routines->modules, trace->frames[i].module, NULL);
        map_put(&routines->callers, routine, NULL);
    }
}

/* Its routine, if stacks are cut off there, and this one is not. */
static uint64_t called_routine(const struct trace *trace, struct code *code, const struct cut_routines *routines,
                               const struct trace_frame *frame)
{
    bool may_be = frame->parent < trace->n_frames && map_get(&routines->modules, frame->module);
    uint64_t routine = may_be ? routine_of(code, frame) : 0;
    return routine && map_get(&routines->callers, routine) ? routine : 0;
}

/* Stacks that are to go on elsewhere themselves tell nothing, so that there are no circles. */
static void find_callers(const struct trace *trace, struct code *code, struct cut_routines *routines)
{
    for (uint32_t i = 0; i < trace->n_frames; i++) {
        uint64_t routine = called_routine(trace, code, routines, &trace->frames[i]);
        if (routine)
            *map_put(&routines->called, routine, NULL) = 1;
    }
    for (uint32_t i = 0; routines->called.n && i < trace->n_frames; i++) {
        uint32_t parent = trace->frames[i].parent;
        uint64_t routine = called_routine(trace, code, routines, &trace->frames[i]);
        const struct trace_frame *outer = routine ? &trace->frames[outermost(trace, parent)] : NULL;
        if (!routine || (is_cut_off(outer) && map_get(&routines->called, routine_of(code, outer))))
            continue;
        uint64_t *caller = map_put(&routines->callers, routine, NULL);
        if (!*caller)
            *caller = 1 + (uint64_t)parent;
        else if (*caller != SEVERAL && !are_same_way(trace, (uint32_t)*caller - 1, parent))
            *caller = SEVERAL;
    }
}

void cut_stacks_join(struct trace *trace, struct code *code)
{
    struct cut_routines routines = {0};
    if (code)
        find_routines(trace, code, &routines);
    if (routines.callers.n)
        find_callers(trace, code, &routines);
    for (uint32_t i = 0; routines.called.n && i < trace->n_frames; i++) {
        const struct trace_frame *frame = &trace->frames[i];
        uint64_t *caller = is_cut_off(frame) ? map_get(&routines.callers, routine_of(code, frame)) : NULL;
        if (caller && *caller && *caller != SEVERAL)
            trace->frames[i].parent = (uint32_t)*caller - 1;
    }
    map_release(&routines.modules);
    map_release(&routines.called);
    map_release(&routines.callers);
}
