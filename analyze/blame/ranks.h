/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run rank by rank: where the time of each went, who made whom wait, and what the critical path is made of.
 *
 * The waiting of a class is known by waiting rank, its blame by late rank; who made whom wait is their product, class
 * by class, which is exact where a class has one of either. The critical path is the chain that ends last: its
 * imbalance in a step is how much more of the step it has than the ranks have on average (Boehme, Wolf, de Supinski,
 * Schulz, Geimer: "Scalable critical-path based performance analysis", IPDPS 2012).
 *
 * Memory: MATRIX_GROUPS_MAX squared, and code size.
 */
#pragma once
#include "analyze/blame/measure.h"

enum { MATRIX_GROUPS_MAX = 256 };

/* Fills in ranks, matrix and critical of the result. `critical`: efficiency_critical_path. Sites are complete. */
void ranks_write(const struct measure_input *input, const struct measures *measures, const struct sparse *critical,
                 struct analysis *analysis);
