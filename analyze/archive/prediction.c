/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/prediction.h"

static uint32_t node_new(struct prediction *prediction, uint64_t stack, uint8_t run)
{
    *vec_push(&prediction->nodes) = (struct prediction_node){.stack = stack, .run = run};
    return (uint32_t)prediction->nodes.n - 1;
}

static uint32_t first_node(struct prediction *prediction, uint64_t stack)
{
    uint64_t *first = map_put(&prediction->first, stack, NULL);
    if (!*first)
        *first = node_new(prediction, stack, 0);
    return (uint32_t)*first;
}

static uint32_t node_again(struct prediction *prediction, uint32_t number)
{
    struct prediction_node node = prediction->nodes.at[number];
    if (!node.again) {
        node.again = node.run == UINT8_MAX ? number : node_new(prediction, node.stack, node.run + 1);
        prediction->nodes.at[number].again = node.again;
    }
    return node.again;
}

uint32_t prediction_learn(struct prediction *prediction, uint64_t stack)
{
    if (!prediction->nodes.n) {
        node_new(prediction, 0, 0);
        prediction->now = first_node(prediction, 0);
    }
    bool is_again = stack == prediction->nodes.at[prediction->now].stack;
    uint32_t next = is_again ? node_again(prediction, prediction->now) : first_node(prediction, stack);
    return prediction->nodes.at[prediction->now].next = next;
}

void prediction_release(struct prediction *prediction)
{
    vec_release(&prediction->nodes);
    map_release(&prediction->first);
    *prediction = (struct prediction){0};
}
