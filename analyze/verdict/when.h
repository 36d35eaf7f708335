/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When in the run a cause acts, from its waiting in equal parts of the run.
 *
 * A part of the run: outside of it the cause has next to nothing (one hundredth at either end), or it has most of its
 * waiting in the span whose level stands out best from that of the rest, by least squares. A trend: the waiting of an
 * instance rises or falls over its own instances by rank correlation (Kendall; Mann 1945), which an outlier does not
 * make, and a straight line is nearer to it than two levels, one after the other. All through the run: in each quarter.
 * Of what is neither nothing is said.
 */
#pragma once
#include "analyze/result/result.h"

struct acting when_acts(const struct analysis *analysis, const struct cause *cause);
