/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts of both sides of a cause as flow graphs: how often each edge of each counted function was taken and each
 * block executed, for one process on average, and how much work that was: instructions, with those of the counted
 * routines that are called. The work of a routine is shared out among its callers by calls, gprof's way (callgraph.h).
 *
 * A routine's lengths and calls are looked up when it is reached; which routines a call leads to is found once for all
 * causes.
 */
#pragma once
#include "analyze/blame/blame.h"

enum flow_side { LATE, OTHERS, N_SIDES };
enum { BLOCK_ROOT, BLOCK_EXIT };

struct flow_routine {
    const struct counts_function *function;
    uint32_t module;
    double *edges[N_SIDES], *blocks[N_SIDES], calls[N_SIDES];
    struct flow_call { /* direct ones of counted routines; NULL = not asked yet */
        uint32_t block, callee;
    } * at;
    uint32_t n_calls;
    double *length;        /* by block: instructions that count; NULL = not reached */
    double *work[N_SIDES]; /* of each block, with what it calls */
    double each[N_SIDES];  /* work of one call from outside */
};

/* Of all causes. */
struct flow_callees {
    struct arena arena;
    struct map of_function; /* address of a function's table -> addresses of what its calls lead to */
};
void flow_callees_release(struct flow_callees *callees);

struct flows {
    struct arena arena;
    struct executions *executions;
    struct flow_callees *callees;
    VEC(struct flow_routine) routines;
    struct map by_function, by_entry; /* routine + 1 */
    VEC(uint32_t) reached;            /* routines whose lengths are known */
    bool has_focus;                   /* what is reached from now on has no length */
    enum flow_side side;              /* being read */
    double n_processes[N_SIDES];
};

/* Reads both sides of the cause. */
void flows_read(struct flows *flows, const struct analysis *analysis, const struct measures *measures,
                const struct cause *cause);
void flows_release(struct flows *flows);
/* Looks up the calls of a routine. */
void flows_find_calls(struct flows *flows, uint32_t routine);
/* Reaches a routine and all that it calls, directly or not. */
void flows_reach(struct flows *flows, uint32_t routine);
/* Computes the work of all that is reached, anew when lengths have changed. */
void flows_find_work(struct flows *flows);
double flow_calls_of_itself(const struct flow_routine *routine, uint32_t number, enum flow_side side);
