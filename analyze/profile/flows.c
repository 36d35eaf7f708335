/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/flows.h"
#include "analyze/profile/callgraph.h"
#include <math.h>
#include <string.h>

enum { ROUTINES_MOST = 1000 }; /* that are reached from one cause */

static uint64_t entry_key(uint32_t module, uint64_t address)
{
    return (uint64_t)module << 48 ^ address;
}

static void read_flow(void *context, uint32_t module, const struct counts_function *function, const int64_t *edges,
                      int64_t calls)
{
    struct flows *flows = context;
    bool is_new;
    uint64_t *slot = map_put(&flows->by_function, (uint64_t)(uintptr_t)function, &is_new);
    size_t n_edges = function->cfg.edges.n;
    if (is_new) {
        struct flow_routine routine = {.function = function, .module = module};
        for (int side = 0; side < N_SIDES; side++) {
            routine.edges[side] = arena_array(&flows->arena, double, n_edges);
            routine.blocks[side] = arena_array(&flows->arena, double, function->n_blocks);
        }
        *vec_push(&flows->routines) = routine;
        *slot = flows->routines.n;
        *map_put(&flows->by_entry, entry_key(module, function->address), NULL) = flows->routines.n;
    }
    struct flow_routine *routine = &flows->routines.at[*slot - 1];
    double n = flows->n_processes[flows->side];
    routine->calls[flows->side] = routine->blocks[flows->side][BLOCK_ROOT] = (double)calls / n;
    for (size_t e = 0; e < n_edges; e++) {
        routine->edges[flows->side][e] = (double)edges[e] / n;
        routine->blocks[flows->side][function->cfg.edges.at[e].to] += (double)edges[e] / n;
    }
}

/* Over the run, as executions are compared. */
static void add_ranks(struct flows *flows, uint32_t n_ranks, const struct measures *measures, const struct cause *cause,
                      struct sparse *sides)
{
    struct arena scratch = {0};
    signed char *side_of = arena_alloc(&scratch, n_ranks + 1);
    memset(side_of, N_SIDES, n_ranks + 1);
    for (uint32_t i = 0; i < cause->n_ranks; i++)
        side_of[cause->ranks[i].rank] = i < cause->n_late ? LATE : OTHERS;
    for (uint32_t i = 0; i < cause->n_others; i++)
        side_of[cause->others[i].rank] = OTHERS;
    flows->n_processes[LATE] = cause->n_late;
    flows->n_processes[OTHERS] = cause->n_ranks - cause->n_late + cause->n_others;
    for (size_t i = 0; i < measures->bins.n; i++) {
        const struct term *term = &measures->bins.at[i];
        uint32_t rank = key_rank(term->key);
        if (rank < n_ranks && side_of[rank] < N_SIDES)
            sparse_add(&sides[(int)side_of[rank]], key_atom(term->key), term->ns);
    }
    arena_release(&scratch);
}

/* Where everybody is late at times: whoever is, over the classes that the cause has a part in. */
static void add_classes(struct flows *flows, const struct measures *measures, const struct cause *cause,
                        struct sparse *sides)
{
    flows->n_processes[LATE] = flows->n_processes[OTHERS] = 1;
    for (uint32_t i = 0; i < cause->n_sites; i++) {
        const struct cause_site *site = &cause->sites[i];
        for (uint32_t k = 0; k < site->n_classes; k++) {
            const struct sparse *counts =
                &measures->classes->sites.at[measures->site_order[site->site]].classes.at[site->classes[k] - 1].counts;
            for (size_t t = 0; t < counts->n; t++)
                sparse_add(&sides[counts->at[t].key & KEY_WAITING ? OTHERS : LATE], key_atom(counts->at[t].key),
                           counts->at[t].ns);
        }
    }
}

void flows_read(struct flows *flows, const struct analysis *analysis, const struct measures *measures,
                const struct cause *cause)
{
    struct sparse sides[N_SIDES] = {0};
    if (cause->n_others || cause->n_late < cause->n_ranks)
        add_ranks(flows, analysis->trace->n_ranks, measures, cause, sides);
    else
        add_classes(flows, measures, cause, sides);
    for (int side = 0; side < N_SIDES; side++) {
        flows->side = (enum flow_side)side;
        sparse_pack(&sides[side]);
        executions_each_flow(flows->executions, sides[side].at, sides[side].n, read_flow, flows);
        sparse_release(&sides[side]);
    }
}

void flows_release(struct flows *flows)
{
    vec_release(&flows->routines);
    vec_release(&flows->reached);
    map_release(&flows->by_function);
    map_release(&flows->by_entry);
    arena_release(&flows->arena);
}

void flow_callees_release(struct flow_callees *callees)
{
    map_release(&callees->of_function);
    arena_release(&callees->arena);
}

/* By number of the function's addresses: the entry in the same module to which that call leads; 0 = none. */
static const uint64_t *callees_of(struct flows *flows, const struct flow_routine *routine)
{
    bool is_new;
    const struct counts_function *function = routine->function;
    uint64_t *slot = map_put(&flows->callees->of_function, (uint64_t)(uintptr_t)function, &is_new);
    if (!is_new)
        return (const uint64_t *)(uintptr_t)*slot;
    uint64_t *entries = arena_array(&flows->callees->arena, uint64_t, function->n_addresses + 1);
    for (uint32_t i = 0; i < function->n_addresses; i++) {
        struct code_callee callee;
        if (function->addresses[i].what != POINTS_CODE &&
            code_callee_at(flows->executions->code, routine->module, function->addresses[i].address, &callee))
            entries[i] = callee.address;
    }
    *slot = (uint64_t)(uintptr_t)entries;
    return entries;
}

void flows_find_calls(struct flows *flows, uint32_t number)
{
    struct flow_routine *routine = &flows->routines.at[number];
    const struct counts_function *function = routine->function;
    if (routine->at)
        return;
    const uint64_t *entries = callees_of(flows, routine);
    routine->at = arena_array(&flows->arena, struct flow_call, function->n_addresses + 1);
    for (uint32_t i = 0; i < function->n_addresses; i++) {
        const uint64_t *known = entries[i] ? map_get(&flows->by_entry, entry_key(routine->module, entries[i])) : NULL;
        if (known && *known)
            routine->at[routine->n_calls++] = (struct flow_call){function->addresses[i].block, (uint32_t)*known - 1};
    }
}

static void reach_one(struct flows *flows, uint32_t number)
{
    struct flow_routine *routine = &flows->routines.at[number];
    uint32_t n = routine->function->n_blocks;
    if (routine->length)
        return;
    *vec_push(&flows->reached) = number;
    flows_find_calls(flows, number);
    routine->length = arena_array(&flows->arena, double, n);
    for (uint32_t b = 0; b < n && !flows->has_focus; b++)
        routine->length[b] = executions_block_length(flows->executions, routine->module, routine->function, b);
    for (int side = 0; side < N_SIDES; side++)
        routine->work[side] = arena_array(&flows->arena, double, n);
}

void flows_reach(struct flows *flows, uint32_t routine)
{
    reach_one(flows, routine);
    for (size_t i = 0; i < flows->reached.n && flows->reached.n < ROUTINES_MOST; i++) {
        uint32_t at = flows->reached.at[i];
        for (uint32_t k = 0; k < flows->routines.at[at].n_calls; k++)
            reach_one(flows, flows->routines.at[at].at[k].callee);
    }
}

double flow_calls_of_itself(const struct flow_routine *routine, uint32_t number, enum flow_side side)
{
    double calls = 0;
    for (uint32_t k = 0; k < routine->n_calls; k++)
        if (routine->at[k].callee == number)
            calls += routine->blocks[side][routine->at[k].block];
    return calls;
}

/* The reached routines as nodes. */
struct side_graph {
    struct arena arena;
    struct callgraph graph;
    uint32_t *node;   /* by routine; CFG_NONE */
    uint32_t *arc_to; /* by node: the arc to it from the node in hand + 1, where `arc_of` says so */
    uint32_t *arc_of; /* by node: node in hand + 1 */
    double *calls_in; /* by node, without those of itself */
};

static void add_arcs(struct side_graph *of, const struct flow_routine *routine, uint32_t from, enum flow_side side)
{
    for (uint32_t k = 0; k < routine->n_calls; k++) {
        uint32_t to = of->node[routine->at[k].callee];
        double calls = routine->blocks[side][routine->at[k].block];
        if (to == from || to == CFG_NONE)
            continue;
        if (of->arc_of[to] != from + 1) {
            of->arc_of[to] = from + 1;
            of->arc_to[to] = of->graph.n_arcs;
            of->graph.arcs[of->graph.n_arcs++] = (struct callgraph_arc){.from = from, .to = to};
        }
        of->graph.arcs[of->arc_to[to]].calls += calls;
        of->calls_in[to] += calls;
    }
}

static struct side_graph graph_make(const struct flows *flows, enum flow_side side)
{
    struct side_graph of = {.graph.n_nodes = (uint32_t)flows->reached.n};
    uint32_t n = of.graph.n_nodes, n_calls = 0;
    of.node = arena_array(&of.arena, uint32_t, flows->routines.n + 1);
    for (uint32_t i = 0; i < flows->routines.n; i++)
        of.node[i] = CFG_NONE;
    for (uint32_t i = 0; i < n; i++) {
        of.node[flows->reached.at[i]] = i;
        n_calls += flows->routines.at[flows->reached.at[i]].n_calls;
    }
    of.arc_to = arena_array(&of.arena, uint32_t, n);
    of.arc_of = arena_array(&of.arena, uint32_t, n);
    of.calls_in = arena_array(&of.arena, double, n);
    of.graph.nodes = arena_array(&of.arena, struct callgraph_node, n);
    of.graph.arcs = arena_array(&of.arena, struct callgraph_arc, n_calls);
    for (uint32_t i = 0; i < n; i++) {
        const struct flow_routine *routine = &flows->routines.at[flows->reached.at[i]];
        for (uint32_t b = 0; b < routine->function->n_blocks; b++)
            of.graph.nodes[i].self_ns += routine->blocks[side][b] * routine->length[b];
        add_arcs(&of, routine, i, side);
    }
    return of;
}

static void find_work(struct flows *flows, enum flow_side side)
{
    struct side_graph of = graph_make(flows, side);
    for (uint32_t i = 0; i < of.graph.n_nodes; i++) {
        uint32_t number = flows->reached.at[i];
        struct flow_routine *routine = &flows->routines.at[number];
        routine->each[side] = routine->calls[side] - flow_calls_of_itself(routine, number, side);
        of.graph.nodes[i].unknown_callers = fmax(routine->each[side] - of.calls_in[i], 0);
    }
    callgraph_solve(&of.graph);
    for (uint32_t i = 0; i < of.graph.n_nodes; i++) {
        double *each = &flows->routines.at[flows->reached.at[i]].each[side];
        *each = *each > 0 ? of.graph.nodes[i].total_ns / *each : 0;
    }
    for (uint32_t i = 0; i < of.graph.n_nodes; i++) {
        uint32_t number = flows->reached.at[i];
        struct flow_routine *routine = &flows->routines.at[number];
        for (uint32_t b = 0; b < routine->function->n_blocks; b++)
            routine->work[side][b] = routine->blocks[side][b] * routine->length[b];
        for (uint32_t k = 0; k < routine->n_calls; k++)
            if (routine->at[k].callee != number)
                routine->work[side][routine->at[k].block] +=
                    routine->blocks[side][routine->at[k].block] * flows->routines.at[routine->at[k].callee].each[side];
    }
    callgraph_release(&of.graph);
    arena_release(&of.arena);
}

void flows_find_work(struct flows *flows)
{
    find_work(flows, LATE);
    find_work(flows, OTHERS);
}
