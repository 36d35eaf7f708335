/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/call_steps.h"
#include "analyze/waits/call_classes.h"
#include "wrap/base/err.h"

void call_steps_begin(struct call_steps *steps, const struct sites *sites)
{
    *steps = (struct call_steps){.sites = sites};
    vec_resize(&steps->at, sites->sites.n);
}

void call_steps_release(struct call_steps *steps)
{
    vec_release(&steps->at);
}

void call_steps_make(struct call_steps *steps, uint32_t site, enum call_state state)
{
    const struct trace *trace = steps->sites->trace;
    uint32_t region = sites_at(steps->sites, site)->region;
    enum ww_class class = region < trace->n_regions ? trace->regions[region].class : WW_LOCAL;
    const enum step_state states[CALL_STATES] = {class_state(class), STEP_MPI, STEP_DESCHEDULED, STEP_UNKNOWN};
    enum step_what what = state == CALL_WAITING ? WHAT_WAIT : WHAT_SITE;
    steps->at.at[site].of[state] = 1 + steps_put(steps->sites->steps, states[state], what, site, TRACE_NONE);
}

uint32_t call_step(const struct call_steps *steps, uint32_t site, enum call_state state)
{
    uint32_t step_plus_1 = steps->at.at[site].of[state];
    if (!step_plus_1)
        bug("time in state %d at call site %u was not expected", (int)state, site);
    return step_plus_1 - 1;
}
