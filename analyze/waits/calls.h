/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second pass over the events, first half: what each is to its location, and what the stretch before a call came
 * to. The reader, which puts calls together with what they depend on, is told of the events that it needs, in their
 * order.
 *
 * On this side lanes, sites, pools and steps go on; on that side all that has to do with more than one location.
 */
#pragma once
#include "analyze/steps/lanes.h"
#include "analyze/steps/spread.h"
#include "analyze/waits/call_steps.h"
#include "analyze/waits/reader.h"

struct calls {
    const struct trace *trace;
    struct lanes *lanes;
    struct pools *pools;
    struct call_steps *call_steps;
    struct reader *reader;
    struct sparse atoms, counts, lent; /* scratch */
};

/* The borrowed fields are set. */
void calls_release(struct calls *calls);
void calls_feed(struct calls *calls, const struct event *event);
/* After the last event: all that was told has been read. */
void calls_finish(struct calls *calls);
