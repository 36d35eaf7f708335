/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which call stack does the next call of a location have? The one that followed the present stack, after as many calls
 * in a row, the last time. The archive leaves out what this foresees; writer and reader ask the same table, with any
 * numbering of stacks that tells them apart (0 = unknown).
 */
#pragma once
#include "wrap/base/containers.h"

struct prediction {
    struct map next;   /* stack and how often in a row -> the one after it */
    uint64_t previous; /* stack of the last call */
    uint8_t run;       /* how many calls before it had it as well; counts no further than 255 */
};

/* The foreseen stack, to be overwritten where another one came. */
static inline uint64_t *prediction_next(struct prediction *prediction)
{
    return map_put(&prediction->next, prediction->previous << 8 | prediction->run, NULL);
}

static inline void prediction_move(struct prediction *prediction, uint64_t stack)
{
    bool again = stack == prediction->previous;
    prediction->run = again && prediction->run < UINT8_MAX ? prediction->run + 1 : again ? UINT8_MAX : 0;
    prediction->previous = stack;
}

static inline void prediction_release(struct prediction *prediction)
{
    map_release(&prediction->next);
    *prediction = (struct prediction){0};
}
