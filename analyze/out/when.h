/* SPDX-License-Identifier: BSD-3-Clause */
/* When in the run a cause acts, from its waiting in equal parts of the run. */
#pragma once
#include "analyze/result/result.h"

/* "until 4.1 s", "once, about 2.0 s after the start", "growing over the run"; NULL: all through the run. */
const char *when_sentence(struct arena *arena, const struct analysis *analysis, const double *ns);
/* A line of blocks over the run. */
const char *when_blocks(struct arena *arena, const double *ns);
