/* SPDX-License-Identifier: BSD-3-Clause */
/* Random graphs for the property tests: small enough for brute force, varied enough to be nasty. */
#pragma once
#include "wrap/flow/cfg.h"

/* A repeatable stream of numbers. */
struct random {
    uint64_t state;
};
uint32_t random_below(struct random *random, uint32_t bound);

/* Any graph: blocks that are not reached, self loops, parallel edges, several entries into loops. */
void random_graph(struct cfg *cfg, struct random *random);
/*
 * The graph of a routine: block 0 is the root, the last one EXIT, every block is reached and reaches EXIT.
 */
void random_routine(struct cfg *cfg, struct random *random);
