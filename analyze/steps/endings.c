/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/endings.h"

void endings_begin(struct endings *endings, struct trace *trace)
{
    *endings = (struct endings){.trace = trace};
    endings->has_ended = arena_array(&endings->arena, bool, trace->n_locations + 1);
    endings->n_going = arena_array(&endings->arena, uint32_t, trace->n_ranks + 1);
    endings->held = arena_array(&endings->arena, struct event, trace->n_ranks + 1);
    endings->is_held = arena_array(&endings->arena, bool, trace->n_ranks + 1);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        if (trace->locations[i].rank < trace->n_ranks)
            endings->n_going[trace->locations[i].rank]++;
}

void endings_leave_out(struct endings *endings, uint32_t loc)
{
    uint32_t rank = endings->trace->locations[loc].rank;
    if (rank >= endings->trace->n_ranks || endings->has_ended[loc])
        return;
    endings->has_ended[loc] = true;
    endings->n_going[rank]--;
}

void endings_release(struct endings *endings)
{
    arena_release(&endings->arena);
}

static const struct event *hand_out(struct endings *endings, uint32_t rank)
{
    struct event *event = &endings->held[rank];
    endings->ready = 0;
    endings->is_held[rank] = false;
    endings->n_held--;
    event->time_ns = endings->now_ns > event->time_ns ? endings->now_ns : event->time_ns;
    return event;
}

/* Of whom no last end has come. */
static const struct event *next_left(struct endings *endings)
{
    for (uint32_t rank = 0; endings->n_held && rank < endings->trace->n_ranks; rank++)
        if (endings->is_held[rank])
            return hand_out(endings, rank);
    return NULL;
}

/* True when the event is held back. */
static bool take_end(struct endings *endings, const struct event *event)
{
    const struct trace_location *location = &endings->trace->locations[event->loc];
    uint32_t rank = location->rank;
    if (rank >= endings->trace->n_ranks || endings->has_ended[event->loc])
        return false;
    endings->has_ended[event->loc] = true;
    endings->n_going[rank]--;
    bool is_held = location->thread == 0 && endings->n_going[rank];
    if (is_held) {
        endings->held[rank] = *event;
        endings->is_held[rank] = true;
        endings->n_held++;
    } else if (!endings->n_going[rank] && endings->is_held[rank]) {
        endings->ready = rank + 1;
    }
    return is_held;
}

const struct event *endings_take(struct endings *endings)
{
    const struct event *event;
    if (endings->ready)
        return hand_out(endings, endings->ready - 1);
    do {
        if (!(event = trace_next(endings->trace)))
            return next_left(endings);
        endings->now_ns = event->time_ns;
    } while (event->kind == EV_END && take_end(endings, event));
    return event;
}
