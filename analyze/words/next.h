/* SPDX-License-Identifier: BSD-3-Clause */
/* What the verdict advises, in words. */
#pragma once
#include "analyze/result/result.h"
#include "wrap/base/containers.h"

/* The next step for the user, or the command that shows more. In the arena, or static. */
const char *next_for_cause(struct arena *arena, const struct analysis *analysis, const struct cause *cause);
/* " (without it at most -331 ms)": what the advice gains where that is not what the row says; "". In the arena. */
const char *next_gain(struct arena *arena, const struct cause *cause);
/* The sentence for what has no cause; NULL where there is none, or it takes a cause. Static. */
const char *next_for_advice(enum advice advice);
