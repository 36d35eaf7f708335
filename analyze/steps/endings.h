/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process ends when the last of its locations does. Other tools' archives say of each location alone when it ends;
 * the first thread of a process may have ended long before its workers, or have no events at all. Its end is held back
 * until all have ended, and comes at that time. In archives of ours the first thread's end is the process's.
 *
 * O(1) an event. Memory follows locations.
 */
#pragma once
#include "analyze/trace/trace.h"

struct endings {
    struct trace *trace;
    bool *has_ended;    /* by location */
    uint32_t *n_going;  /* by rank: locations that have not ended */
    struct event *held; /* by rank: its first thread's end */
    bool *is_held;      /* by rank */
    uint32_t n_held;    /* ranks */
    uint32_t ready;     /* rank + 1 whose end comes next; 0 = none */
    uint64_t now_ns;    /* of the last event */
    struct arena arena;
};

/* `trace` at its first event. */
void endings_begin(struct endings *endings, struct trace *trace);
/* That location has ended before the first event. */
void endings_leave_out(struct endings *endings, uint32_t loc);
void endings_release(struct endings *endings);
/* endings_next of a trace that is not ours. */
const struct event *endings_take(struct endings *endings);
/* trace_next, with ends where they belong. */
static inline const struct event *endings_next(struct endings *endings)
{
    return endings->trace->is_ours ? trace_next(endings->trace) : endings_take(endings);
}
