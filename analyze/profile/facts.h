/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact counts, by place and rank: trips of loops, ways behind conditions, calls of routines, of programs that were
 * built to count; bytes allocated; calls of MPI, messages and bytes sent, of any. Polls are left out: how often
 * somebody asked in vain is a matter of time.
 *
 * Each rank's counts are solved once, so the cost is that of the executions of the run; counts that equal ranks share
 * are kept once.
 */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/steps/lanes.h"
#include "analyze/profile/keyed_sums.h"

/* Every event of the trace; `lane` is that of its location. A call in which a section begins is none of its own.
 * Traffic is by call site and rank. */
void traffic_feed(struct keyed_sums *traffic, const struct trace *trace, const struct lane *lane,
                  const struct event *event);

/* Adds the facts to the analysis, whose allocations are complete. */
void facts_write(struct analysis *analysis, const struct measures *measures, struct executions *executions,
                 struct sites *sites, const struct keyed_sums *traffic);
