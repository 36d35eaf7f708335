/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executions of every edge of a routine, from as few counters as possible (Knuth and Stevenson 1973; weights: Ball and
 * Larus 1994).
 *
 * The graph has a root, an EXIT block, every block is reached from the root, and what does not reach EXIT is connected
 * to the rest at least. The edge EXIT -> root, whose frequency is the number of calls, is not among the graph's edges:
 * every function here adds it by itself, and puts it into the spanning tree.
 *
 * Flow is conserved at every block: what came in and did not leave is parked there. Frames are parked in the block of
 * the call they wait in; over an interval, those at its end count +1, those at its beginning -1.
 */
#pragma once
#include "wrap/flow/cfg.h"

/*
 * Expected frequency of every edge per call, by edge number: loops run ten times, branches go either way alike, but a
 * loop's exits share what entered it. is_counting (by loop; NULL = none): the loop has a variable that counts, and a
 * test before it lets nine of ten in. For placement only; in the graph's arena.
 */
double *knuth_weights(struct cfg *cfg, const struct cfg_loops *loops, const unsigned char *is_counting);

/*
 * Chooses the edges that need a counter: those outside the heaviest spanning tree. An edge with is_fixed cannot carry
 * one (is_fixed may be NULL: all can). is_counted (by edge number) is filled in. Returns the number of counters, in a
 * connected graph |E| + 1 - (|V| - 1); CFG_NONE when a fixed edge would need one.
 */
uint32_t knuth_place(struct cfg *cfg, uint32_t exit, const double *weights, const unsigned char *is_fixed,
                     unsigned char *is_counted);

/* The spanning tree in the order in which it is solved; built once, used for every interval. */
struct knuth_tree {
    uint32_t exit;
    uint32_t n;                      /* blocks */
    const unsigned char *is_counted; /* borrowed: by edge */
    uint32_t *order;                 /* blocks, leaves first */
    uint32_t *parent; /* by block: the edge towards the tree's root; KNUTH_ROOT for that; KNUTH_CALLS = EXIT -> root */
};
enum { KNUTH_ROOT = UINT32_MAX, KNUTH_CALLS = UINT32_MAX - 1 };
/* In the graph's arena. The uncounted edges must contain no cycle: returns false when they do (damaged input). */
bool knuth_build(struct cfg *cfg, uint32_t exit, const unsigned char *is_counted, struct knuth_tree *tree);

/*
 * Fills in count[] of the uncounted edges from those of the counted ones, and the number of calls. parked (by block)
 * may be NULL. Its entry for EXIT is ignored. `excess` is scratch for n_blocks values. Returns false when the counts
 * contradict each other (a frame vanished: longjmp, exit, exception): then *fault is an edge that would have been taken
 * a negative number of times (KNUTH_CALLS: the number of calls; KNUTH_ROOT: flow is lost in a part that is not
 * connected), and the counts of this routine mean nothing.
 */
bool knuth_solve(const struct cfg *cfg, const struct knuth_tree *tree, const int64_t *parked, int64_t *count,
                 int64_t *calls, int64_t *excess, uint32_t *fault);
