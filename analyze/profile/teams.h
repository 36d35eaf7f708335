/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many threads of a process share a cause. The same work takes twice as long when half as many threads do it, and
 * that is neither more work nor slower work. Samples of all threads of a process in a place, over the time that the
 * process spent there, tell how many ran it at a time.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/survey.h"

/* Adds the number of threads to the ranks of every cause that is a place in the code where threads without MPI calls
 * were seen, and a clause to its explanation where late ranks and others differ. Causes and steps are complete. */
void teams_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey);
