/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of loops and calls: the activations that the stacks of samples and of MPI calls pass through. A node is a
 * routine entered from a call site, inlined ones like others, or a natural loop entered in its routine; in archives of
 * other recorders it is a region entered. A routine that is entered again below itself is the node that it was: a cycle
 * of recursion is one. Stacks of worker threads begin in the run-time library that started them: they go on where the
 * same routine is entered by the thread that started the team.
 *
 * Memory follows the stacks of the trace, which follow the code.
 */
#pragma once
#include "analyze/steps/sites.h"
#include "analyze/steps/survey.h"

struct calltree_node {
    uint32_t parent; /* stands before it; TRACE_NONE */
    uint32_t step;   /* what it is named by, computing: the same for all activations of one code place */
    bool waits;      /* a call that may wait is made below it */
};

/* Where a stack has led so far, on the way inwards. */
struct calltree_way {
    uint32_t node; /* TRACE_NONE */
    uint32_t line; /* of the next call */
    bool is_team;  /* only a threading run-time so far */
    bool is_known;
};

struct calltree {
    struct sites *sites;
    struct intern keys;
    VEC(struct calltree_node) nodes;
    VEC(struct calltree_way) of_frame; /* by frame, that included */
    struct map of_place;               /* code place -> first node of it + 1 */
    VEC(uint32_t) path;                /* scratch */
};

/* From all stacks of the survey. */
void calltree_begin(struct calltree *tree, struct sites *sites, const struct survey *survey);
void calltree_release(struct calltree *tree);
/* The node whose own code a sample with this stack has run, as sites_sample_step names it; TRACE_NONE. Straight-line
 * code that a loop calls is the loop's own. */
uint32_t calltree_of_sample(struct calltree *tree, uint32_t frame);
/* The node of a call path of regions (WHAT_PATH). */
uint32_t calltree_of_context(struct calltree *tree, uint32_t context);
/* The node of a place in which nothing was sampled: one that is there, or below that of what encloses it. */
uint32_t calltree_of_place(struct calltree *tree, uint32_t place);
/* The line, in the code of its parent, by which a routine is entered; 0 = not known. */
uint32_t calltree_call_line(const struct calltree *tree, uint32_t node);
/* A node by itself, for what is on no stack. */
uint32_t calltree_alone(struct calltree *tree, uint32_t step);
