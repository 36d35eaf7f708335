/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/sections/sections.h"
#include "analyze/sections/index.h"
#include <stdlib.h>
#include <string.h>

/* Tests make sections that are shorter. */
static uint64_t n_events_least(void)
{
    const char *wanted = getenv("WHYWAIT_SECTION_EVENTS");
    uint64_t n = wanted ? strtoull(wanted, NULL, 10) : 0;
    return n ? n : SECTION_EVENTS;
}

/* Of the first process. */
static uint32_t paced_location(const struct trace *trace)
{
    const struct trace_location *main = trace_main_thread(trace, 0);
    return main ? (uint32_t)(main - trace->locations) : TRACE_NONE;
}

/* So many of its events come with those of one section. */
static uint64_t paced_events(const struct trace *trace, uint32_t paced, uint64_t least)
{
    uint64_t n_records = trace->locations[paced].n_records;
    double part =
        trace->n_records && n_records ? (double)n_records / (double)trace->n_records : 1 / (double)trace->n_locations;
    double n = (double)least * part;
    return n > 1 ? (uint64_t)n : 1;
}

bool sections_are_possible(const struct trace *trace)
{
    bool is_short = trace->n_records && trace->n_records <= n_events_least();
    return !is_short && !trace->part && trace->n_ranks > 1 && paced_location(trace) != TRACE_NONE;
}

void sections_begin(struct sections *sections, struct trace *trace)
{
    *sections = (struct sections){.trace = trace,
                                  .paced = paced_location(trace),
                                  .begin_ns = trace->start_ns,
                                  .may_cut = sections_are_possible(trace)};
    endings_begin(&sections->endings, trace);
    if (!sections->may_cut)
        return;
    sections->every = paced_events(trace, sections->paced, n_events_least());
    sections->last_tried = UINT64_MAX;
    state_begin(&sections->state, trace);
}

void sections_find_index(struct trace *trace, struct engine *engine, struct sections_index *index)
{
    struct sections sections;
    sections_begin(&sections, trace);
    *index = (struct sections_index){0};
    if (sections.may_cut)
        index_make(index, trace, engine, sections.paced, sections.every);
    sections_release(&sections);
}

bool sections_begin_at(struct sections *sections, struct trace *trace, const struct sections_index *index)
{
    if (!index->turn) {
        bool is_there = !trace_rewind(trace);
        trace->has_failed |= !is_there;
        sections_begin(sections, trace);
        return is_there;
    }
    sections_begin(sections, trace);
    if (index_begin(index, trace, &sections->state)) {
        trace->has_failed = true;
        return false;
    }
    for (uint32_t loc = 0; loc < trace->n_locations; loc++)
        if (sections->state.places[loc].now.has_ended)
            endings_leave_out(&sections->endings, loc);
    sections->turn = index->turn - 1;
    sections_skip(sections);
    bool goes_on = sections_go_on(sections);
    if (!goes_on || sections->last_tried != index->ordinal) /* something may be under way where it began */
        trace_cannot_watch(trace);
    return goes_on;
}

void sections_release(struct sections *sections)
{
    state_release(&sections->state);
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
    state_write_end(&sections->state, event, &sections->made);
}

static const struct event *next_made(struct sections *sections)
{
    sections->event = SECTION_STATE;
    return &sections->made.at[sections->next++];
}

/* Once in each span but the first; which places are tried does not depend on the outcome. */
static bool is_cut_before(struct sections *sections, const struct event *event)
{
    const struct place *paced = &sections->state.places[sections->paced];
    if (!state_is_candidate(&sections->state, event) || !state_is_with(&sections->state, event, sections->paced))
        return false;
    uint64_t turn = paced->now.n_at_enter / sections->every;
    if (turn > sections->turn)
        sections->n_tried = 0;
    sections->turn = turn;
    bool is_tried = turn && paced->now.n_of_all != sections->last_tried && sections->n_tried < CUT_TRIES;
    sections->n_tried += is_tried;
    sections->last_tried = paced->now.n_of_all;
    if (!is_tried || !state_may_cut(&sections->state, event))
        return false;
    sections->n_tried = CUT_TRIES;
    return true;
}

static const struct event *next_record(struct sections *sections)
{
    const struct event *event = sections->is_held ? &sections->held : endings_next(&sections->endings);
    bool is_held = sections->is_held;
    sections->is_held = false;
    sections->event = SECTION_BOTH;
    if (!event || !sections->may_cut)
        return event;
    if (!is_held && is_cut_before(sections, event)) {
        cut(sections, event);
        return next_made(sections);
    }
    if (state_ends_cut(&sections->state, event))
        sections->event = SECTION_RECORD;
    state_follow(&sections->state, event);
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

void sections_skip(struct sections *sections)
{
    while (sections_next(sections))
        continue;
}

const struct event *sections_next_record(struct sections *sections)
{
    for (;;) {
        const struct event *event = sections_next(sections);
        if (event && sections->event != SECTION_STATE)
            return event;
        if (!event && !sections_go_on(sections))
            return NULL;
    }
}

bool sections_go_on(struct sections *sections)
{
    if (!sections->ends)
        return false;
    sections->ends = false;
    sections->is_held = true;
    sections->number++;
    sections->begin_turn = sections->turn;
    sections->begin_ns = sections->end_ns;
    sections->made.n = sections->next = 0;
    state_write_begin(&sections->state, &sections->held, &sections->made);
    return true;
}
