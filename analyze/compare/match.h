/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One tree of loops and calls for runs of several sides: which node of one run is which of another.
 *
 * A place is the same in two runs of a side when its state, file, routine and lines are. From side to side (other
 * builds) it is found by counterparts.h, for which code that makes nobody wait counts as well. Then nodes are the same
 * when their places and those around them are.
 *
 * One cause may differ from run to run. Each run names nodes; of two that contain each other the outer one, the
 * coarser, is the row when on some side at least half of what the side with most waiting there has was named so. So the
 * side with the waiting decides, and of two that have it the coarser one. A place without such a node around it is a
 * row by itself. Rows of one place, entered on several ways, are one unless runs have told them apart as causes.
 */
#pragma once
#include "analyze/compare/run.h"
#include "wrap/base/containers.h"

struct match_place {
    const struct run_place *place, *first; /* as the last side has it, and the first one */
};

/* Sums of a node in a run: waiting by kind, and the time in it of all ranks and of the rank with most. Of several nodes
 * the longest times add up, whichever rank has them: so long they take where ranks wait in between. */
enum { MATCH_TIME = KIND_N, MATCH_LONGEST, MATCH_N };

struct match_node {
    uint32_t parent;           /* stands before it; TRACE_NONE */
    uint32_t place;            /* of struct match */
    uint32_t row;              /* the first node of its row that has the row's name */
    bool has_below;            /* all that is below it is in that row as well */
    uint32_t *cause;           /* by run: number of the cause it names there, from 1; 0 = none */
    double *own_ns, *below_ns; /* [run * MATCH_N + measure], of itself and with what is below */
    double *on_path_ns;        /* by run, of itself */
};

struct match {
    struct arena arena;
    VEC(struct match_place) places;
    VEC(struct match_node) nodes;
    struct intern keys; /* parent and place -> node */
};

/* `side_of`: by run; sides count from 0 and stand in the order of time. */
void match_runs(struct match *match, struct run *const *runs, const uint32_t *side_of, size_t n_runs, uint32_t n_sides);
void match_release(struct match *match);
/* Facts likewise: number[run][fact] is the same for what is the same; returns how many numbers there are. */
uint32_t match_facts(struct arena *arena, struct run *const *runs, const uint32_t *side_of, size_t n_runs,
                     uint32_t n_sides, uint32_t **number);
