/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact counts, by place and rank. Programs that were built to count have trips of loops, ways behind conditions and
 * calls of routines. All have bytes allocated, calls of MPI, messages and bytes sent. Polls are left out: how often
 * somebody asked in vain is a matter of time.
 *
 * Each rank's counts are solved once. Equal counts of several ranks are kept once.
 */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/profile/keyed_sums.h"
#include "analyze/steps/lanes.h"

/* Every event of the trace; `lane` is that of its location. A call in which a section begins is none of its own.
 * Traffic is by call site and rank. */
void traffic_feed(struct keyed_sums *traffic, const struct trace *trace, const struct lane *lane,
                  const struct event *event);

/* Adds the facts to the analysis, whose allocations are complete. */
void facts_write(struct analysis *analysis, const struct measures *measures, struct executions *executions,
                 struct sites *sites, const struct keyed_sums *traffic);
