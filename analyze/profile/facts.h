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
#include "wrap/base/packing.h"

/* By call site and rank. */
struct traffic {
    struct intern keys; /* struct traffic_key */
    VEC(struct traffic_count) counts;
};
struct traffic_count {
    uint64_t n_calls, n_messages, n_bytes;
};

/* Every event of the trace; `lane` is that of its location. */
void traffic_feed(struct traffic *traffic, const struct trace *trace, const struct lane *lane,
                  const struct event *event);
void traffic_release(struct traffic *traffic);
/* Gives that of a section away; adds it to that of the run. A call in which a section begins is none of its own. */
void traffic_pack(const struct traffic *traffic, struct packing *packing);
void traffic_unpack(struct traffic *traffic, struct unpacking *unpacking);

/* Adds the facts to the analysis, whose allocations are complete. */
void facts_write(struct analysis *analysis, const struct measures *measures, struct executions *executions,
                 struct sites *sites, const struct traffic *traffic);
