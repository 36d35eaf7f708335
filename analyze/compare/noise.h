/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether runs of two sides could be of one kind.
 *
 * Waiting is skewed and has zeros, and its scatter grows with it. So it is compared as asinh(x / scale): like a
 * logarithm above the scale, linear below, where differences concern nobody. On that Student's test with one variance
 * for both sides: what is asked is whether both are of one kind, and then they have one. If a side is a mixture (a
 * loaded machine) the test says too little rather than too much; benchmarks/compare shows how it holds its level on
 * recorded runs.
 *
 * If the value is what one rank needs for some code, the other ranks of the same run are the best measure of what the
 * machine made of that code: its multiple of their time scatters a tenth of what it does itself. So both are compared,
 * each at half the level.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct noise_side {
    size_t n;
    const double *values, *others; /* others: NULL = there is nothing to measure them by */
};

struct noise_test {
    double chance;  /* of a difference like this or a larger one among runs of one kind; 1 where it cannot be told */
    double level;   /* how small the chance of that one comparison, of the two, had to be */
    double least;   /* the smallest change from the first side's mean that would be told, in the direction in which the
                       second one lies; in the unit of the values */
    double scatter; /* of one run, of the transformed values; NAN when not known */
    double apart, doubling; /* of the transformed means; what twice the larger mean would be from it */
    bool is_known;          /* there are three runs at least, of both sides */
    bool sees_doubling;     /* of the larger mean: it would have been told */
    bool is_by_others;      /* it was told by how many times as large as the others they are */
    bool is_opposed;        /* the values themselves went the other way than by the others */
};

/* 0 without values. */
double noise_mean(const double *values, size_t n);
/* `level`: how small `chance` must be. The scale must not depend on which run is of which side. */
struct noise_test noise_compare(struct noise_side before, struct noise_side after, double scale, double level);
/* The number of runs on each side that would show a difference like this one, or a doubling if that is more, four times
 * out of five; 0: more than a hundred. */
unsigned noise_runs_needed(const struct noise_test *test);
/* The |t| that is exceeded with this chance. */
double noise_student(double chance, size_t freedom);
