/* SPDX-License-Identifier: BSD-3-Clause */
/* Routine profiles of several runs as one. */
#pragma once
#include "analyze/result/result.h"

/*
 * Routines of one name, file and line are the same, whatever the runs' ranks. Self times, calls, and what falls to each
 * caller, are sums. Cycles and totals are those of the sum, because one run may close a circle that another leaves
 * open. Without times by rank, stacks, and routines that were never called. In the arena; names stay those of the
 * profiles.
 */
struct profile profile_sum(struct arena *arena, const struct profile *const *profiles, size_t n_profiles);
