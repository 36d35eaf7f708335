/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each caller's time in the runs gives the proportions in which callers share a routine's time in the sum, so that
 * gprof's recurrence gives back the sums of the runs' totals.
 */
#include "analyze/profile/sum.h"
#include "analyze/profile/callgraph.h"
#include "wrap/base/containers.h"

struct summing {
    struct arena *arena;
    struct intern names, pairs;
    VEC(struct routine_profile) routines;
    VEC(struct routine_arc) arcs;
};

static void add_profile(struct summing *sums, const struct profile *profile)
{
    uint32_t *number = arena_array(sums->arena, uint32_t, profile->n_routines + 1);
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        const struct routine_profile *routine = &profile->routines[i];
        const char *key =
            arena_printf(sums->arena, "%s\n%s\n%u", routine->name, routine->file ? routine->file : "", routine->line);
        number[i] = intern_text(&sums->names, key);
        if (number[i] == sums->routines.n)
            *vec_push(&sums->routines) = (struct routine_profile){.name = routine->name,
                                                                  .file = routine->file,
                                                                  .line = routine->line,
                                                                  .is_mpi = routine->is_mpi,
                                                                  .is_nameless = routine->is_nameless};
        struct routine_profile *sum = &sums->routines.at[number[i]];
        sum->self_ns += routine->self_ns;
        sum->total_ns += routine->total_ns;
        sum->calls += routine->calls;
        sum->calls_from_unknown += routine->calls_from_unknown;
        sum->calls_to_unknown += routine->calls_to_unknown;
        sum->calls_by_itself += routine->calls_by_itself;
    }
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        uint32_t pair[2] = {number[arc->from], number[arc->to]};
        uint32_t at = intern_put(&sums->pairs, pair, sizeof pair);
        if (at == sums->arcs.n)
            *vec_push(&sums->arcs) = (struct routine_arc){.from = pair[0], .to = pair[1]};
        sums->arcs.at[at].calls += arc->calls;
        sums->arcs.at[at].self_ns += arc->self_ns;
        sums->arcs.at[at].below_ns += arc->below_ns;
    }
}

struct profile profile_sum(struct arena *arena, const struct profile *const *profiles, size_t n_profiles)
{
    struct summing sums = {.arena = arena};
    struct profile sum = {0};
    for (size_t i = 0; i < n_profiles; i++) {
        add_profile(&sums, profiles[i]);
        sum.time_ns += profiles[i]->time_ns;
        sum.left_out_ns += profiles[i]->left_out_ns;
        sum.is_bytes = profiles[i]->is_bytes;
    }
    sum.n_routines = (uint32_t)sums.routines.n;
    sum.n_arcs = (uint32_t)sums.arcs.n;
    sum.routines = arena_copy(arena, sums.routines.at, sum.n_routines * sizeof *sum.routines);
    sum.arcs = arena_copy(arena, sums.arcs.at, sum.n_arcs * sizeof *sum.arcs);
    struct callgraph graph = {.nodes = arena_array(arena, struct callgraph_node, sum.n_routines + 1),
                              .arcs = arena_array(arena, struct callgraph_arc, sum.n_arcs + 1),
                              .n_nodes = sum.n_routines,
                              .n_arcs = sum.n_arcs};
    for (uint32_t i = 0; i < sum.n_routines; i++)
        graph.nodes[i] =
            (struct callgraph_node){.self_ns = sum.routines[i].self_ns, .unknown_callers = sum.routines[i].total_ns};
    for (uint32_t i = 0; i < sum.n_arcs; i++) {
        const struct routine_arc *arc = &sum.arcs[i];
        double ns = arc->self_ns + arc->below_ns;
        graph.arcs[i] = (struct callgraph_arc){.from = arc->from, .to = arc->to, .calls = ns};
        graph.nodes[arc->to].unknown_callers -= ns;
    }
    callgraph_solve(&graph);
    sum.n_cycles = graph.n_cycles;
    sum.cycle_total_ns = arena_copy(arena, graph.cycle_total_ns, (graph.n_cycles + 1) * sizeof *sum.cycle_total_ns);
    for (uint32_t i = 0; i < sum.n_routines; i++) {
        sum.routines[i].total_ns = graph.nodes[i].total_ns;
        sum.routines[i].cycle = graph.nodes[i].cycle;
    }
    for (uint32_t i = 0; i < sum.n_arcs; i++) {
        sum.arcs[i].self_ns = graph.arcs[i].self_ns;
        sum.arcs[i].below_ns = graph.arcs[i].below_ns;
    }
    callgraph_release(&graph);
    intern_release(&sums.names);
    intern_release(&sums.pairs);
    vec_release(&sums.routines);
    vec_release(&sums.arcs);
    return sum;
}
