/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What people take for the same, and what is worth their time: all that output may know of thresholds. Statistics stand
 * in constants.h, which output does not see.
 */
#pragma once

/* A hundredth of anything is where people stop reading. Anything below that of its whole has no row, founds no class,
 * is no cause of its own and is not explained. */
static const double NEGLIGIBLE_SHARE = 0.01;
/* Most of it and nearly all of it: what carries so much stands for the whole. */
static const double MOST_SHARE = 0.9, NEARLY_ALL_SHARE = 0.95;
/* Times and costs are the same within a twentieth; times of which few samples are known within a tenth, and lists of
 * ranks that are too long begin with groups that wide. */
static const double NOTABLY_LONGER = 1.05, TIMES_ALIKE = 1.1;
/* Executions that are a thousandth of the others' are none to speak of. A factor above it says nothing. */
enum { FACTOR_KNOWN = 1000 };
/* Ratios of costs are taken to be that good where nothing tells how good they are; of better ones no error is given. */
static const double USUAL_DOUBT = 0.15;
/* A list names kinds from this part of a cause's waiting on, and ranks that wait from this part of the longest on. */
static const double WORTH_NAMING = 0.1;
/* Ranks whose shares of time differ by less, all states together, stand in one row; those whose waiting over the run
 * differs by more are drawn each. */
static const double RANKS_ALIKE = 0.1, WHEN_DIFFERENT = 0.5;
/* Of a comparison: kinds from this part of a row on; rows and differences in the run time from this of all on. */
static const double DIFFERENCE_KIND = 0.1, DIFFERENCE_ROW = 0.001;
/* Ranks that are killed together do not fall silent in the same instant: the signal takes its way. */
enum { SAME_MOMENT_NS = 20000000 };
