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

/* One call, or two in one routine of a system header, which counts for its own caller. */
static bool is_same_call(struct code *code, const struct trace_frame *a, const struct trace_frame *b)
{
    if (a->module != b->module || a->region != b->region)
        return false;
    if (a->address == b->address || a->module == TRACE_NONE)
        return a->address == b->address;
    uint32_t place = code_place_at(code, a->module, trace_code_address(a->address, a->is_return));
    return place != CODE_NONE && code_place(code, place)->is_system && routine_of(code, a) == routine_of(code, b);
}

/* From here outwards both lead through the same code, as far as both are known: what is outside of main may be left
 * out. */
static bool are_same_way(const struct trace *trace, struct code *code, uint32_t a, uint32_t b)
{
    while (a != b && a != TRACE_NONE && b != TRACE_NONE) {
        if (!is_same_call(code, &trace->frames[a], &trace->frames[b]))
            return false;
        a = trace->frames[a].parent;
        b = trace->frames[b].parent;
    }
    return true;
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
    struct map modules;   /* that they are in */
    struct map called;    /* 1 = a stack has a caller of it */
    struct map callers;   /* 1 + the frame that calls it, 0 = none is known, or SEVERAL */
    struct map recursive; /* those that call themselves, on whatever way */
    struct map entries;   /* the caller behind all of these, likewise */
    uint64_t *of;         /* by frame: called_routine */
    struct arena arena;
};

static void find_routines(const struct trace *trace, struct code *code, struct cut_routines *routines)
{
    for (uint32_t i = 0; i < trace->n_frames; i++) {
        uint64_t routine = is_cut_off(&trace->frames[i]) ? routine_of(code, &trace->frames[i]) : 0;
        if (!routine)
            continue;
        map_put(&routines->modules, trace->frames[i].module, NULL);
        map_put(&routines->callers, routine, NULL);
        map_put(&routines->entries, routine, NULL);
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

/* The outermost frame on the way from this one that is of the routine, or of any that call themselves; TRACE_NONE. */
static uint32_t last_of(const struct trace *trace, const struct cut_routines *routines, uint32_t frame,
                        uint64_t routine)
{
    uint32_t last = TRACE_NONE;
    trace_walk (trace, at, trace->frames[frame].parent) {
        uint64_t here = routines->of[at];
        bool is_such = here && (routine ? here == routine : map_get(&routines->recursive, here) != NULL);
        last = is_such ? at : last;
    }
    return last;
}

static void add_way(const struct trace *trace, struct code *code, struct map *ways, uint64_t routine, uint32_t caller)
{
    uint64_t *way = map_put(ways, routine, NULL);
    if (!*way)
        *way = 1 + (uint64_t)caller;
    else if (*way != SEVERAL && !are_same_way(trace, code, (uint32_t)*way - 1, caller))
        *way = SEVERAL;
}

/* Stacks that are to go on elsewhere themselves tell nothing, so that there are no circles. */
static void find_callers(const struct trace *trace, struct code *code, struct cut_routines *routines)
{
    routines->of = arena_array(&routines->arena, uint64_t, trace->n_frames + 1);
    for (uint32_t i = 0; i < trace->n_frames; i++)
        if ((routines->of[i] = called_routine(trace, code, routines, &trace->frames[i])))
            *map_put(&routines->called, routines->of[i], NULL) = 1;
    for (uint32_t i = 0; routines->called.n && i < trace->n_frames; i++)
        if (routines->of[i] && last_of(trace, routines, i, routines->of[i]) != TRACE_NONE)
            map_put(&routines->recursive, routines->of[i], NULL);
    for (uint32_t i = 0; routines->called.n && i < trace->n_frames; i++) {
        uint32_t parent = trace->frames[i].parent;
        uint64_t routine = routines->of[i];
        const struct trace_frame *outer = routine ? &trace->frames[outermost(trace, parent)] : NULL;
        if (!routine || (is_cut_off(outer) && map_get(&routines->called, routine_of(code, outer))))
            continue;
        add_way(trace, code, &routines->callers, routine, parent);
        uint32_t last = last_of(trace, routines, i, 0);
        add_way(trace, code, &routines->entries, routine, trace->frames[last == TRACE_NONE ? i : last].parent);
    }
}

/* One way, or else one way behind a recursion; 0. */
static uint64_t way_of(struct cut_routines *routines, uint64_t routine)
{
    const uint64_t *caller = map_get(&routines->callers, routine), *entry = map_get(&routines->entries, routine);
    uint64_t by_caller = caller ? *caller : 0, by_entry = entry ? *entry : 0;
    if (by_caller != SEVERAL)
        return by_caller;
    return by_entry != SEVERAL ? by_entry : 0;
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
        uint64_t way = is_cut_off(frame) ? way_of(&routines, routine_of(code, frame)) : 0;
        if (way)
            trace->frames[i].parent = (uint32_t)way - 1;
    }
    map_release(&routines.modules);
    map_release(&routines.called);
    map_release(&routines.callers);
    map_release(&routines.recursive);
    map_release(&routines.entries);
    arena_release(&routines.arena);
}
