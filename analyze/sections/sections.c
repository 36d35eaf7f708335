/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/sections/sections.h"
#include <stdlib.h>
#include <string.h>

/* Tests make sections that are shorter. */
static uint64_t n_events_least(void)
{
    const char *wanted = getenv("WHYWAIT_SECTION_EVENTS");
    uint64_t n = wanted ? strtoull(wanted, NULL, 10) : 0;
    return n ? n : SECTION_EVENTS;
}

void sections_begin(struct sections *sections, struct trace *trace)
{
    uint64_t least = n_events_least();
    bool is_short = trace->n_records && trace->n_records <= least;
    *sections = (struct sections){.trace = trace, .n_events_least = least, .begin_ns = trace->start_ns};
    endings_begin(&sections->endings, trace);
    if (!is_short && !trace->part && trace->n_ranks > 1)
        sections->state = state_make(trace);
}

void sections_release(struct sections *sections)
{
    if (sections->state)
        state_release(sections->state);
    vec_release(&sections->made);
    endings_release(&sections->endings);
}

/* The event before which the run is cut is read first in the next section; its time is when this one ends. */
static void cut(struct sections *sections, const struct event *event)
{
    sections->held = *event;
    sections->ends = true;
    sections->end_ns = event->time_ns;
    sections->made.n = sections->next = 0;
    state_write_end(sections->state, event, &sections->made);
}

static const struct event *next_made(struct sections *sections)
{
    sections->event = SECTION_STATE;
    return &sections->made.at[sections->next++];
}

static const struct event *next_record(struct sections *sections)
{
    const struct event *event = sections->is_held ? &sections->held : endings_next(&sections->endings);
    struct state *state = sections->state;
    bool is_held = sections->is_held;
    sections->is_held = false;
    sections->event = SECTION_BOTH;
    if (!event || !state)
        return event;
    if (!is_held && sections->n_events >= sections->n_events_least && state_may_cut(state, event)) {
        cut(sections, event);
        return next_made(sections);
    }
    sections->n_events++;
    state_follow(state, event);
    if (state_ends_cut(state, event))
        sections->event = SECTION_RECORD;
    return event;
}

const struct event *sections_next(struct sections *sections)
{
    if (sections->next < sections->made.n)
        return next_made(sections);
    if (sections->ends)
        return NULL;
    const struct event *event = next_record(sections);
    if (!event)
        sections->end_ns = sections->trace->end_ns;
    return event;
}

bool sections_go_on(struct sections *sections)
{
    if (!sections->ends)
        return false;
    sections->ends = false;
    sections->is_held = true;
    sections->number++;
    sections->n_events = 0;
    sections->begin_ns = sections->end_ns;
    sections->made.n = sections->next = 0;
    state_write_begin(sections->state, &sections->held, &sections->made);
    return true;
}
