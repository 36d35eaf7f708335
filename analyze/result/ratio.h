/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By how much one quantity exceeds another, and how well that is known: the one model of error for all comparisons of
 * times. Each of the two has a standard error (sampling, fitted costs, what core and cache alone make of the same
 * work). Few samples that happen to be fewer than usual also make their own error look small; so a sampled time has the
 * range of Wilson ("Probable inference", 1927). The ends of the ratio are those of Fieller ("Some problems in interval
 * estimation", 1954) with these ranges, at SAME_DEVIATIONS. Exact counts have no error.
 */
#pragma once
#include <stdbool.h>

/* A quantity with its standard error, in the same unit. */
struct measured {
    double value, error;
    bool is_sampled; /* a sum of samples: its variance grows with it */
};

/* low <= value <= high; high is INFINITY where the lower of the two is nothing, value NAN where both are. */
struct ratio {
    double low, value, high;
};

struct ratio ratio_of(struct measured over, struct measured under);
/* True when it is larger than `least`, beyond its error: what may be said as a fact. */
static inline bool ratio_exceeds(struct ratio ratio, double least)
{
    return ratio.low > least;
}
/* True when both may be the same. */
bool ratio_is_like(struct ratio one, struct ratio other, double factor);
/* The logarithm of the factor by which it may be off, either way; INFINITY where nothing is known. */
double ratio_doubt(struct ratio ratio);
