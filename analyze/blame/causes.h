/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From blame by class to causes: places in the code, whatever state, caller and call site the blame came with.
 */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/steps/costs.h"
#include "analyze/counts/executions.h"
#include "analyze/waits/replay.h"

struct causes_input {
    struct analysis *analysis; /* sites are filled in; causes are added */
    struct classes *classes;
    struct sites *sites;
    const struct rank_time *ranks;
    const struct sparse *critical;        /* efficiency_critical_path */
    const uint32_t *site_order;           /* analysis->sites[i] is classes->sites.at[site_order[i]] */
    struct sparse **blames;               /* by index in classes->sites, then class */
    struct sparse **counted;              /* likewise: executions by (side, directness, rank; place) */
    struct sparse **worked;               /* likewise: work (work.h), with that of helpers */
    const struct sparse *ran, *work_done; /* executions and work over the run by (rank; place) */
    const struct costs *costs;
};

void causes_find(const struct causes_input *input);
