/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chains of segments (waiting-time analysis by adopted chains: Meira, LeBlanc, Poulos, SPDT 1996, in the formulation of
 * docs/algorithm.md).
 *
 * Every process ends in a node of one tree. A node holds the durations of what happened between its parent and itself;
 * whoever waited for a process goes on from that process's node. The explanation of a wait of p for q is the path from
 * their lowest common ancestor to q minus the path to p, and everything below the ancestor cancels.
 *
 * Nodes are counted: a node that nobody holds and that has no child is freed, one with a single child is merged into
 * it. The tree therefore never has more than twice as many nodes as there are processes and messages under way.
 * Invariant: the terms of a node sum to its time minus its parent's.
 */
#pragma once
#include "wrap/base/containers.h"
#include "wrap/base/sparse.h"
#include <stdbool.h>

struct chain_node {
    struct chain_node *parent, *child, *next, *previous; /* first child; siblings */
    uint32_t holds;
    uint64_t order; /* of creation: larger than the parent's */
    uint64_t time_ns;
    double noise_ns2; /* variance of the sampled durations: sum of length^2 / samples */
    struct sparse terms;
    struct sparse counts;           /* bins of programs built to count (executions.h) */
    struct chain_node *made_before; /* of all nodes ever allocated */
};

struct chain {
    struct arena arena;       /* nodes; their vectors are their own */
    struct chain_node *spare; /* linked by `parent` */
    struct chain_node *made;
    uint64_t n_made, n_live;
};

/* Frees all nodes, held or not. */
void chain_release(struct chain *chain);
/* The origin of time; returned with one hold. */
struct chain_node *chain_begin(struct chain *chain, uint64_t time_ns);
/* A new child of `parent` with one hold; takes the terms, leaving the vector empty. */
struct chain_node *chain_extend(struct chain *chain, struct chain_node *parent, uint64_t time_ns, struct sparse *terms,
                                double noise_ns2);
struct chain_node *chain_hold(struct chain_node *node);
/* Gives one hold back; NULL is allowed. */
void chain_drop(struct chain *chain, struct chain_node *node);
/* Both must belong to one tree. Cost: the length of the two paths. */
struct chain_node *chain_common(struct chain_node *a, struct chain_node *b);
