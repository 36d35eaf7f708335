/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The routine profile: gprof's recurrence (callgraph.h) over what was recorded.
 *
 * Self times are sampled weights, and the durations of MPI calls. A routine's time is shared among its callers by the
 * sampled time that ran through each of them, so that totals are those of the stacks. A routine with too few samples
 * for that, whose module was built to count and whose callers are all known, shares it by exact numbers of calls, which
 * takes every call to cost the same. The recurrence is solved rank by rank, because ranks are what differs.
 */
#pragma once
#include "analyze/counts/executions.h"
#include "analyze/result/result.h"
#include "analyze/steps/sites.h"
#include "analyze/steps/calltree.h"

struct profile_input {
    struct arena *arena; /* of the result */
    const struct trace *trace;
    struct code *code;
    const struct survey *survey; /* finished */
    struct executions *executions;
    const struct sparse *bins; /* packed, of the whole run, by atom_key(rank, counter) */
    /* NULL: a profile of time. Else by atom_key(rank, step), packed: what each step is blamed for (measures_blame).
     * Samples then weigh that instead of what they lasted. The machine's blame falls to no routine. */
    const struct sparse *blame;
    struct sites *sites;
};

/* Empty without a code model, or when nothing was sampled. */
struct profile profile_make(const struct profile_input *input);
/* The bytes that routines ask for and what they call asks for: allocations as self, shared among callers by exact
 * numbers of calls. In the analysis's arena; of a complete analysis. */
struct profile profile_of_bytes(struct analysis *analysis);
