/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts of both sides of a cause as flow graphs: how often each edge of each counted function was taken and each
 * block executed, for one process on average, and how much work that was: instructions, with those of the counted
 * routines that are called. The work of a routine is shared out among its callers by calls, gprof's way (callgraph.h).
 *
 * A routine's lengths and calls are looked up when it is reached. The routines that calls lead to, and the loops that
 * are copies of one, are found once for all causes.
 *
 * A compiler makes several loops of one where it asks a condition in one of them only, or uses vectors in one. Copies
 * have the place and the loop around them in common, or the loops around them are copies. All functions here take them
 * for one loop: what goes from one copy to the next, over blocks that call nothing, does not enter it again.
 */
#pragma once
#include "analyze/blame/blame.h"

enum flow_side { LATE, OTHERS, N_SIDES };

struct flow_routine {
    const struct counts_function *function;
    uint32_t module;
    double *edges[N_SIDES], *blocks[N_SIDES], calls[N_SIDES];
    const uint32_t *first_copy; /* by loop; NULL = not reached */
    struct flow_call {          /* direct ones of counted routines; NULL = not asked yet */
        uint32_t block, callee;
    } *at;
    uint32_t n_calls;
    double *length;        /* by block: instructions that count; NULL = not reached */
    double *work[N_SIDES]; /* of each block, with what it calls */
    double each[N_SIDES];  /* work of one call from outside */
};

/* Of all causes. */
struct flow_known {
    struct arena arena;
    struct map callees;         /* address of a function's table -> addresses of what its calls lead to */
    struct map copies;          /* likewise, by loop the first copy of it */
    const struct work *weighed; /* how much the calls of a block weigh that are not counted */
};

struct flows {
    struct arena arena;
    struct executions *executions;
    struct flow_known *known;
    VEC(struct flow_routine) routines;
    struct map by_function, by_entry; /* routine + 1 */
    VEC(uint32_t) reached;            /* routines whose lengths are known */
    bool has_focus;                   /* what is reached from now on has no length */
    bool is_pieces;                   /* of the run, from one wait to the next, not the whole run */
    enum flow_side side;              /* being read */
    double n_processes[N_SIDES];
};

/* The late ranks that are in it for longer than the others, or all: those that come to it while others already wait,
 * and do no more, part from nobody. By late rank of the cause. */
bool *flows_late_of(struct arena *arena, const struct cause *cause);
/* Reads both sides of the cause. */
void flows_read(struct flows *flows, const struct analysis *analysis, const struct measures *measures,
                const struct cause *cause);
/* Adds the counts of one side. */
void flows_read_side(struct flows *flows, enum flow_side side, const struct sparse *counts);
void flows_release(struct flows *flows);
void flow_known_release(struct flow_known *known);

/* Looks up the calls of a routine. */
void flows_find_calls(struct flows *flows, uint32_t number);
/* Reaches a routine and all that it calls, directly or not. */
void flows_reach(struct flows *flows, uint32_t routine);
/* Computes the work of all that is reached, anew when lengths have changed. */
void flows_find_work(struct flows *flows);
double flow_calls_of_itself(const struct flow_routine *routine, uint32_t number, enum flow_side side);

/* Of a routine that was reached. In CFG_NONE every block lies. */
bool flow_is_in(const struct flow_routine *routine, uint32_t loop, uint32_t block);
bool flow_is_same_loop(const struct flow_routine *routine, uint32_t a, uint32_t b);
/* How often the loop is entered from outside, and how often it goes round (counts/turns.h). */
double flow_entries(const struct flow_routine *routine, uint32_t loop, enum flow_side side);
double flow_turns(const struct flow_routine *routine, uint32_t loop, enum flow_side side);
/* The place of its head. Where nothing but labels is left of that, any other block of the loop's own tells. */
uint32_t flow_loop_place(struct executions *executions, const struct flow_routine *routine, uint32_t loop);
