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
    bool is_pieces;                   /* of the run, from one wait to the next, not the whole run */
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

/*
 * Where ranks part: why the late side of a cause executes more in it than the others, each time that it is entered.
 *
 * The counts of both sides are solved once more, with the edges of the graphs. A cause is a loop or a routine,
 * of which the compiler may have made several; the one in which the late side did most is looked at. Its work is that
 * of its blocks (executions.h), with that of the counted routines they call. Four decisions can make it more for each
 * entry:
 *
 *     trips       a loop goes round more often each time it is entered
 *     branch      control goes another way
 *     recursion   a routine calls itself more often for each call from outside
 *     callee      a routine does more in each call: then the same is asked of that one
 *
 * What a decision is worth is the work of the late side that would not be done if it were taken as on the others:
 * trips or the probability of the way at theirs, everything inside as it is. Decisions contain each other: more
 * iterations make more executions of all that is inside. So the outermost one is taken that is worth at least half of
 * the difference.
 *
 * Where the work for each entry is the same, the cause is entered more often. Then the loop around it is asked, its
 * routine, and the caller that calls it more often; only the work of the cause itself counts there. Where all ranks are
 * late at times, pieces of the run are compared, from one wait to the next: a loop with such a wait in it was entered
 * before the piece began, and more iterations of it in the piece say that ranks take turns. They decide nothing.
 *
 * Cost: two solutions for each cause with 1 % or more of the waiting that is not the machine's, and for a branch one
 * search of the routine.
 */

void partings_add_to_causes(struct analysis *analysis, const struct measures *measures, struct executions *executions);
