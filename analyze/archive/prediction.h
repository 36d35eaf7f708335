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

static inline uint32_t prediction_node_new(struct prediction *prediction, uint64_t stack, uint8_t run)
{
    *vec_push(&prediction->nodes) = (struct prediction_node){.stack = stack, .run = run};
    return (uint32_t)prediction->nodes.n - 1;
}

static inline uint32_t prediction_node_first(struct prediction *prediction, uint64_t stack)
{
    uint64_t *first = map_put(&prediction->first, stack, NULL);
    if (!*first)
        *first = prediction_node_new(prediction, stack, 0);
    return (uint32_t)*first;
}

static inline uint32_t prediction_node_again(struct prediction *prediction, uint32_t number)
{
    struct prediction_node node = prediction->nodes.at[number];
    if (!node.again) {
        node.again = node.run == UINT8_MAX ? number : prediction_node_new(prediction, node.stack, node.run + 1);
        prediction->nodes.at[number].again = node.again;
    }
    return node.again;
}

/* Another stack comes than was foreseen, or none was: the next time it will be. Returns its node. */
static inline uint32_t prediction_learn(struct prediction *prediction, uint64_t stack)
{
    if (!prediction->nodes.n) {
        prediction_node_new(prediction, 0, 0);
        prediction->now = prediction_node_first(prediction, 0);
    }
    bool is_again = stack == prediction->nodes.at[prediction->now].stack;
    uint32_t next =
        is_again ? prediction_node_again(prediction, prediction->now) : prediction_node_first(prediction, stack);
    return prediction->nodes.at[prediction->now].next = next;
}

/* The next call has this stack. */
static inline void prediction_move(struct prediction *prediction, uint64_t stack)
{
    bool is_foreseen = prediction->next && stack == prediction->foreseen;
    prediction->now = is_foreseen ? prediction->next : prediction_learn(prediction, stack);
    prediction->next = prediction->nodes.at[prediction->now].next;
    prediction->foreseen = prediction->nodes.at[prediction->next].stack;
}

static inline void prediction_release(struct prediction *prediction)
{
    vec_release(&prediction->nodes);
    map_release(&prediction->first);
    *prediction = (struct prediction){0};
}
