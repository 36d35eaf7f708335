/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work in parts, dealt out to the processes of an engine. The outcome does not depend on their number:
 * results are taken in the order of the parts. The parts of a process that is lost are dealt out to the others.
 *
 *     static bool perform(void *context, struct deal *deal)
 *     {
 *         for (uint32_t part = 0; part < n_parts; part++)
 *             if (deal_has(deal, part))
 *                 deal_give(deal, part, result of the part);
 *         return true;
 *     }
 */
#pragma once
#include "analyze/engine/engine.h"
#include <stdbool.h>
#include <stdint.h>

struct deal;

struct share {
    void *context;
    /* Does the parts that it has, in their order. False after error(): it cannot. It may be asked for more later. */
    bool (*perform)(void *context, struct deal *deal);
    /* For each part that somebody gives, in their order. The result is aligned for any type, and gone when it returns.
     */
    void (*take)(void *context, uint32_t part, struct parcel result);
    /* Parts in turn go to one process. 0 = who performs finds out how many there are: each part goes to another one. */
    uint32_t n_parts;
    /* Or NULL: by process, the first part that it has. Processes 1, 2, ... have parts in this order, number 0 the last
     * ones. */
    const uint32_t *firsts;
    bool is_for_all; /* all processes take all results; otherwise number 0 alone does */
};

/* All processes come to it. False where this process cannot do its part: it ends the engine, or gives up. */
bool share_perform(struct engine *engine, const struct share *share);

/* Whether this process has to do that part now. */
bool deal_has(const struct deal *deal, uint32_t part);
/* All processes have what they had from the beginning: nobody is lost. */
bool deal_is_as_planned(const struct deal *deal);
/* The result is copied, or taken at once where there is one process. */
void deal_give(struct deal *deal, uint32_t part, struct parcel result);
