/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From blame by class to causes: imbalances of the program, each named by the loop or routine around all of it
 * (rollup.h), whatever state, caller and call site the blame came with; and what the machine held up, as one: time
 * without a CPU, wherever it was lost.
 */
#pragma once
#include "analyze/blame/blame.h"

struct causes_input {
    struct analysis *analysis; /* sites are filled in; causes are added */
    struct classes *classes;
    struct sites *sites;
    const struct rank_time *ranks;
    const struct sparse *critical; /* efficiency_critical_path */
    const struct measures *measures;
    const struct costs *costs;
    const struct survey *survey;
    const struct locks *locks;
    struct cause_times *acting; /* filled in when it is not NULL */
};

void causes_find(const struct causes_input *input);
