/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/flows.h"
#include "analyze/blame/late.h"
#include "analyze/constants/constants.h"
#include "analyze/counts/executions.h"
#include "analyze/counts/turns.h"
#include "analyze/profile/callgraph.h"
#include <math.h>
#include <stdlib.h>
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

bool *flows_late_of(struct arena *arena, const struct cause *cause)
{
    double least_ns = NOTABLY_LONGER * cause_usual_ns(cause);
    bool *is_late = arena_array(arena, bool, cause->n_late + 1), has_longer = false;
    for (uint32_t i = 0; i < cause->n_late; i++)
        has_longer |= cause->ranks[i].time_ns >= least_ns;
    for (uint32_t i = 0; i < cause->n_late; i++)
        is_late[i] = !has_longer || cause->ranks[i].time_ns >= least_ns;
    return is_late;
}

/* Over the run, as executions are compared. */
static void add_ranks(struct flows *flows, uint32_t n_ranks, const struct measures *measures, const struct cause *cause,
                      struct sparse *sides)
{
    struct arena scratch = {0};
    signed char *side_of = arena_alloc(&scratch, n_ranks + 1);
    const bool *is_late = flows_late_of(&scratch, cause);
    memset(side_of, N_SIDES, n_ranks + 1);
    for (uint32_t i = 0; i < cause->n_late; i++) {
        side_of[cause->ranks[i].rank] = is_late[i] ? LATE : N_SIDES;
        flows->n_processes[LATE] += is_late[i];
    }
    struct part_floor floor = late_part_floor(cause);
    for (uint32_t i = cause->n_late; i < cause->n_ranks + cause->n_others; i++) {
        const struct cause_rank *rank = cause_rank_at(cause, i);
        bool is_other = late_has_part(&floor, rank);
        side_of[rank->rank] = is_other ? OTHERS : N_SIDES;
        flows->n_processes[OTHERS] += is_other;
    }
    for (size_t i = 0; i < measures->bins.n; i++) {
        const struct term *term = &measures->bins.at[i];
        uint32_t rank = key_rank(term->key);
        if (rank < n_ranks && side_of[rank] < N_SIDES)
            sparse_add(&sides[(int)side_of[rank]], key_atom(term->key), term->ns);
    }
    arena_release(&scratch);
}

void flows_read_side(struct flows *flows, enum flow_side side, const struct sparse *counts)
{
    flows->side = side;
    executions_each_flow(flows->executions, counts->at, counts->n, read_flow, flows);
}

void flows_read(struct flows *flows, const struct analysis *analysis, const struct measures *measures,
                const struct cause *cause)
{
    struct sparse sides[N_SIDES] = {0};
    if (cause->n_others || cause->n_late < cause->n_ranks)
        add_ranks(flows, analysis->trace->n_ranks, measures, cause, sides);
    else {
        /* Late ranks if all ranks are late at times: over the classes that the cause has a part in. */
        flows->is_pieces = true;
        flows->n_processes[LATE] = flows->n_processes[OTHERS] = 1;
        for (uint32_t i = 0; i < cause->n_sites; i++) {
            const struct cause_site *site = &cause->sites[i];
            for (uint32_t k = 0; k < site->n_classes; k++) {
                const struct sparse *counts = &measures->classes->sites.at[measures->site_order[site->site]]
                                                   .classes.at[site->classes[k] - 1]
                                                   ->counts;
                for (size_t t = 0; t < counts->n; t++)
                    sparse_add(&sides[counts->at[t].key & KEY_WAITING ? OTHERS : LATE], key_atom(counts->at[t].key),
                               counts->at[t].ns);
            }
        }
    }
    for (int side = 0; side < N_SIDES; side++) {
        sparse_pack(&sides[side]);
        flows_read_side(flows, (enum flow_side)side, &sides[side]);
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

void flow_known_release(struct flow_known *known)
{
    map_release(&known->callees);
    map_release(&known->copies);
    arena_release(&known->arena);
}

/* By number of the function's addresses: the entry in the same module to which that call leads; 0 = none. */
static const uint64_t *callees_of(struct flows *flows, const struct flow_routine *routine)
{
    bool is_new;
    const struct counts_function *function = routine->function;
    uint64_t *slot = map_put(&flows->known->callees, (uint64_t)(uintptr_t)function, &is_new);
    if (!is_new)
        return (const uint64_t *)(uintptr_t)*slot;
    uint64_t *entries = arena_array(&flows->known->arena, uint64_t, function->n_addresses + 1);
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

uint32_t flow_loop_place(struct executions *executions, const struct flow_routine *routine, uint32_t loop)
{
    const struct cfg_loops *loops = &routine->function->loops;
    uint32_t found = CODE_NONE;
    for (uint32_t i = 0; i <= loops->at[loop].n_blocks; i++) {
        uint32_t block = i ? loops->at[loop].blocks[i - 1] : loops->at[loop].head;
        uint32_t place = loops->innermost[block] == loop
                             ? executions_block_place(executions, routine->module, routine->function, block)
                             : CODE_NONE;
        if (place != CODE_NONE && code_place(executions->code, place)->is_loop)
            return place;
        found = found == CODE_NONE ? place : found;
    }
    return found;
}

/* By loop the first of its copies: loops come after those around them. */
static const uint32_t *copies_of(struct flows *flows, const struct flow_routine *routine)
{
    bool is_new;
    const struct cfg_loops *loops = &routine->function->loops;
    uint64_t *slot = map_put(&flows->known->copies, (uint64_t)(uintptr_t)routine->function, &is_new);
    if (!is_new)
        return (const uint32_t *)(uintptr_t)*slot;
    uint32_t *first = arena_array(&flows->known->arena, uint32_t, loops->n + 1);
    *slot = (uint64_t)(uintptr_t)first;
    struct map by_place = {0}; /* of the loops in one: place and loop around -> first copy */
    for (uint32_t l = 0; l < loops->n; l++) {
        uint32_t place = flow_loop_place(flows->executions, routine, l), parent = loops->at[l].parent;
        first[l] = l;
        if (place == CODE_NONE || !code_place(flows->executions->code, place)->is_loop)
            continue;
        uint64_t *copy = map_put(&by_place, key_pair(place, parent == CFG_NONE ? CFG_NONE : first[parent]), &is_new);
        if (is_new)
            *copy = l;
        first[l] = (uint32_t)*copy;
    }
    map_release(&by_place);
    return first;
}

static void reach_one(struct flows *flows, uint32_t number)
{
    struct flow_routine *routine = &flows->routines.at[number];
    uint32_t n = routine->function->n_blocks;
    if (routine->length)
        return;
    *vec_push(&flows->reached) = number;
    flows_find_calls(flows, number);
    routine->first_copy = copies_of(flows, routine);
    routine->length = arena_array(&flows->arena, double, n);
    for (uint32_t b = 0; b < n && !flows->has_focus; b++)
        routine->length[b] = executions_block_length(flows->executions, routine->module, routine->function, b) +
                             work_weight(flows->known->weighed, &routine->function->blocks[b]);
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
        for (uint32_t k = 0; k < routine->n_calls; k++) {
            uint32_t to = of.node[routine->at[k].callee];
            double calls = routine->blocks[side][routine->at[k].block];
            if (to == i || to == CFG_NONE)
                continue;
            if (of.arc_of[to] != i + 1) {
                of.arc_of[to] = i + 1;
                of.arc_to[to] = of.graph.n_arcs;
                of.graph.arcs[of.graph.n_arcs++] = (struct callgraph_arc){.from = i, .to = to};
            }
            of.graph.arcs[of.arc_to[to]].calls += calls;
            of.calls_in[to] += calls;
        }
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

bool flow_is_same_loop(const struct flow_routine *routine, uint32_t a, uint32_t b)
{
    return a == b || (a != CFG_NONE && b != CFG_NONE && routine->first_copy[a] == routine->first_copy[b]);
}

bool flow_is_in(const struct flow_routine *routine, uint32_t loop, uint32_t block)
{
    const struct cfg_loops *loops = &routine->function->loops;
    uint32_t at = loops->innermost[block];
    while (!flow_is_same_loop(routine, at, loop) && at != CFG_NONE)
        at = loops->at[at].parent;
    return flow_is_same_loop(routine, at, loop);
}

/* At the head it may only choose the copy of the loop that goes on with it. */
static bool goes_on_in_copy(const struct flow_routine *routine, uint32_t loop, uint32_t exit)
{
    const struct cfg *cfg = &routine->function->cfg;
    uint32_t head = routine->function->loops.at[loop].head, to = cfg->edges.at[exit].to;
    if (cfg->edges.at[exit].from != head || cfg_leads_to(cfg, head, head))
        return false;
    for (uint32_t n = 0; n < cfg->n_blocks && !flow_is_in(routine, loop, to); n++) {
        if (cfg->out_at[to + 1] != cfg->out_at[to] + 1)
            return false;
        to = cfg->edges.at[cfg->out[cfg->out_at[to]]].to;
    }
    return flow_is_in(routine, loop, to);
}

double flow_turns(const struct flow_routine *routine, uint32_t loop, enum flow_side side)
{
    const struct cfg_loops *loops = &routine->function->loops;
    struct arena scratch = {0};
    bool *asks = arena_array(&scratch, bool, routine->function->n_blocks);
    double turns = 0;
    for (uint32_t l = 0; l < loops->n; l++) {
        const struct cfg_loop *at = &loops->at[l];
        if (!flow_is_same_loop(routine, l, loop))
            continue;
        turns_find_asking(routine->function, l, asks);
        turns += routine->blocks[side][at->head];
        for (uint32_t i = 0; i < at->n_exits; i++) {
            uint32_t from = routine->function->cfg.edges.at[at->exits[i]].from;
            bool is_no_turn = asks[from] || goes_on_in_copy(routine, l, at->exits[i]);
            turns -= is_no_turn ? routine->edges[side][at->exits[i]] : 0;
        }
    }
    arena_release(&scratch);
    return turns;
}

/* By block: the part of what comes there that has left the loop since the loop around it went round. */
static double *left_parts(struct arena *arena, const struct flow_routine *routine, uint32_t loop, enum flow_side side)
{
    const struct counts_function *function = routine->function;
    const struct cfg_loops *loops = &function->loops;
    uint32_t parent = loops->at[loop].parent;
    double *part = arena_array(arena, double, function->n_blocks);
    bool *calls = arena_array(arena, bool, function->n_blocks);
    for (uint32_t i = 0; i < function->n_addresses; i++)
        calls[function->addresses[i].block] |= function->addresses[i].what != POINTS_CODE;
    for (uint32_t i = 0; i < loops->order.n; i++) {
        uint32_t block = loops->order.topological[i], innermost = loops->innermost[block];
        double n = 0, left = 0;
        for (uint32_t k = function->cfg.in_at[block]; k < function->cfg.in_at[block + 1]; k++) {
            uint32_t edge = function->cfg.in[k], from = function->cfg.edges.at[edge].from;
            n += routine->edges[side][edge];
            if (!loops->order.is_retreating[edge])
                left += routine->edges[side][edge] * part[from];
        }
        if (flow_is_in(routine, loop, block))
            part[block] = 1;
        else if (n > 0 && !calls[block] && flow_is_same_loop(routine, innermost, parent))
            part[block] = left / n;
    }
    return part;
}

double flow_entries(const struct flow_routine *routine, uint32_t loop, enum flow_side side)
{
    const struct cfg *cfg = &routine->function->cfg;
    const struct cfg_loops *loops = &routine->function->loops;
    struct arena scratch = {0};
    const double *left = left_parts(&scratch, routine, loop, side);
    double entries = 0;
    for (uint32_t l = 0; l < loops->n; l++) {
        uint32_t head = loops->at[l].head;
        if (!flow_is_same_loop(routine, l, loop))
            continue;
        for (uint32_t i = cfg->in_at[head]; i < cfg->in_at[head + 1]; i++)
            entries += routine->edges[side][cfg->in[i]] * (1 - left[cfg->edges.at[cfg->in[i]].from]);
    }
    arena_release(&scratch);
    return entries;
}
