/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples by the slice of their stretch in which they were taken.
 *
 * Samples come at intervals of their own, and stretches do as well. Where the two are in step for a while, samples find
 * the same slice of each stretch, and what runs there has too many of them. But every slice of a stretch is as long as
 * any other. So each slice gets the same weight, however many samples it has (stratification after sampling: Cochran,
 * "Sampling Techniques", 1977, 5A.9); one without any goes to the nearest that has some. Of a stretch that runs one
 * loop after another, each loop's part is then known to some slices, and of one that runs all by turns not much worse
 * than before.
 *
 * Time is that on a CPU. In a stretch that is hardly longer than the clock of samples errs nobody knows which slice a
 * sample hit; such stretches stay as they are.
 */
#pragma once
#include "wrap/base/sparse.h"

enum { SLICES = 64 };

/* Weights by (slice, step). */
struct slices {
    struct sparse weights;
};

/* Where in its stretch a sample was taken. */
struct sighting {
    uint64_t after_ns; /* on a CPU in the stretch before it */
    uint32_t step;
    float weight_ns;
};

/* `part` of the stretch was over, 0 to 1. */
void slices_add(struct slices *slices, double part, uint32_t step, double weight_ns);
/* Weights by step: what they are when all slices have the same. They sum to as much as before. Nothing changes where
 * `on` has other samples as well. */
void slices_even_out(struct slices *slices, struct sparse *on);
