/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of each location as a row of cells, which follow each other. A cell is one stretch of code, one call or one
 * wait, with its exact bounds; what ran in it is told by parts, in no order, which sum to its length.
 *
 * Memory is bounded, however long the run: once there is more than the budget, neighbours shorter than a resolution
 * become one cell of about that length, which keeps the sums of their parts. The resolution doubles as often as need
 * be. So what is long stays exact, and of what is short no share is lost: nothing is left out by chance of sampling.
 *
 * A cell in which the location waited knows the longest of its waits: who released it, when, and at which site.
 */
#pragma once
#include "analyze/result/result.h"

/* The state of a part: one of enum step_state, or: */
enum { TIMELINE_WAITING = STEP_UNKNOWN + 1, TIMELINE_N_STATES };

struct timeline_kind {
    uint32_t state;
    uint32_t cause; /* index into the result's causes that acts in it; TRACE_NONE */
    uint32_t step;  /* the result's step; TRACE_NONE: several of little length, or a wait */
};

struct timeline_part {
    uint32_t kind; /* until timeline_finish: an atom */
    float ns;
};

struct timeline_cell {
    uint64_t begin_ns, end_ns;
    uint64_t release_ns; /* when the longest wait in it ended ... */
    float waited_ns;     /* ... and how long it was; 0 = no wait */
    uint32_t by;         /* location that released it */
    uint32_t site;       /* the result's (until timeline_finish, timeline_site); TRACE_NONE = not known */
    uint32_t n_parts;    /* in the row's parts, behind those of the cells before; 0 = nothing is known */
    bool is_inferred;
    bool is_several; /* neighbours that were joined: their order is not known any more */
};

struct timeline_row {
    VEC(struct timeline_cell) cells;
    VEC(struct timeline_part) parts;
};

struct timeline {
    size_t n_most;                 /* set by the caller: cells and parts in all */
    uint64_t resolution_ns;        /* shorter neighbours were joined; 0 = everything is exact */
    VEC(struct timeline_row) rows; /* by location; empty for those that never called MPI */
    VEC(struct timeline_kind) kinds;
    size_t n;                               /* cells and parts */
    VEC(struct timeline_part) scratch;      /* while it is filled */
    VEC(struct timeline_cell) behind;       /* likewise, */
    VEC(struct timeline_part) parts_behind; /* and theirs */
};

/* Sums parts of one kind; returns how many are left. */
uint32_t timeline_join_parts(struct timeline_part *parts, size_t n);
/* A cell of a row, instead of what had been told of that time. */
void timeline_put(struct timeline *timeline, uint32_t row, const struct timeline_cell *cell,
                  const struct timeline_part *parts);
/* For a caller's choice of n_most: what a page of some megabytes can hold. */
size_t timeline_budget(uint32_t n_ranks);
void timeline_release(struct timeline *timeline);
