/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of each place an interval ran through, from its counts: the executions of the place's blocks, each weighed
 * with how many instructions it is.
 *
 * That is linear in the counters and in the frames in flight, so each of them is turned once into its factors by place;
 * an interval then costs one addition for each counter that changed, and no graph is solved. The sum over blocks says
 * more than the number of iterations where a loop has branches.
 */
#pragma once
#include "analyze/counts/executions.h"

/* What one more of a counter, or one more frame in flight, adds to places. */
struct work_form {
    bool is_known;
    struct term *at; /* place, instructions or so; in the arena */
    size_t n;
};

struct work {
    struct executions *executions;
    struct work_form *points, *frames; /* by trace point, by trace frame (with all its callers) */
    struct counts_effects effects;
    struct sparse sum; /* scratch */
    struct arena arena;
};

void work_begin(struct work *work, struct executions *executions);
void work_release(struct work *work);
/* Replaces what is in *out: work by place, packed, all of it positive. `counts`: as in a stretch. */
void work_measure(struct work *work, const struct sparse *counts, struct sparse *out);
