/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which call stack does the next call of a location have? The one that followed the present stack, after as many calls
 * in a row, the last time. The archive leaves out what this foresees; writer and reader ask the same table, with any
 * numbering of stacks that tells them apart (0 = unknown).
 *
 * The table is a graph: a node is a stack and how many calls before had it as well. Each leads to the node that came
 * after it the last time, so that nothing is searched as long as calls come as foreseen.
 */
#pragma once
#include "wrap/base/containers.h"

struct prediction {
    VEC(struct prediction_node {
        uint64_t stack;
        uint32_t next;  /* that came after it; 0 = nothing yet */
        uint32_t again; /* the same stack once more; 0 = not yet */
        uint8_t run;    /* counts no further than 255 */
    })
    nodes;             /* [0] stands for nothing */
    struct map first;  /* stack -> its node of run 0 */
    uint64_t foreseen; /* stack of the next call */
    uint32_t now, next;
};

/* Another stack comes than was foreseen, or none was: the next time it will be. Returns its node. */
uint32_t prediction_learn(struct prediction *prediction, uint64_t stack);
void prediction_release(struct prediction *prediction);

/* The next call has this stack. */
static inline void prediction_move(struct prediction *prediction, uint64_t stack)
{
    bool is_foreseen = prediction->next && stack == prediction->foreseen;
    prediction->now = is_foreseen ? prediction->next : prediction_learn(prediction, stack);
    prediction->next = prediction->nodes.at[prediction->now].next;
    prediction->foreseen = prediction->nodes.at[prediction->next].stack;
}
