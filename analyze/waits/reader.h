/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second pass over the events: calls are put together with what they depend on (their messages, requests and
 * gatherings are matched) and handed to the replay.
 */
#pragma once
#include "analyze/waits/reader_state.h"

/* A call that begins. */
struct call_begin {
    uint64_t time_ns;
    uint32_t lane, site, region;
    bool is_off; /* recording was switched off */
};

/* A stretch that no call ends, and what it came to (spread_stretch). */
struct stretch_told {
    uint64_t begin_ns, end_ns;
    uint32_t from, to; /* sites */
    struct spent spent;
    const struct term *atoms, *counts; /* by atom_key */
    uint32_t n_atoms, n_counts;
    /* Of the last one of a main thread: the step that most of it was, plus 1, and its share; 0 = none is known. */
    uint32_t last_step;
    double last_share;
};

void reader_begin(struct reader *reader); /* the borrowed fields are set */
void reader_release(struct reader *reader);
/* Events, in order. Of a call that begins the caller fills in what was before it (before, counts and spent), and enters
 * it. */
struct call *reader_call(struct reader *reader, const struct call_begin *begin);
void reader_enter(struct reader *reader, uint32_t lane);
void reader_leave(struct reader *reader, uint32_t lane, uint64_t now_ns);
/* Events in a call, and those by which the location waits or not: any event of reader_needs. */
void reader_record(struct reader *reader, const struct event *event);
/* MPI calls a function of the program, which returns. */
void reader_call_back(struct reader *reader, uint32_t lane, uint64_t now_ns);
void reader_return(struct reader *reader, uint32_t lane, uint64_t now_ns, const struct stretch_told *stretch);
/* The last event of a location; outside MPI it ends a stretch, which is NULL inside. */
void reader_end(struct reader *reader, const struct event *end, const struct stretch_told *stretch);
/* The location shows that it is on a CPU, and nobody knows since when. */
void reader_is_back(struct reader *reader, uint32_t lane);
static inline bool reader_needs(const struct event *event)
{
    enum {
        NEEDED = 1u << EV_SEND | 1u << EV_ISEND | 1u << EV_ISEND_DONE | 1u << EV_RECV | 1u << EV_IRECV |
                 1u << EV_IRECV_DONE | 1u << EV_CANCELLED | 1u << EV_COLL_END | 1u << EV_ICOLL | 1u << EV_ICOLL_DONE |
                 1u << EV_IO | 1u << EV_PROBED | 1u << EV_OUTSIDE | 1u << EV_UNFINISHED | 1u << EV_PENDING |
                 1u << EV_RMA | 1u << EV_RMA_DONE | 1u << EV_RMA_SYNC | 1u << EV_POLLS | 1u << EV_OFF | 1u << EV_ON |
                 1u << EV_CONTROL
    };
    return NEEDED >> event->kind & 1;
}
/* Data for the next events of this location is in the cache by then. */
void reader_fetch(const struct reader *reader, uint32_t at);
void reader_fetch_call(const struct reader *reader, uint32_t at); /* after it */
/* After the last event. */
void reader_finish(struct reader *reader);
