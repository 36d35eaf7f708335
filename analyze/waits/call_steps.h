/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of time inside calls. The thread that feeds the reader of events says before each which time can come from
 * it: if another thread reads, all steps are made in this one so, in the order in which they come, and what belongs
 * together has neighbouring numbers.
 */
#pragma once
#include "analyze/steps/sites.h"
#include "wrap/base/containers.h"

/* Possible kinds of time in a call at a site: itself, in one that never ended, off the CPU, and a wait of which nothing
 * is known yet. */
enum call_state { CALL_ITSELF, CALL_OPEN, CALL_ABSENT, CALL_WAITING, CALL_STATES };

struct steps_of_calls {
    uint32_t of[CALL_STATES]; /* plus 1; 0 = it has not been expected */
};

struct call_steps {
    const struct sites *sites;
    VEC(struct steps_of_calls) at; /* by site */
};

/* All sites are known. */
void call_steps_begin(struct call_steps *steps, const struct sites *sites);
void call_steps_release(struct call_steps *steps);
void call_steps_make(struct call_steps *steps, uint32_t site, enum call_state state);
/* There may be time of this kind at a site. */
static inline void call_steps_expect(struct call_steps *steps, uint32_t site, enum call_state state)
{
    if (!steps->at.at[site].of[state])
        call_steps_make(steps, site, state);
}
/* It has been expected. */
uint32_t call_step(const struct call_steps *steps, uint32_t site, enum call_state state);
