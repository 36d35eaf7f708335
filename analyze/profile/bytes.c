/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph of routines with bytes instead of times. Allocations have no call stacks, but programs that record them
 * count their calls: gprof's recurrence needs no more.
 */
#include "analyze/profile/callgraph.h"
#include "analyze/profile/profile.h"
#include <string.h>

/* The routine of an allocation: one of that name, best in the same file. */
static uint32_t routine_of(const struct profile *profile, const struct allocation *allocation)
{
    uint32_t found = TRACE_NONE;
    const char *name = allocation->routine ? allocation->routine : "(unknown)";
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        const struct routine_profile *routine = &profile->routines[i];
        if (strcmp(routine->name, name) != 0)
            continue;
        if (routine->file && allocation->file && !strcmp(routine->file, allocation->file))
            return i;
        found = found == TRACE_NONE ? i : found;
    }
    return found;
}

/* The routines of the profile of time, and those that only allocate. */
static struct profile bytes_layout(struct analysis *analysis)
{
    const struct profile *time = &analysis->profile;
    struct arena *arena = &analysis->arena;
    uint32_t n_ranks = analysis->trace->n_ranks;
    struct profile bytes = {.n_routines = time->n_routines,
                            .n_arcs = time->n_arcs,
                            .time_ns = (double)analysis->allocated_bytes,
                            .is_bytes = true,
                            .uncalled = time->uncalled,
                            .n_uncalled = time->n_uncalled};
    bytes.routines = arena_array(arena, struct routine_profile, time->n_routines + analysis->n_allocations);
    bytes.arcs = arena_array(arena, struct routine_arc, time->n_arcs);
    memcpy(bytes.routines, time->routines, time->n_routines * sizeof *bytes.routines);
    memcpy(bytes.arcs, time->arcs, time->n_arcs * sizeof *bytes.arcs);
    for (uint32_t i = 0; i < analysis->n_allocations; i++)
        if (routine_of(&bytes, &analysis->allocations[i]) == TRACE_NONE) {
            const char *name = analysis->allocations[i].routine;
            bytes.routines[bytes.n_routines++] =
                (struct routine_profile){.name = name ? name : "(unknown)", .is_nameless = !name};
        }
    for (uint32_t i = 0; i < bytes.n_routines; i++) {
        bytes.routines[i].self_ns = bytes.routines[i].total_ns = 0;
        bytes.routines[i].rank_self_ns = arena_array(arena, double, n_ranks);
        bytes.routines[i].rank_total_ns = arena_array(arena, double, n_ranks);
    }
    for (uint32_t i = 0; i < bytes.n_arcs; i++)
        bytes.arcs[i].self_ns = bytes.arcs[i].below_ns = 0;
    for (uint32_t i = 0; i < analysis->n_allocations; i++) {
        const struct allocation *allocation = &analysis->allocations[i];
        struct routine_profile *routine = &bytes.routines[routine_of(&bytes, allocation)];
        for (uint32_t rank = 0; rank < n_ranks; rank++)
            routine->rank_self_ns[rank] += (double)allocation->rank_bytes[rank];
    }
    return bytes;
}

struct profile profile_of_bytes(struct analysis *analysis)
{
    struct profile bytes = bytes_layout(analysis);
    struct arena scratch = {0};
    struct callgraph graph = {.n_nodes = bytes.n_routines, .n_arcs = bytes.n_arcs};
    graph.nodes = arena_array(&scratch, struct callgraph_node, bytes.n_routines);
    graph.arcs = arena_array(&scratch, struct callgraph_arc, bytes.n_arcs);
    for (uint32_t i = 0; i < bytes.n_arcs; i++)
        graph.arcs[i] = (struct callgraph_arc){
            .from = bytes.arcs[i].from, .to = bytes.arcs[i].to, .calls = (double)bytes.arcs[i].calls};
    for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++) {
        for (uint32_t i = 0; i < bytes.n_routines; i++)
            graph.nodes[i] = (struct callgraph_node){.self_ns = bytes.routines[i].rank_self_ns[rank],
                                                     .unknown_callers = (double)bytes.routines[i].calls_from_unknown};
        callgraph_solve(&graph);
        if (!bytes.cycle_total_ns) {
            bytes.n_cycles = graph.n_cycles;
            bytes.cycle_total_ns = arena_array(&analysis->arena, double, graph.n_cycles + 1);
        }
        for (uint32_t i = 0; i < bytes.n_routines; i++) {
            bytes.routines[i].rank_total_ns[rank] = graph.nodes[i].total_ns;
            bytes.routines[i].self_ns += graph.nodes[i].self_ns;
            bytes.routines[i].total_ns += graph.nodes[i].total_ns;
            bytes.routines[i].cycle = graph.nodes[i].cycle;
        }
        for (uint32_t i = 0; i < bytes.n_arcs; i++) {
            bytes.arcs[i].self_ns += graph.arcs[i].self_ns;
            bytes.arcs[i].below_ns += graph.arcs[i].below_ns;
        }
        for (uint32_t i = 1; i <= bytes.n_cycles; i++)
            bytes.cycle_total_ns[i] += graph.cycle_total_ns[i];
        callgraph_release(&graph);
    }
    arena_release(&scratch);
    return bytes;
}
