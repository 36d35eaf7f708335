/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes' results that causes are found from. All are borrowed. */
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
