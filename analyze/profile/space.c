/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/space.h"
#include "wrap/base/map.h"
#include "wrap/base/vec.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A counter of bytes, with the routine that it is in, by number in `routines`. */
struct point {
    const struct counts_alloc *alloc; /* NULL = its module is not at hand any more */
    const struct counts_function *function;
    uint32_t module;
    uint32_t routine, callee; /* NONE: not at hand; real, or its callee is not counted */
    bool is_asked;            /* of the callee, and what that has of it is not found out yet */
    uint32_t next, next_call; /* of the same routine, and of the calls of its callee; NONE */
    double *bytes;            /* by rank */
};

/* A routine with points, or called at one. */
struct routine {
    const char *source_name; /* NULL = not counted */
    uint32_t points, calls;  /* the first points in it and of calls of it; NONE */
    bool is_settled;         /* its bytes are its callers', as far as they asked it for them */
};

enum { NONE = UINT32_MAX };

struct space {
    struct arena arena;
    struct analysis *analysis;
    struct executions *executions;
    VEC(struct point) points;
    VEC(uint32_t) point_at;       /* by counter of the trace: index in points + 1; 0 = not asked yet */
    struct intern routine_names;  /* assembler names; routines of a name are taken for one */
    VEC(struct routine) routines; /* by name */
    struct intern names;          /* "FILE:LINE ROUTINE CALLEE" */
    VEC(struct allocation) found; /* by name */
};

/* The place around the call that allocates, as far as code is left of its block. */
static uint32_t place_of(const struct space *space, uint32_t module, const struct counts_function *function,
                         uint32_t block)
{
    uint32_t place = executions_block_place(space->executions, module, function, block);
    return place != CODE_NONE ? place : code_place_at(space->executions->code, module, function->address);
}

/* The routine that allocates at a point, as in the source if that is known; NULL = malloc or the like. */
static const char *through(const struct space *space, const struct point *point)
{
    const char *name = point->callee != NONE ? space->routines.at[point->callee].source_name : NULL;
    if (!name || !*name)
        name = point->alloc->callee;
    return *name ? arena_strdup(&space->analysis->arena, name) : NULL;
}

static struct allocation allocation_make(const struct space *space, const struct point *point)
{
    const struct counts_function *function = point->function;
    const struct counts_alloc *alloc = point->alloc;
    uint32_t place = place_of(space, point->module, function, alloc->block);
    const char *routine = place == CODE_NONE ? NULL : code_place(space->executions->code, place)->routine;
    if (!routine)
        routine = *function->source_name ? function->source_name : function->name;
    return (struct allocation){.routine = arena_strdup(&space->analysis->arena, routine),
                               .file = *alloc->at.file ? arena_strdup(&space->analysis->arena, alloc->at.file) : NULL,
                               .line = alloc->at.line,
                               .through = through(space, point),
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
        intern_text(&space->names, arena_printf(&scratch, "%s:%u %s %s", allocation.file ? allocation.file : "",
                                                allocation.line, allocation.routine ? allocation.routine : "",
                                                allocation.through ? allocation.through : ""));
    arena_release(&scratch);
    if (id == space->found.n) {
        allocation.rank_bytes = arena_array(&space->analysis->arena, uint64_t, space->analysis->trace->n_ranks);
        *vec_push(&space->found) = allocation;
    }
    return id;
}

static uint32_t routine_put(struct space *space, const char *name)
{
    uint32_t id = intern_text(&space->routine_names, name);
    if (id == space->routines.n)
        *vec_push(&space->routines) = (struct routine){.points = NONE, .calls = NONE};
    return id;
}

static struct point *point_of(struct space *space, uint32_t counter)
{
    const struct trace_point *at = &space->analysis->trace->points[counter];
    if (space->point_at.at[counter])
        return &space->points.at[space->point_at.at[counter] - 1];
    struct counts *counts = executions_module(space->executions, at->module);
    uint32_t function;
    struct point point = {.module = at->module,
                          .alloc = counts ? counts_alloc_at(counts, at->number, &function) : NULL,
                          .routine = NONE,
                          .callee = NONE,
                          .next = NONE,
                          .next_call = NONE,
                          .bytes = arena_array(&space->arena, double, space->analysis->trace->n_ranks)};
    if (point.alloc) {
        point.function = counts_function(counts, function);
        point.routine = routine_put(space, point.function->name);
        point.is_asked = point.alloc->asked != POINTS_ASKED;
        if (point.is_asked)
            point.callee = routine_put(space, point.alloc->callee);
        space->routines.at[point.routine].source_name = point.function->source_name;
        point.next = space->routines.at[point.routine].points;
        space->routines.at[point.routine].points = (uint32_t)space->points.n;
    }
    if (point.is_asked) {
        point.next_call = space->routines.at[point.callee].calls;
        space->routines.at[point.callee].calls = (uint32_t)space->points.n;
    }
    *vec_push(&space->points) = point;
    space->point_at.at[counter] = (uint32_t)space->points.n;
    return &space->points.at[space->points.n - 1];
}

/* The bytes of a list of points; `is_calls`: of calls. */
static double sum_bytes(const struct space *space, uint32_t first, bool is_calls, uint32_t rank)
{
    double sum = 0;
    for (uint32_t i = first; i != NONE; i = is_calls ? space->points.at[i].next_call : space->points.at[i].next)
        sum += space->points.at[i].bytes[rank];
    return sum;
}

static void scale_bytes(struct space *space, uint32_t first, bool is_calls, uint32_t rank, double factor)
{
    for (uint32_t i = first; i != NONE; i = is_calls ? space->points.at[i].next_call : space->points.at[i].next)
        space->points.at[i].bytes[rank] = round(space->points.at[i].bytes[rank] * factor);
}

/* What a routine asks others for is known. */
static bool is_ready(const struct space *space, const struct routine *routine)
{
    for (uint32_t i = routine->points; i != NONE; i = space->points.at[i].next)
        if (space->points.at[i].is_asked)
            return false;
    return true;
}

/* Bytes of a routine become those of the calls that asked it for them. A call that is taken for such because of its
 * type is none where the routine does not ask for as much; of a library's routine only a declaration can tell. */
static void settle(struct space *space, struct routine *routine)
{
    double own = 0, asked = 0;
    uint32_t n_ranks = space->analysis->trace->n_ranks;
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        own += sum_bytes(space, routine->points, false, rank);
        asked += sum_bytes(space, routine->calls, true, rank);
    }
    for (uint32_t rank = 0; rank < n_ranks && routine->points != NONE; rank++) {
        double has = sum_bytes(space, routine->points, false, rank);
        double wanted = sum_bytes(space, routine->calls, true, rank), given = asked <= own ? fmin(has, wanted) : 0;
        scale_bytes(space, routine->calls, true, rank, wanted > 0 ? given / wanted : 0);
        scale_bytes(space, routine->points, false, rank, has > 0 ? (has - given) / has : 0);
    }
    for (uint32_t i = routine->calls; i != NONE; i = space->points.at[i].next_call) {
        struct point *point = &space->points.at[i];
        point->is_asked = false;
        if (routine->points == NONE && point->alloc->asked != POINTS_ASKED_OF)
            memset(point->bytes, 0, n_ranks * sizeof *point->bytes);
    }
    routine->is_settled = true;
}

/* Callees first; those that call each other in a circle ask nobody. */
static void settle_all(struct space *space)
{
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        for (uint32_t i = 0; i < space->routines.n; i++)
            if (!space->routines.at[i].is_settled && is_ready(space, &space->routines.at[i])) {
                settle(space, &space->routines.at[i]);
                is_changed = true;
            }
    }
    for (size_t i = 0; i < space->points.n; i++)
        if (space->points.at[i].is_asked)
            memset(space->points.at[i].bytes, 0, space->analysis->trace->n_ranks * sizeof(double));
}

static void add_allocations(struct space *space)
{
    struct analysis *analysis = space->analysis;
    for (size_t i = 0; i < space->points.n; i++) {
        const struct point *point = &space->points.at[i];
        for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++) {
            if (!(point->bytes[rank] > 0))
                continue;
            uint32_t id = allocation_put(space, point->alloc ? allocation_make(space, point) : allocation_unknown());
            uint64_t bytes = (uint64_t)fmin(point->bytes[rank], 0x1p62); /* damaged counts may be beyond */
            space->found.at[id].rank_bytes[rank] += bytes;
            space->found.at[id].bytes += bytes;
            analysis->allocated_bytes += bytes;
        }
    }
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
        point_of(&space, counter)->bytes[rank] += bins->at[i].ns;
    }
    settle_all(&space);
    add_allocations(&space);
    space_write(&space);
    intern_release(&space.routine_names);
    intern_release(&space.names);
    vec_release(&space.routines);
    vec_release(&space.points);
    vec_release(&space.found);
    vec_release(&space.point_at);
    arena_release(&space.arena);
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

/* Asked for in the code of the cause or of one of its parts: a cause is named by its heaviest loop, and what is asked
 * for stands as often beside it. */
static bool cause_asks(const struct analysis *analysis, const struct cause *cause, const struct allocation *allocation)
{
    uint32_t named = analysis->steps[cause->step].place;
    if (named != CODE_NONE && is_within(analysis->code, allocation->place, named))
        return true;
    for (uint32_t i = 0; i < cause->n_parts; i++) {
        uint32_t place = analysis->steps[cause->parts[i].step].place;
        if (place != CODE_NONE && place == allocation->place)
            return true;
    }
    return false;
}

void space_add_to_causes(struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->n_causes && analysis->code; i++)
        for (uint32_t k = 0; k < analysis->n_allocations; k++)
            if (cause_asks(analysis, &analysis->causes[i], &analysis->allocations[k]))
                cause_add_bytes(&analysis->allocations[k], &analysis->causes[i]);
}
