/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in the tree of loops and calls what a process did belongs. A step names a place and the loop around its call;
 * which activations of it ran is known from the stacks of the samples in it: its time and blame on a process are shared
 * out over them as the samples were, on that process or, where it has none, on all. Of calls of MPI, of the start of
 * the process and of code between two calls of which nothing is known there are no stacks: each is a node by itself.
 */
#pragma once
#include "analyze/steps/calltree.h"

struct placed {
    uint32_t node;
    double share; /* those of one process and step sum to 1 */
};

struct placings {
    const struct placed *at;
    size_t n;
};

struct placing {
    struct sites *sites;
    struct calltree tree;
    VEC(struct sampled_node) sampled; /* while it is made */
    VEC(struct placed) placed;
    struct map of_step; /* atom_key(rank, step) -> where in `placed` they begin << 32 | how many */
};

void placing_begin(struct placing *placing, struct sites *sites, const struct survey *survey);
void placing_release(struct placing *placing);
/* Valid until the next call. Nodes may be added to the tree. */
struct placings placing_of(struct placing *placing, uint32_t rank, uint32_t step);
