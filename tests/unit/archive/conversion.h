/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of conversion share: calls at times after START_NS, and the events of a run as lines of text. */
#pragma once
#include "analyze/trace/trace.h"
#include "tests/unit/archive/spool_image.h"

enum { START_NS = 1000 };

static inline uint64_t at(uint64_t ns)
{
    return START_NS + ns;
}

#define CALL(name, enter, leave, ...)                                                                                  \
    (struct ww_call)                                                                                                   \
    {                                                                                                                  \
        .call = WW_ID_##name, .enter_ns = at(enter), .leave_ns = at(leave), .peer = WW_NO_PEER, .comm = 1, __VA_ARGS__ \
    }

/* Saves the whole image in the run directory, and releases it. */
void save(struct spool_image *image, const char *dir);
/* Converts what is in the run directory and opens the archive. */
struct trace *make_trace(const char *dir);
/* The event as a line, "LOC KIND DETAILS". */
void show_event(char *line, size_t size, const struct trace *trace, const struct event *event);
/* Reads all events, in the order of time: each must be the expected line; NULL ends them. */
void expect_events(struct trace *trace, const char *const *expected);
