/* SPDX-License-Identifier: BSD-3-Clause */
/* When in the run a cause acts, in words. */
#pragma once
#include "analyze/result/result.h"
#include "wrap/base/containers.h"

/* "every 10th time, only in the first 4.10 s", "once, for 1.00 s, 2.00 s after the start"; NULL: all through the run,
 * or nothing is known. */
const char *when_sentence(struct arena *arena, const struct cause *cause);
/* Likewise, where it acts all through the run too: NULL where nothing is known. */
const char *when_in_full(struct arena *arena, const struct cause *cause);
