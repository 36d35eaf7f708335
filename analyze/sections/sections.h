/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run in sections, each of which is read as if it were a run of its own: its locations first enter what they are in
 * the middle of, and leave at its end what they are in then (state.h). The run alone says where it is cut: once in
 * SECTION_EVENTS events at most, at one of the first CUT_TRIES collective operations of all where that is possible
 * (state.h). Events are counted by those of one location, and its part in the records of the run.
 *
 * A run that is shorter, one without such places, and a part of a run are one section.
 */
#pragma once
#include "analyze/sections/state.h"
#include "analyze/steps/endings.h"

enum { SECTION_EVENTS = 1 << 20, CUT_TRIES = 8 };

/* The readers of an event of a section. */
enum section_event {
    SECTION_BOTH,
    SECTION_STATE, /* no record of the run: for those who begin anew with each section */
    SECTION_RECORD /* for those who add up over the run: the section before has had its effect on the others */
};

struct sections {
    struct trace *trace;
    struct endings endings;
    bool may_cut; /* else it is one section */
    struct state state;
    uint32_t paced;            /* the location by which events are counted: */
    uint64_t every;            /* a cut is due once in so many of its events, */
    uint64_t turn;             /* the present of these spans, from 0, in which */
    uint64_t last_tried;       /* operations that had ended before the last place that was tried */
    uint32_t n_tried;          /* so many places were tried; CUT_TRIES: no other one is */
    uint64_t begin_ns, end_ns; /* of the present section; end_ns: once it has ended */
    uint32_t number;           /* of the present one, from 0 */
    uint64_t begin_turn;       /* in which it began; 0 = at the run's begin */
    enum section_event event;  /* the last one handed out */
    event_list made;
    size_t next;
    bool ends, is_held; /* this section; the event before which the run was cut is read next */
    struct event held;
};

/* False: it is one section. */
bool sections_are_possible(const struct trace *trace);
/* `trace` at its first event. */
void sections_begin(struct sections *sections, struct trace *trace);
/* Between two readings, in all processes that share the sections. */
struct engine;
struct sections_index;
void sections_find_index(struct trace *trace, struct engine *engine, struct sections_index *index);
/* Rewinds the trace to where this process begins, and passes over what is left of the section before: its sections
 * follow, as after sections_begin by one who has read all from the first event. False where none follows, or after
 * error(), when the trace has failed. */
bool sections_begin_at(struct sections *sections, struct trace *trace, const struct sections_index *index);
/* By which the sections of a run are told apart, ascending: the turn in which the present one began. */
static inline uint32_t sections_turn(const struct sections *sections)
{
    return (uint32_t)sections->begin_turn;
}
void sections_release(struct sections *sections);
/* The next event of the present section; NULL at its end. Valid until the next call. */
const struct event *sections_next(struct sections *sections);
/* Passes over all its events. */
void sections_skip(struct sections *sections);
/* After its end: goes on to the next section. False where there is none. */
bool sections_go_on(struct sections *sections);
/* Instead of all these: the records of the run, as if it were one section. */
const struct event *sections_next_record(struct sections *sections);
