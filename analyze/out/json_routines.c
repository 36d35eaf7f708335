/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/json_routines.h"
#include "analyze/out/json_text.h"
#include <math.h>

static json_t *ranks_ns(const double *ns, uint32_t n_ranks)
{
    json_t *ranks = json_array();
    for (uint32_t rank = 0; rank < n_ranks; rank++)
        json_array_append_new(ranks, json_integer(llround(ns[rank])));
    return ranks;
}

static json_t *json_routine(const struct routine_profile *routine, uint32_t number, uint32_t n_ranks)
{
    return json_pack("{s:i, s:o, s:o, s:i, s:b, s:I, s:I, s:I, s:i, s:o, s:o, s:[], s:[]}", "number", (int)number,
                     "routine", json_text(routine->name), "file", json_text(routine->file), "line", (int)routine->line,
                     "mpi", routine->is_mpi, "total_ns", (json_int_t)llround(routine->total_ns), "self_ns",
                     (json_int_t)llround(routine->self_ns), "calls", (json_int_t)routine->calls, "cycle",
                     (int)routine->cycle, "rank_total_ns", ranks_ns(routine->rank_total_ns, n_ranks), "rank_self_ns",
                     ranks_ns(routine->rank_self_ns, n_ranks), "called_by", "calls_to");
}

static void add_arc(json_t *routines, uint32_t of, const char *list, uint32_t partner, const struct routine_arc *arc)
{
    json_t *object =
        json_pack("{s:i, s:I, s:I, s:I}", "number", (int)partner, "calls", (json_int_t)arc->calls, "self_ns",
                  (json_int_t)llround(arc->self_ns), "below_ns", (json_int_t)llround(arc->below_ns));
    json_array_append_new(json_object_get(json_array_get(routines, of), list), object);
}

json_t *json_routines(const struct analysis *analysis, const struct profile *profile)
{
    json_t *routines = json_array();
    for (uint32_t i = 0; i < profile->n_routines; i++)
        json_array_append_new(routines, json_routine(&profile->routines[i], i, analysis->trace->n_ranks));
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        add_arc(routines, arc->to, "called_by", arc->from, arc);
        add_arc(routines, arc->from, "calls_to", arc->to, arc);
    }
    return routines;
}
