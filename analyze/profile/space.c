/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/space.h"
#include "wrap/base/map.h"
#include "wrap/base/vec.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct space {
    struct analysis *analysis;
    struct executions *executions;
    struct intern names;          /* "FILE:LINE ROUTINE" */
    VEC(struct allocation) found; /* by name */
    VEC(uint32_t) point_at;       /* by counter of the trace: index in found + 1; 0 = not asked yet */
};

/* The place around the call that allocates, as far as code is left of its block. */
static uint32_t place_of(const struct space *space, uint32_t module, const struct counts_function *function,
                         uint32_t block)
{
    uint32_t place = executions_block_place(space->executions, module, function, block);
    return place != CODE_NONE ? place : code_place_at(space->executions->code, module, function->address);
}

static struct allocation allocation_make(const struct space *space, uint32_t module,
                                         const struct counts_function *function, const struct counts_alloc *alloc)
{
    uint32_t place = place_of(space, module, function, alloc->block);
    const char *routine = place == CODE_NONE ? NULL : code_place(space->executions->code, place)->routine;
    if (!routine)
        routine = *function->source_name ? function->source_name : function->name;
    return (struct allocation){.routine = arena_strdup(&space->analysis->arena, routine),
                               .file = *alloc->at.file ? arena_strdup(&space->analysis->arena, alloc->at.file) : NULL,
                               .line = alloc->at.line,
                               .place = place};
}

/* A counter whose module is not at hand any more. */
static struct allocation allocation_unknown(void)
{
    return (struct allocation){.place = CODE_NONE};
}

static uint32_t allocation_put(struct space *space, struct allocation allocation)
{
    struct arena scratch = {0};
    uint32_t id =
        intern_text(&space->names, arena_printf(&scratch, "%s:%u %s", allocation.file ? allocation.file : "",
                                                allocation.line, allocation.routine ? allocation.routine : ""));
    arena_release(&scratch);
    if (id == space->found.n) {
        allocation.rank_bytes = arena_array(&space->analysis->arena, uint64_t, space->analysis->trace->n_ranks);
        *vec_push(&space->found) = allocation;
    }
    return id;
}

static uint32_t allocation_of(struct space *space, uint32_t counter)
{
    const struct trace_point *point = &space->analysis->trace->points[counter];
    if (space->point_at.at[counter])
        return space->point_at.at[counter] - 1;
    struct counts *counts = executions_module(space->executions, point->module);
    uint32_t function;
    const struct counts_alloc *alloc = counts ? counts_alloc_at(counts, point->number, &function) : NULL;
    uint32_t id =
        allocation_put(space, alloc ? allocation_make(space, point->module, counts_function(counts, function), alloc)
                                    : allocation_unknown());
    space->point_at.at[counter] = id + 1;
    return id;
}

static int allocation_compare(const void *a, const void *b)
{
    const struct allocation *left = a, *right = b;
    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    int by_file = strcmp(left->file ? left->file : "", right->file ? right->file : "");
    if (by_file)
        return by_file;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return strcmp(left->routine ? left->routine : "", right->routine ? right->routine : "");
}

static void space_write(struct space *space)
{
    struct analysis *analysis = space->analysis;
    if (space->found.n)
        qsort(space->found.at, space->found.n, sizeof *space->found.at, allocation_compare);
    analysis->n_allocations = (uint32_t)space->found.n;
    analysis->allocations = arena_copy(&analysis->arena, space->found.at, space->found.n * sizeof *space->found.at);
}

void space_find(struct analysis *analysis, struct executions *executions, const struct sparse *bins)
{
    struct space space = {.analysis = analysis, .executions = executions};
    const struct trace *trace = analysis->trace;
    vec_resize(&space.point_at, trace->n_points);
    for (size_t i = 0; i < bins->n; i++) {
        uint32_t rank = (uint32_t)(bins->at[i].key >> 32), counter = (uint32_t)bins->at[i].key;
        if (counter >= trace->n_points || !trace->points[counter].is_bytes || rank >= trace->n_ranks)
            continue;
        uint32_t id = allocation_of(&space, counter);
        struct allocation *allocation = &space.found.at[id];
        uint64_t bytes = (uint64_t)fmin(bins->at[i].ns, 0x1p62); /* damaged counts may be beyond */
        allocation->rank_bytes[rank] += bytes;
        allocation->bytes += bytes;
        analysis->allocated_bytes += bytes;
    }
    space_write(&space);
    intern_release(&space.names);
    vec_release(&space.found);
    vec_release(&space.point_at);
}

/* A loop holds the loops inside it, a routine only what lies in no loop. */
static bool is_within(struct code *code, uint32_t place, uint32_t around)
{
    if (place == around || place == CODE_NONE || !code_place(code, around)->is_loop)
        return place == around;
    for (uint32_t parent = code_place(code, place)->parent; parent != CODE_NONE;
         parent = code_place(code, parent)->parent)
        if (code_place(code, parent)->source == around)
            return true;
    return false;
}

static void cause_add_bytes(const struct allocation *allocation, struct cause *cause)
{
    for (uint32_t i = 0; i < cause->n_ranks; i++)
        cause->ranks[i].bytes += allocation->rank_bytes[cause->ranks[i].rank];
    for (uint32_t i = 0; i < cause->n_others; i++)
        cause->others[i].bytes += allocation->rank_bytes[cause->others[i].rank];
}

void space_add_to_causes(struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->n_causes && analysis->n_allocations; i++) {
        struct cause *cause = &analysis->causes[i];
        uint32_t place = analysis->steps[cause->step].place;
        if (place == CODE_NONE || !analysis->code)
            continue;
        for (uint32_t k = 0; k < analysis->n_allocations; k++)
            if (is_within(analysis->code, analysis->allocations[k].place, place))
                cause_add_bytes(&analysis->allocations[k], cause);
    }
}
