/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/partings.h"
#include "analyze/blame/late.h"
#include "analyze/code/origin.h"
#include "analyze/constants/constants.h"
#include "analyze/counts/executions.h"
#include "analyze/profile/flows.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bounds on what one cause may cost, and on what is told of it. */
enum { CALLERS_MOST = 1000, BRANCHES_MOST = 400, STEPS_MOST = 16, TOLD_MOST = 12, OTHERS_MOST = 64 };

/* A loop of a routine, or all of it. */
struct region {
    uint32_t routine, loop; /* CFG_NONE: the whole routine */
    double entries[N_SIDES], work[N_SIDES];
};

/* One routine as one process ran it, on the late side of its flows. */
struct rank_flow {
    struct flows flows;
    const struct flow_routine *routine; /* NULL = never */
};

struct parting_search {
    struct flows flows;
    struct rank_flow others[OTHERS_MOST]; /* of routine others_of - 1; 0 = none */
    uint32_t n_others, others_of;
    struct analysis *analysis;
    const struct measures *measures;
    const struct step *cause; /* what names it */
    struct region focus;      /* flows.has_focus: where its work is; is_caller: where it is called */
    bool is_caller;           /* the cause is not counted */
};

struct decision {
    struct parting fact;
    double worth;             /* instructions for each entry of the region */
    uint32_t depth, position; /* how far out it is */
    uint32_t number;          /* of the loop, or of the branch's edge */
    uint32_t callee;          /* the routine to ask; CFG_NONE */
};
typedef VEC(struct decision) decisions;

static struct region region_make(const struct parting_search *search, uint32_t number, uint32_t loop)
{
    struct region region = {.routine = number, .loop = loop};
    const struct flow_routine *routine = &search->flows.routines.at[number];
    for (int i = 0; i < N_SIDES; i++) {
        enum flow_side side = (enum flow_side)i;
        for (uint32_t b = 0; b < routine->function->n_blocks; b++)
            if (b != BLOCK_EXIT && flow_is_in(routine, loop, b))
                region.work[side] += routine->work[side][b];
        region.entries[side] = loop == CFG_NONE ? routine->calls[side] - flow_calls_of_itself(routine, number, side)
                                                : flow_entries(routine, loop, side);
    }
    return region;
}
/* A piece of the run may begin or end in the midst of such a loop. */
static bool loop_waits(const struct parting_search *search, const struct flow_routine *routine, uint32_t loop)
{
    const struct analysis *analysis = search->analysis;
    uint32_t place = flow_loop_place(search->flows.executions, routine, loop);
    for (uint32_t i = 0; i < analysis->n_nodes; i++)
        if (analysis->nodes[i].waits && analysis->steps[analysis->nodes[i].step].place == place)
            return true;
    return false;
}

/* Lines. */

static void name_loop(const struct parting_search *search, const struct flow_routine *routine, uint32_t loop,
                      struct parting *fact)
{
    uint32_t place = flow_loop_place(search->flows.executions, routine, loop);
    const struct code_place *at = place == CODE_NONE ? NULL : code_place(search->analysis->code, place);
    const struct step *cause = search->cause;
    if (!at || !at->is_loop)
        return;
    /* Loops without statements of their own between them have the same lines, which name the cause already. */
    if (fact->is_around && cause->file && at->file && !strcmp(cause->file, at->file) &&
        cause->line_first == at->line_first && cause->line_last == at->line_last)
        return;
    fact->file = at->file;
    fact->line_first = at->line_first;
    fact->line_last = at->line_last;
}

/* Decisions. */

static bool is_around(const struct parting_search *search, uint32_t routine, uint32_t loop)
{
    const struct region *focus = &search->focus;
    const struct flow_routine *at = &search->flows.routines.at[routine];
    if ((!search->flows.has_focus && !search->is_caller) || routine != focus->routine || focus->loop == CFG_NONE)
        return false;
    return (search->is_caller || !flow_is_same_loop(at, loop, focus->loop)) &&
           flow_is_in(at, loop, at->function->loops.at[focus->loop].head);
}

static void decide_trips(const struct parting_search *search, const struct region *region, decisions *found)
{
    const struct flow_routine *routine = &search->flows.routines.at[region->routine];
    const struct cfg_loops *loops = &routine->function->loops;
    for (uint32_t l = 0; l < loops->n; l++) {
        uint32_t head = loops->at[l].head;
        if (routine->first_copy[l] != l || !flow_is_in(routine, region->loop, head) ||
            (region->loop != CFG_NONE && loops->at[l].depth < loops->at[region->loop].depth))
            continue;
        double entries[N_SIDES] = {flow_entries(routine, l, LATE), flow_entries(routine, l, OTHERS)}, work = 0;
        if (!(entries[LATE] > 0) || !(entries[OTHERS] > 0) ||
            (search->flows.is_pieces && loop_waits(search, routine, l)))
            continue;
        for (uint32_t b = 0; b < routine->function->n_blocks; b++)
            work += flow_is_in(routine, l, b) ? routine->work[LATE][b] : 0;
        double turns = flow_turns(routine, l, LATE), trips = turns / entries[LATE];
        double trips_others = flow_turns(routine, l, OTHERS) / entries[OTHERS];
        struct decision decision = {.fact = {.kind = PARTING_TRIPS, .late = trips, .others = trips_others},
                                    .worth = entries[LATE] / region->entries[LATE] * (trips - trips_others) *
                                             (turns > 0 ? work / turns : 0),
                                    .depth = loops->at[l].depth - 1,
                                    .position = loops->order.position[head],
                                    .number = l,
                                    .callee = CFG_NONE};
        decision.fact.entered = entries[LATE] / entries[OTHERS];
        decision.fact.is_itself =
            flow_is_same_loop(routine, l, region->loop) && !search->flows.has_focus && !search->is_caller;
        decision.fact.is_around = is_around(search, region->routine, l);
        name_loop(search, routine, l, &decision.fact);
        *vec_push(found) = decision;
    }
}

/* The work of a side in what cannot be reached but over this edge. */
static double work_behind(const struct parting_search *search, const struct region *region, uint32_t edge,
                          enum flow_side side)
{
    const struct flow_routine *routine = &search->flows.routines.at[region->routine];
    const struct cfg *cfg = &routine->function->cfg;
    struct arena scratch = {0};
    bool *is_reached = arena_array(&scratch, bool, cfg->n_blocks);
    uint32_t *open = arena_array(&scratch, uint32_t, cfg->n_blocks), n_open = 0;
    if (region->loop == CFG_NONE)
        is_reached[open[n_open++] = cfg->root] = true;
    for (uint32_t l = 0; l < routine->function->loops.n; l++) {
        uint32_t head = routine->function->loops.at[l].head;
        if (flow_is_same_loop(routine, l, region->loop))
            is_reached[open[n_open++] = head] = true;
    }
    while (n_open) {
        uint32_t at = open[--n_open];
        for (uint32_t i = cfg->out_at[at]; i < cfg->out_at[at + 1]; i++) {
            uint32_t to = cfg->edges.at[cfg->out[i]].to;
            if (cfg->out[i] == edge || is_reached[to] || !flow_is_in(routine, region->loop, to))
                continue;
            is_reached[open[n_open++] = to] = true;
        }
    }
    double work = 0;
    for (uint32_t b = 0; b < cfg->n_blocks; b++)
        if (!is_reached[b] && b != BLOCK_EXIT && flow_is_in(routine, region->loop, b))
            work += routine->work[side][b];
    arena_release(&scratch);
    return work;
}

/* Ways that lead round a loop or out of it are its trips. */
static bool is_branch(const struct flow_routine *routine, const struct region *region, uint32_t edge)
{
    const struct counts_function *function = routine->function;
    const struct cfg_loops *loops = &function->loops;
    uint32_t from = function->cfg.edges.at[edge].from, to = function->cfg.edges.at[edge].to;
    if (function->cfg.out_at[from + 1] - function->cfg.out_at[from] < 2 || to == BLOCK_EXIT ||
        to == function->dispatcher || loops->order.is_retreating[edge] || !flow_is_in(routine, region->loop, from))
        return false;
    return loops->innermost[from] == CFG_NONE || cfg_loop_contains(loops, loops->innermost[from], to);
}

/* The first line of the condition's own file that the late side comes to, another than the condition's where there is
 * one in that block: what is inlined from elsewhere may come first. 0 = none. */
static uint32_t line_behind(const struct flow_routine *routine, uint32_t block, const struct counts_line *condition)
{
    const struct cfg *cfg = &routine->function->cfg;
    struct arena scratch = {0};
    bool *is_reached = arena_array(&scratch, bool, cfg->n_blocks);
    uint32_t *open = arena_array(&scratch, uint32_t, cfg->n_blocks), n_open = 0, line = 0;
    is_reached[open[n_open++] = block] = true;
    for (uint32_t next = 0; next < n_open && !line; next++) {
        const struct counts_block *at = &routine->function->blocks[open[next]];
        for (uint32_t i = 0; i < at->n_lines && (!line || line == condition->line); i++)
            if (!strcmp(at->lines[i].file, condition->file))
                line = at->lines[i].line;
        for (uint32_t i = cfg->out_at[open[next]]; i < cfg->out_at[open[next] + 1]; i++) {
            uint32_t to = cfg->edges.at[cfg->out[i]].to;
            if (routine->edges[LATE][cfg->out[i]] > 0 && !is_reached[to])
                is_reached[open[n_open++] = to] = true;
        }
    }
    arena_release(&scratch);
    return line;
}

/* The condition comes last in its block, what is chosen first. One that is inlined from a system header is told by the
 * program's line around it. NULL: the block has none. */
static const struct counts_line *line_of_condition(const struct counts_block *block)
{
    for (uint32_t i = block->n_lines; i-- > 0;)
        if (!source_is_system(block->lines[i].file))
            return &block->lines[i];
    return NULL;
}

static void decide_branches(const struct parting_search *search, const struct region *region, decisions *found)
{
    const struct flow_routine *routine = &search->flows.routines.at[region->routine];
    const struct counts_function *function = routine->function;
    uint32_t n_asked = 0;
    for (uint32_t e = 0; e < function->cfg.edges.n && n_asked < BRANCHES_MOST; e++) {
        uint32_t from = function->cfg.edges.at[e].from, to = function->cfg.edges.at[e].to;
        double late = routine->blocks[LATE][from], others = routine->blocks[OTHERS][from];
        if (!(late > 0) || !(others > 0) || !is_branch(routine, region, e))
            continue;
        double part = routine->edges[LATE][e] / late, part_others = routine->edges[OTHERS][e] / others;
        if (part - part_others < NEGLIGIBLE_SHARE)
            continue;
        n_asked++;
        uint32_t around = function->loops.innermost[from];
        struct decision decision = {.fact = {.kind = PARTING_BRANCH, .late = part, .others = part_others},
                                    .worth = (part - part_others) / part * work_behind(search, region, e, LATE) /
                                             region->entries[LATE],
                                    .depth = around == CFG_NONE ? 0 : function->loops.at[around].depth,
                                    .position = function->loops.order.position[from],
                                    .number = e,
                                    .callee = CFG_NONE};
        const struct counts_line *condition = line_of_condition(&function->blocks[from]);
        if (condition) {
            decision.fact.file = condition->file;
            decision.fact.line_first = decision.fact.line_last = condition->line;
            decision.fact.line_to = line_behind(routine, to, condition);
        }
        *vec_push(found) = decision;
    }
}

static void decide_calls(const struct parting_search *search, const struct region *region, decisions *found)
{
    const struct flow_routine *routine = &search->flows.routines.at[region->routine];
    const struct counts_function *function = routine->function;
    for (uint32_t k = 0; k < routine->n_calls; k++) {
        uint32_t block = routine->at[k].block, callee = routine->at[k].callee;
        const struct flow_routine *called = &search->flows.routines.at[callee];
        if (callee == region->routine || !called->length || !flow_is_in(routine, region->loop, block) ||
            !(called->calls[OTHERS] > 0))
            continue;
        uint32_t around = function->loops.innermost[block];
        *vec_push(found) = (struct decision){.worth = routine->blocks[LATE][block] / region->entries[LATE] *
                                                      (called->each[LATE] - called->each[OTHERS]),
                                             .depth = around == CFG_NONE ? 0 : function->loops.at[around].depth,
                                             .position = function->loops.order.position[block],
                                             .callee = callee};
    }
    double own = flow_calls_of_itself(routine, region->routine, LATE);
    if (region->loop != CFG_NONE || !(own > 0) || !(region->entries[OTHERS] > 0))
        return;
    double late = routine->calls[LATE] / region->entries[LATE],
           others = routine->calls[OTHERS] / region->entries[OTHERS];
    struct decision recursion = {.fact = {.kind = PARTING_RECURSION, .late = late, .others = others, .is_itself = true},
                                 .worth = (late - others) * region->work[LATE] / routine->calls[LATE],
                                 .callee = CFG_NONE};
    recursion.fact.file = function->file;
    recursion.fact.line_first = recursion.fact.line_last = function->line;
    *vec_push(found) = recursion;
}

static int by_place(const void *a, const void *b)
{
    const struct decision *left = a, *right = b;
    int order = order_of(left->depth, right->depth) ?: order_of(left->position, right->position);
    return order ?: (left->worth < right->worth) - (left->worth > right->worth);
}

/* The outermost that is worth half of the difference. Else the one that is worth most; NULL when that is little. */
static const struct decision *choose(decisions *found, double difference)
{
    const struct decision *most = NULL;
    vec_sort(found, by_place);
    for (size_t i = 0; i < found->n; i++) {
        if (found->at[i].worth >= MAJORITY * difference)
            return &found->at[i];
        if (!most || found->at[i].worth > most->worth)
            most = &found->at[i];
    }
    return most && most->worth >= WORTH_SAYING * difference ? most : NULL;
}

/* The part of a rank's bins for one function: its counters and the calls in flight. If others count its calls, all
 * counters of its module. */
static void bins_of_function(const struct analysis *analysis, const struct flow_routine *routine,
                             const struct sparse *bins, uint32_t rank, struct sparse *out)
{
    const struct counts_function *function = routine->function;
    for (size_t i = sparse_find(bins, atom_key(rank, 0)); i < bins->n && key_rank(bins->at[i].key) == rank; i++) {
        uint32_t atom = key_atom(bins->at[i].key);
        const struct trace_point *point = atom < analysis->trace->n_points ? &analysis->trace->points[atom] : NULL;
        bool is_own = point && point->module == routine->module && point->number >= function->first_point &&
                      point->number - function->first_point < function->n_counters;
        bool is_counter = is_own || (point && point->module == routine->module && function->flags & POINTS_F_CALLED);
        if (is_counter || atom & COUNT_FRAME)
            sparse_add(out, atom, bins->at[i].ns);
    }
    sparse_pack(out);
}

/* A decision as one rank takes it; NAN: it never comes there. */
static double decided_by(const struct parting_search *search, uint32_t number, const struct flow_routine *one,
                         const struct decision *at)
{
    const struct flow_routine *routine = &search->flows.routines.at[number];
    double calls = 0, n = 0, of = 0;
    switch (at->fact.kind) {
    case PARTING_TRIPS:
        n = flow_turns(one, at->number, LATE);
        of = flow_entries(one, at->number, LATE);
        break;
    case PARTING_BRANCH:
        n = one->edges[LATE][at->number];
        of = one->blocks[LATE][one->function->cfg.edges.at[at->number].from];
        break;
    default:
        for (uint32_t k = 0; k < routine->n_calls; k++)
            calls += routine->at[k].callee == number ? one->blocks[LATE][routine->at[k].block] : 0;
        n = one->calls[LATE];
        of = n - calls;
    }
    return of > 0 ? n / of : NAN;
}

static void widen(double *least, double *most, double value)
{
    *least = fmin(*least, value);
    *most = fmax(*most, value);
}

static void rank_flow_read(const struct parting_search *search, uint32_t number, uint32_t rank, struct rank_flow *one)
{
    const struct flow_routine *routine = &search->flows.routines.at[number];
    struct sparse bins = {0};
    one->flows = (struct flows){.executions = search->flows.executions, .n_processes = {1, 1}};
    bins_of_function(search->analysis, routine, &search->measures->bins, rank, &bins);
    flows_read_side(&one->flows, LATE, &bins);
    const uint64_t *slot = map_get(&one->flows.by_function, (uint64_t)(uintptr_t)routine->function);
    if (slot) {
        struct flow_routine *own = &one->flows.routines.at[*slot - 1];
        own->first_copy = routine->first_copy;
        one->routine = own;
    }
    sparse_release(&bins);
}

static void others_release(struct parting_search *search)
{
    for (uint32_t i = 0; i < search->n_others; i++)
        flows_release(&search->others[i].flows);
    search->n_others = search->others_of = 0;
}

/* Of many others, the first. */
static void others_read(struct parting_search *search, const struct cause *cause, uint32_t number)
{
    struct part_floor floor = late_part_floor(cause);
    if (search->others_of == number + 1)
        return;
    others_release(search);
    search->others_of = number + 1;
    for (uint32_t i = cause->n_late; i < cause->n_ranks + cause->n_others && search->n_others < OTHERS_MOST; i++) {
        const struct cause_rank *rank = cause_rank_at(cause, i);
        if (late_has_part(&floor, rank))
            rank_flow_read(search, number, rank->rank, &search->others[search->n_others++]);
    }
}

/* No other rank decides as the late ones do: each is off by at least half of what their mean is. */
static bool parts_all(struct parting_search *search, const struct cause *cause, uint32_t number,
                      const struct decision *at)
{
    bool parts = true;
    if (search->flows.is_pieces || search->flows.n_processes[OTHERS] < 2 || at->callee != CFG_NONE)
        return true;
    others_read(search, cause, number);
    for (uint32_t i = 0; i < search->n_others && parts; i++) {
        const struct flow_routine *one = search->others[i].routine;
        double decided = one ? decided_by(search, number, one, at) : NAN;
        parts = isnan(decided) || 2 * (at->fact.late - decided) >= at->fact.late - at->fact.others;
    }
    return parts;
}

/* Of each rank, how it decides what its side decides so on average. */
static void add_spread(struct parting_search *search, uint32_t number, const struct cause *cause,
                       const struct decision *told)
{
    const struct flow_routine *routine = &search->flows.routines.at[number];
    struct arena scratch = {0};
    const bool *is_late = flows_late_of(&scratch, cause);
    if (search->flows.is_pieces)
        return arena_release(&scratch);
    others_read(search, cause, number);
    for (uint32_t k = 0; k < cause->n_partings; k++)
        for (uint32_t i = 0; i < search->n_others && search->flows.n_processes[OTHERS] > 1; i++)
            if (search->others[i].routine)
                widen(&cause->partings[k].others_least, &cause->partings[k].others_most,
                      decided_by(search, number, search->others[i].routine, &told[k]));
    for (uint32_t i = 0; i < cause->n_late; i++) {
        struct rank_flow one = {0};
        if (is_late[i])
            rank_flow_read(search, number, cause->ranks[i].rank, &one);
        for (uint32_t k = 0; k < cause->n_partings && one.routine; k++) {
            struct parting *fact = &cause->partings[k];
            widen(&fact->late_least, &fact->late_most, decided_by(search, number, one.routine, &told[k]));
            if (fact->kind == PARTING_TRIPS)
                widen(&fact->entered_least, &fact->entered_most,
                      flow_entries(one.routine, told[k].number, LATE) / flow_entries(routine, told[k].number, OTHERS));
        }
        flows_release(&one.flows);
    }
    arena_release(&scratch);
}

/* A late rank that decides as the others do is late for another reason, which those do not have. */
static void leave_out_unshared(struct cause *cause)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < cause->n_partings; i++)
        if (cause->partings[i].late_least > NOTABLY_LONGER * cause->partings[i].others)
            cause->partings[n++] = cause->partings[i];
    cause->n_partings = n;
}

/* The part of the other ranks that come to a block. */
static double part_that_comes(struct parting_search *search, const struct cause *cause, uint32_t number, uint32_t block)
{
    double n = 0;
    others_read(search, cause, number);
    for (uint32_t i = 0; i < search->n_others; i++)
        n += search->others[i].routine && search->others[i].routine->blocks[LATE][block] > 0;
    return search->n_others ? n / search->n_others : 0;
}

/* Others never go the way of the late side, but those that come to the condition execute as much on the other ways: all
 * that stands there, called routines included, whatever the cause has of it. */
static bool is_as_much_otherwise(struct parting_search *search, const struct cause *cause, const struct region *region,
                                 const struct decision *chosen)
{
    const struct counts_function *function = search->flows.routines.at[region->routine].function;
    struct parting_search whole = {.flows = {.executions = search->flows.executions, .known = search->flows.known},
                                   .analysis = search->analysis};
    bool is_so = false;
    bool is_counted = !cause->is_in_library && !cause->is_generated && !search->is_caller;
    if (chosen->fact.kind != PARTING_BRANCH || search->flows.is_pieces || chosen->fact.others > NEGLIGIBLE_SHARE ||
        !is_counted)
        return false;
    flows_read(&whole.flows, search->analysis, search->measures, cause);
    const uint64_t *slot = map_get(&whole.flows.by_function, (uint64_t)(uintptr_t)function);
    if (slot) {
        struct region around = {.routine = (uint32_t)*slot - 1, .loop = region->loop};
        const struct cfg *cfg = &function->cfg;
        uint32_t from = cfg->edges.at[chosen->number].from;
        double others = 0, comes = part_that_comes(search, cause, region->routine, from);
        flows_reach(&whole.flows, around.routine);
        flows_find_work(&whole.flows);
        for (uint32_t i = cfg->out_at[from]; i < cfg->out_at[from + 1]; i++)
            others += cfg->out[i] == chosen->number ? 0 : work_behind(&whole, &around, cfg->out[i], OTHERS);
        double late = work_behind(&whole, &around, chosen->number, LATE);
        is_so = late > 0 && NOTABLY_LONGER * others >= late * comes && comes > 0;
    }
    flows_release(&whole.flows);
    return is_so;
}

/* The chosen one first, then the others by what they are worth. */
static void tell(struct parting_search *search, const struct region *region, const struct decision *chosen,
                 const decisions *found, double difference, struct cause *cause)
{
    struct arena *arena = &search->analysis->arena, scratch = {0};
    const char *routine = search->flows.routines.at[region->routine].function->source_name;
    cause->partings = arena_array(arena, struct parting, TOLD_MOST);
    double *worth = arena_array(&scratch, double, found->n);
    for (size_t i = 0; i < found->n; i++)
        worth[i] = found->at[i].worth;
    const uint32_t *order = order_falling(&scratch, worth, (uint32_t)found->n);
    struct decision *told = arena_array(&scratch, struct decision, TOLD_MOST);
    for (size_t i = 0; i <= found->n && cause->n_partings < TOLD_MOST; i++) {
        const struct decision *at = i ? &found->at[order[i - 1]] : chosen;
        if (i && (at->callee != CFG_NONE || at->worth < (NOTABLY_LONGER - 1) * difference ||
                  (at->depth == chosen->depth && at->position == chosen->position && at->worth == chosen->worth)))
            continue;
        told[cause->n_partings] = *at;
        struct parting *fact = &cause->partings[cause->n_partings++];
        *fact = at->fact;
        fact->late_least = fact->late_most = fact->late;
        fact->others_least = fact->others_most = fact->others;
        fact->entered_least = fact->entered_most = fact->entered;
        fact->file = fact->file ? arena_strdup(arena, fact->file) : NULL;
        fact->routine = arena_strdup(arena, routine);
        fact->share = fmin(at->worth / difference, 1);
    }
    add_spread(search, region->routine, cause, told);
    leave_out_unshared(cause);
    cause->is_as_much_otherwise = cause->n_partings && is_as_much_otherwise(search, cause, region, chosen);
    arena_release(&scratch);
}

/* Where others do not all decide otherwise, they are different, and say little on average: then the outermost by which
 * all do that is worth no less, if there is one. */
static const struct decision *choose_for_all(struct parting_search *search, const struct cause *cause, uint32_t number,
                                             const decisions *found, const struct decision *chosen)
{
    if (!chosen || parts_all(search, cause, number, chosen))
        return chosen;
    for (size_t i = 0; i < found->n; i++)
        if (found->at[i].worth >= chosen->worth && &found->at[i] != chosen &&
            parts_all(search, cause, number, &found->at[i]))
            return &found->at[i];
    return chosen;
}

/* False where the work for each entry is the same on both sides, or nothing decides it. */
static bool find_in(struct parting_search *search, struct region region, struct cause *cause)
{
    for (unsigned descents = 0; descents < STEPS_MOST; descents++) {
        if (!(region.entries[LATE] > 0) || !(region.entries[OTHERS] > 0))
            break;
        double difference = region.work[LATE] / region.entries[LATE] - region.work[OTHERS] / region.entries[OTHERS];
        decisions found = {0};
        if (!(difference >= (NOTABLY_LONGER - 1) * region.work[OTHERS] / region.entries[OTHERS]))
            break;
        decide_trips(search, &region, &found);
        decide_branches(search, &region, &found);
        decide_calls(search, &region, &found);
        const struct decision *first = choose(&found, difference);
        const struct decision *chosen = choose_for_all(search, cause, region.routine, &found, first);
        uint32_t callee = chosen ? chosen->callee : CFG_NONE;
        if (chosen && callee == CFG_NONE)
            tell(search, &region, chosen, &found, difference, cause);
        vec_release(&found);
        if (callee == CFG_NONE)
            break;
        region = region_make(search, callee, CFG_NONE);
    }
    return cause->n_partings > 0;
}

/* The routine that makes most of the late side's additional calls, and the loop in it that does. */
static bool find_caller(struct parting_search *search, struct region *region)
{
    uint32_t callee = region->routine;
    double most = 0;
    for (uint32_t i = 0; i < search->flows.routines.n && i < CALLERS_MOST; i++) {
        flows_find_calls(&search->flows, i);
        const struct flow_routine *routine = &search->flows.routines.at[i];
        for (uint32_t k = 0; k < routine->n_calls; k++) {
            uint32_t block = routine->at[k].block;
            double more = routine->blocks[LATE][block] - routine->blocks[OTHERS][block];
            if (i == callee || routine->at[k].callee != callee || more <= most)
                continue;
            most = more;
            *region = (struct region){.routine = i, .loop = routine->function->loops.innermost[block]};
        }
    }
    return most > 0;
}

/* The same work for each entry means more entries: by the loop around it, its routine, its caller. */
static void find_around(struct parting_search *search, struct region region, struct cause *cause)
{
    /* From now on nothing but the work in this region counts. */
    for (size_t i = 0; i < search->flows.reached.n; i++) {
        struct flow_routine *routine = &search->flows.routines.at[search->flows.reached.at[i]];
        for (uint32_t b = 0; b < routine->function->n_blocks; b++)
            if (search->flows.reached.at[i] != region.routine || !flow_is_in(routine, region.loop, b))
                routine->length[b] = 0;
    }
    search->flows.has_focus = true;
    search->focus = region;
    for (unsigned climbs = 0; climbs < STEPS_MOST; climbs++) {
        if (region.entries[LATE] < NOTABLY_LONGER * region.entries[OTHERS])
            return;
        if (region.loop != CFG_NONE)
            region.loop = search->flows.routines.at[region.routine].function->loops.at[region.loop].parent;
        else if (!find_caller(search, &region))
            return;
        flows_reach(&search->flows, region.routine);
        flows_find_work(&search->flows);
        region = region_make(search, region.routine, region.loop);
        if (find_in(search, region, cause))
            return;
    }
}

static bool loop_is_at(const struct parting_search *search, const struct flow_routine *routine, uint32_t loop,
                       uint32_t place)
{
    const struct counts_function *function = routine->function;
    for (uint32_t i = 0; i < function->loops.at[loop].n_blocks; i++) {
        uint32_t block = function->loops.at[loop].blocks[i];
        if (function->loops.innermost[block] == loop &&
            executions_block_place(search->flows.executions, routine->module, function, block) == place)
            return true;
    }
    return false;
}

/* The copy of the cause's place in which the late side did most. */
static bool find_region(struct parting_search *search, uint32_t place, struct region *most)
{
    struct code *code = search->analysis->code;
    bool is_loop = code_place(code, place)->is_loop, is_found = false;
    for (uint32_t i = 0; i < search->flows.routines.n; i++) {
        const struct flow_routine *routine = &search->flows.routines.at[i];
        if (!is_loop && code_place_at(code, routine->module, routine->function->address) != place)
            continue;
        for (uint32_t l = 0; l < (is_loop ? routine->function->loops.n : 1); l++) {
            if (is_loop && !loop_is_at(search, routine, l, place))
                continue;
            flows_reach(&search->flows, i);
            flows_find_work(&search->flows);
            struct region region = region_make(search, i, is_loop ? l : CFG_NONE);
            if (!is_found || region.work[LATE] > most->work[LATE])
                *most = region;
            is_found = true;
        }
    }
    return is_found;
}

/* The innermost counted code around a cause that is not counted, between two waits. */
static bool find_caller_region(struct parting_search *search, uint32_t node, struct region *region)
{
    const struct analysis *analysis = search->analysis;
    for (; node < analysis->n_nodes && !analysis->nodes[node].waits; node = analysis->nodes[node].parent) {
        uint32_t place = analysis->steps[analysis->nodes[node].step].place;
        if (place != CODE_NONE && find_region(search, place, region)) {
            search->is_caller = true;
            search->focus = *region;
            return true;
        }
    }
    return false;
}

/* The size of a cause is measured beside what the program causes: the machine may cause much more. */
void partings_add_to_causes(struct analysis *analysis, const struct measures *measures, struct executions *executions,
                            const struct work *weighed)
{
    struct flow_known known = {.weighed = weighed};
    double waiting_ns = 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        waiting_ns += analysis->causes[i].waiting_ns;
    for (uint32_t i = 0; i < analysis->n_causes && analysis->code; i++) {
        struct cause *cause = &analysis->causes[i];
        if (cause->waiting_ns >= NEGLIGIBLE_SHARE * waiting_ns && analysis->steps[cause->step].place != CODE_NONE) {
            struct parting_search search = {.flows = {.executions = executions, .known = &known},
                                            .analysis = analysis,
                                            .measures = measures,
                                            .cause = &analysis->steps[cause->step]};
            struct region region = {0};
            flows_read(&search.flows, analysis, measures, cause);
            if (find_region(&search, analysis->steps[cause->step].place, &region) ||
                find_caller_region(&search, cause->node, &region)) {
                region = region_make(&search, region.routine, region.loop);
                /* Fewer entries, each with as much more: parting ways is then not why it takes longer. Of pieces of the
                 * run it is not known how many processes they are of. */
                bool has_more = search.flows.is_pieces || region.work[LATE] >= NOTABLY_LONGER * region.work[OTHERS];
                if (has_more && !find_in(&search, region, cause))
                    find_around(&search, region, cause);
            }
            others_release(&search);
            flows_release(&search.flows);
        }
    }
    flow_known_release(&known);
}
