/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What scatter alone explains: Student's test of the difference of two means, with one variance of both sides.
 * From values of any unit to the same unit; nothing is allocated.
 */
#pragma once
#include <stddef.h>

/* 0 without values. */
double noise_mean(const double *values, size_t n);
/* What the difference of the means of values of one kind exceeds with this chance; INFINITY below two values a side. */
double noise_of_difference(const double *before, size_t n_before, const double *after, size_t n_after, double chance);
