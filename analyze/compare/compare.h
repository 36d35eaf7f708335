/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of two sides, or of a series: what changed, and what of that is more than scatter.
 *
 * Rows are a tree: the run time; computing, of each part of the program on the rank that takes longest in it, since
 * what makes one rank slower there may make nobody wait who would not have waited anyhow; all waiting that the
 * program's code causes, in it its causes (match.h), in them their parts; the same of what passes inside MPI; and what
 * the machine caused, which is no part of the program. Kinds of differences stand beside each other in every row.
 *
 * Exact counts (facts.h) are compared first and without a test: where they are the same in all runs of a side, and
 * differ from those of the other, the change is certain.
 *
 * Times are tested from the top down (noise.h). The whole table says less or more with a chance of 5 % at most where
 * nothing has changed. The groups share that; within a group its sum is tested at half of its level, and its causes,
 * each with a weight, at the other half, so that what goes here and comes there is not lost. If either says that the
 * group has changed, causes are tested with the whole level of the group, by weight (Bonferroni). No cause that did not
 * change then adds a chance of error beyond that of the group. Parts of a cause that has changed share its level
 * likewise.
 */
#pragma once
#include "analyze/compare/match.h"
#include "analyze/compare/noise.h"
#include "analyze/compare/run.h"

enum compare_verdict {
    COMPARE_NOISE,
    COMPARE_LESS,
    COMPARE_MORE,
    COMPARE_TOO_FEW, /* where it matters: a doubling could not have been told either */
};
enum compare_group { GROUP_RUN_TIME, GROUP_COMPUTING, GROUP_PROGRAM, GROUP_MPI, GROUP_MACHINE, GROUP_N };

struct compare_row {
    const char *name;              /* of the latest side that has it; NULL for a group, and for the remainder of one */
    const struct run_place *place; /* NULL likewise */
    enum compare_group group;
    uint32_t depth;    /* 0 a group, 1 a cause, then parts */
    uint32_t parent;   /* row around it; TRACE_NONE for a group */
    bool is_rest;      /* what is too small for a row of its own, put together */
    double *ns;        /* by run: waiting; of computing, what the rank with most has of it; of the run time, that */
    double *others_ns; /* by run, of computing: what the other ranks have on average; NULL = not known */
    double *mean_ns;   /* by side */
    double *kind_ns;   /* [side * KIND_N + kind], means */
    struct noise_test test; /* of two sides */
    double level;           /* that its chance was held against; 0 = it was not tested */
    unsigned runs_needed;   /* on each side, to tell such a change or a doubling; 0 = over a hundred, or not known */
    enum compare_verdict verdict;
};

/* A count that is the same in all runs of a side, and another on the other side. */
struct compare_fact {
    const struct fact *before, *after; /* of the first run of each side; NULL: there is none, it is 0 */
    bool is_decision;                  /* trips or ways for each time it came up. Else it may follow from such */
    double moved;                      /* to sort by: executions that a decision makes other, of all ranks */
    double size;                       /* then: relative change of what is told */
};

/* The parts of a run time. A mean of the runs of each side. Differences sum to that of the run times. */
struct compare_share {
    uint32_t row; /* a cause's; TRACE_NONE for what is below */
    enum { SHARE_CAUSE, SHARE_OTHER_CODE, SHARE_MPI, SHARE_MACHINE } kind;
    /* By side: what a process spends in it on average, and how much more of it lies on the critical path than that. Of
     * MPI and the machine, all is in the second. */
    double computing_ns[2], imbalance_ns[2];
};

/* What to say first of two sides: the run time where it has changed, or nothing can be tested; else the row that has
 * changed by most, a cause before a group. */
struct compare_news {
    enum { NEWS_NONE, NEWS_RUN_TIME, NEWS_ROW } kind;
    bool is_tested; /* otherwise chance may have made it */
    uint32_t row;   /* of NEWS_ROW */
    uint32_t share; /* of the run time: its largest part in the direction of the whole; TRACE_NONE */
};

struct comparison {
    struct arena arena;
    struct run **runs;
    uint32_t *side_of; /* by run */
    size_t n_runs;
    uint32_t n_sides, *n_of_side;
    struct match match;
    VEC(struct compare_row) rows; /* a tree in preorder; causes by falling change */
    uint32_t group_row[GROUP_N];
    VEC(struct compare_fact) facts;   /* of two sides: decisions first, by falling size */
    VEC(struct compare_share) shares; /* of two sides, by falling difference */
    struct compare_news news;         /* of two sides */
    const char *facts_missing;        /* why counts are not compared; NULL = they are */
};

/* Takes the runs, which stay in their owner's arena; `side_of` counts from 0, and every side has one. */
void compare_make(struct comparison *comparison, struct run **runs, const uint32_t *side_of, size_t n_runs,
                  uint32_t n_sides);
void compare_release(struct comparison *comparison);
/* After minus before. */
double compare_change(const struct compare_row *row);
double compare_share_change(const struct compare_share *share);

/* For series: the chance of error that a group has, and the waiting (of the run time, the time) that concerns nobody.
 */
double compare_level(enum compare_group group);
double compare_scale(const struct comparison *comparison, enum compare_group group);
/* Whether two counts are the same on every rank; NULL is none. */
bool compare_counts_are_equal(const struct fact *a, const struct fact *b);
/* By how much a count, or what comes for each time that it came up, differs at most on a rank: part of the larger. */
double compare_difference(const struct fact *a, const struct fact *b, bool each_time);
