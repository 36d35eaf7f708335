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
/* A thousandth is next to nothing: so little is not compared or looked into, and a factor that is larger says no more.
 */
static const double NEXT_TO_NOTHING = 0.001;
/* What has half of something is most of it: nothing else has more. */
static const double MAJORITY = 0.5;
/* Ratios of costs, and of instructions in decoded code, are taken to be that good where nothing tells how good they
 * are; of better ones no error is given. */
static const double USUAL_DOUBT = 0.15;
/* A list names kinds from this part of a cause's waiting on, and ranks that wait from this part of the longest on. */
static const double WORTH_NAMING = 0.1;
/* Ranks whose waiting over the run differs by more, of 2 at most, are drawn each. */
static const double WHEN_DIFFERENT = 0.5;
/* Ranks that are killed together end within so long of each other: the signal takes its way. A run that broke off
 * before a rank lost as much begins with its end. */
enum { SAME_MOMENT_NS = 20000000 };
