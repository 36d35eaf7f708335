/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where ranks part on their way to two nodes of the tree of loops and calls (calltree.h).
 *
 * Who comes to an address in a routine has come through every basic block that all ways to it lead through. The last
 * such block of two addresses is taken. Where some ranks are seen in the routine, but never behind that block, they
 * have gone another way before it: one decision keeps them from both, whichever it is. So what other ranks do there,
 * they do for one reason. Machine code, the stacks of samples and those of MPI calls tell it, without counts.
 *
 * Cost: one pass over the recorded frames and the survey for each such block.
 */
#pragma once
#include "analyze/steps/calltree.h"

/* Ranks seen in a routine, and behind a block of it. */
struct passing {
    struct sparse inside, behind;
};

struct ways {
    const struct calltree *tree; /* both borrowed */
    const struct survey *survey;
    struct map known; /* block -> 1 + passing */
    VEC(struct passing) passings;
};

/* False where nothing is known. `late`: the ranks that make others wait in both nodes. */
bool ways_have_one_reason(struct ways *ways, uint32_t a, uint32_t b, const struct sparse *late);
void ways_release(struct ways *ways);
