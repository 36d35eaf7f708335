/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second pass over the events: calls are put together with what they depend on (their messages, requests and
 * gatherings are matched) and handed to the replay.
 */
#pragma once
#include "analyze/waits/onesided.h"
#include "analyze/waits/progress.h"
#include "analyze/waits/replay.h"

/* A call that never ended, as it stood. */
struct open_call {
    uint32_t rank, lane, site, region;
    uint64_t enter_ns, end_ns;
    enum ww_class class;
    uint32_t comm; /* of a collective, when known; TRACE_NONE */
    uint32_t peer; /* world rank of the partner or the root, when known; TRACE_NONE */
    int32_t tag;   /* when known; 0 */
};

/* A rank that was outside MPI at its last event: since when, and what it did for the most part of that time. */
struct last_stretch {
    uint32_t rank, step;
    uint64_t begin_ns, end_ns;
    double share; /* of the step, in that time */
};

struct reader {
    const struct trace *trace;
    struct lanes *lanes;
    struct pools *pools;
    struct replay *replay;
    struct reading *readings; /* by location */
    uint64_t *last_post_ns;   /* by rank: when it last posted a receive or came to complete one */
    struct progress progress;
    struct operations operations;
    struct slab requests;
    uint64_t n_requests; /* ever: their order */
    uint64_t n_calls, n_polls, n_events;
    VEC(struct open_call) open_calls;
    VEC(struct last_stretch) last_stretches;
    struct fetching fetching;
    bool has_callbacks;
};

void reader_begin(struct reader *reader); /* the borrowed fields are set */
void reader_release(struct reader *reader);
void reader_feed(struct reader *reader, const struct event *event);
/* What an event of this location will be put together with is in the cache by then. */
void reader_fetch(const struct reader *reader, uint32_t at);
void reader_fetch_call(const struct reader *reader, uint32_t at); /* after it */
/* After the last event. */
void reader_finish(struct reader *reader);
