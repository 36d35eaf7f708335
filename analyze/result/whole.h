/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers that still add up, for those who print amounts and for those who compute with them. */
#pragma once
#include "analyze/result/result.h"

/* Rounds n values (none negative) to integers whose sum is `total`, the rounded sum or one beside it, by largest
 * remainder: equal values stay in order and falling values keep falling. */
void whole_apportion(const double *values, uint32_t n, int64_t total, int64_t *integers);

/* All figures that outputs print become whole nanoseconds: waiting, how that is shared out over causes with the
 * machine, each of these over the parts of the run, and over sites. So text, JSON and the page round the same
 * numbers. */
void whole_figures(struct analysis *analysis);
