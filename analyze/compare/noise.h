/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether runs of two sides could be of one kind.
 *
 * Waiting is skewed and has zeros, and its scatter grows with it. So it is compared as asinh(x / scale): like a
 * logarithm above the scale, linear below, where differences concern nobody. On that Student's test with one variance
 * for both sides: what is asked is whether both are of one kind, and then they have one. Where a side is a mixture (a
 * loaded machine) the test says too little rather than too much; benchmarks/compare shows how it holds its level on
 * recorded runs.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct noise_test {
    double chance;  /* of a difference like this or a larger one among runs of one kind; 1 where it cannot be told */
    double least;   /* the smallest change from the first side's mean that would be told, in the direction in which the
                       second one lies; in the unit of the values */
    double scatter; /* of one run, of the transformed values; NAN when not known */
    double apart, doubling; /* of the transformed means; what twice the larger mean would be from it */
    bool is_known;          /* there are three runs at least, of both sides */
    bool sees_doubling;     /* of the larger mean: it would have been told */
};

/* 0 without values. */
double noise_mean(const double *values, size_t n);
/* `level`: how small `chance` must be. The scale must not depend on which run is of which side. */
struct noise_test noise_compare(const double *before, size_t n_before, const double *after, size_t n_after,
                                double scale, double level);
/* How many runs on each side would tell a difference like this one, or a doubling if that is more, at that level, four
 * times out of five; 0: more than a hundred. */
unsigned noise_runs_needed(const struct noise_test *test, double level);
/* What |t| exceeds with this chance. */
double noise_student(double chance, size_t freedom);
