/* SPDX-License-Identifier: BSD-3-Clause */
/* What an analysis is wanted to give beside its result, and how. */
#pragma once
#include "analyze/timeline/timeline.h"

struct wanted {
    double threshold;          /* of classes; 0 = the usual one */
    bool facts;                /* exact counts, for comparing */
    struct timeline *timeline; /* to be filled in, with its budget set; NULL = none */
};
