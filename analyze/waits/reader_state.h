/* SPDX-License-Identifier: BSD-3-Clause */
/* What the reader has so far: of each location the call that it is in (reading.h), and what is left for the report. */
#pragma once
#include "analyze/steps/lanes.h"
#include "analyze/waits/absences.h"
#include "analyze/waits/onesided.h"
#include "analyze/waits/progress.h"
#include "analyze/waits/replay.h"

/* A call that never ended, as it stood. */
struct open_call {
    uint32_t rank, lane, site, region;
    uint64_t enter_ns, end_ns;
    enum ww_class class;
    bool is_outside; /* for processes outside of the run */
    uint32_t comm;   /* of a collective, when known; TRACE_NONE */
    uint32_t peer;   /* world rank of the partner or the root, when known; TRACE_NONE */
    int32_t tag;     /* when known; 0 */
};

/* A rank that was outside MPI at its last event: since when, after which call, and what it did for the most part of
 * that time. */
struct last_stretch {
    uint32_t rank, from; /* site */
    uint32_t step;       /* TRACE_NONE: not known */
    uint64_t begin_ns, end_ns;
    double share; /* of the step, in that time */
};

struct reader {
    const struct trace *trace;
    const uint32_t *main_lanes; /* by rank */
    struct replay *replay;
    struct absences absences; /* of all locations, up to the last event that was told */
    struct reading *readings; /* by location */
    uint64_t *last_post_ns;   /* by rank: when it last posted a receive or came to complete one */
    struct progress progress;
    struct operations operations;
    struct slab requests;
    uint64_t n_requests; /* ever: their order */
    uint64_t n_calls, n_polls;
    VEC(struct open_call) open_calls;
    VEC(struct last_stretch) last_stretches;
    struct fetching fetching;
    bool has_callbacks;
};
