/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the classes came to, once the trace has been read: the blame of each, the executions and the work on both its
 * sides, the same of the whole run; and the sites with their classes as the result gives them out.
 */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/steps/costs.h"
#include "analyze/waits/replay.h"

struct measure_input {
    struct classes *classes; /* expanded */
    struct sites *sites;
    struct executions *executions;
    struct costs *costs;
    const struct rank_time *ranks;
    uint32_t n_ranks;
};

/* Vectors by class stand by index in classes->sites, then class; executions and work are empty where nothing was
 * counted. */
struct measures {
    const struct classes *classes;
    uint32_t *site_order;         /* by falling waiting: the result's sites[i] is classes->sites.at[site_order[i]] */
    struct sparse **blames;       /* parts of the waiting by (directness, rank; step) */
    struct sparse **counted;      /* executions by (side, directness, rank; place) */
    struct sparse **worked;       /* work (work.h), with that of helpers; likewise */
    struct sparse bins;           /* of the whole run, packed, by (rank; counter) */
    struct sparse ran, work_done; /* executions and work over the run by (rank; place) */
    struct arena arena;
};

void measures_make(const struct measure_input *input, struct measures *measures);
void measures_release(struct measures *measures);
/* What the code of a step is blamed for in all classes, whatever its state and caller, by (rank; step); packed, to be
 * released. */
struct sparse measures_blame(const struct measures *measures, struct steps *steps);
/* Fills in sites, classes and waiting of the result. */
void sites_write(const struct measure_input *input, const struct measures *measures, struct analysis *analysis);
