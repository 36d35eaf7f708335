/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/part.h"
#include "analyze/trace/source.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include "wrap/base/containers.h"
#include <stdlib.h>

/* A location between two events. */
struct place {
    VEC(struct event) open;    /* the EV_ENTER of regions it is in, outermost first */
    VEC(struct event) sends;   /* begun since the first of them */
    struct event off, control; /* the last of these kinds */
    bool is_off, is_paused, has_ended;
    bool is_collecting, began_before; /* inside a collective operation; which counts as before the part */
    bool has_counts;                  /* whose interval lies in the part */
};

/* Of a process: requests may be completed by another thread. */
struct requests {
    VEC(struct event) posted; /* receives, in order; kind EV_END: completed */
    struct map receives;      /* request -> 1 + index in posted */
    struct map left_out;      /* non-blocking collectives: the request of one that is not in the part */
};

struct trace_part {
    uint64_t from_ns, until_ns;
    /* Collectives before the part, by (communicator and whether they block, rank) and the most of any rank. */
    struct map n_before, most_before;
    /* While reading. */
    bool has_begun, is_over;
    struct place *places;
    struct requests *requests;
    struct map n_skipped; /* as n_before: how many were left out since */
    VEC(struct event) ready;
    size_t next;
    const struct event *held; /* the first event of the part */
};

static uint32_t space_of(const struct event *event)
{
    return 2 * event->comm + (event->kind == EV_ICOLL);
}

static uint64_t count_of(const struct map *map, uint64_t key)
{
    const uint64_t *n = map_get(map, key);
    return n ? *n : 0;
}

/* Collectives. */

static void count_before(struct trace *trace, const struct event *event)
{
    struct trace_part *part = trace->part;
    uint32_t space = space_of(event);
    uint64_t n = ++*map_put(&part->n_before, key_pair(space, trace->locations[event->loc].rank), NULL);
    uint64_t *most = map_put(&part->most_before, space, NULL);
    *most = n > *most ? n : *most;
}

/* Of which communicator a collective is, its end tells: those that the part's begin cuts are read to their end. */
static int count_collectives(struct trace *trace)
{
    struct trace_part *part = trace->part;
    uint64_t n_open = 0;
    bool *is_open = calloc(trace->n_locations + 1, sizeof *is_open);
    if (!is_open)
        err_out_of_memory(trace->n_locations);
    int result = trace->source->rewind(trace);
    const struct event *event;
    while (!result && (event = trace->source->next(trace)) && (event->time_ns < part->from_ns || n_open)) {
        bool is_before = event->time_ns < part->from_ns;
        if (event->kind == EV_COLL_BEGIN && is_before && !is_open[event->loc]) {
            is_open[event->loc] = true;
            n_open++;
        } else if (event->kind == EV_COLL_END && is_open[event->loc]) {
            is_open[event->loc] = false;
            n_open--;
            count_before(trace, event);
        } else if (event->kind == EV_ICOLL && is_before)
            count_before(trace, event);
    }
    free(is_open);
    return trace->has_failed ? -1 : result;
}

/* Is this a collective that some member has behind it already? */
static bool is_left_out(struct trace *trace, const struct event *event)
{
    struct trace_part *part = trace->part;
    uint64_t key = key_pair(space_of(event), trace->locations[event->loc].rank);
    uint64_t *n_skipped = map_put(&part->n_skipped, key, NULL);
    if (count_of(&part->n_before, key) + *n_skipped >= count_of(&part->most_before, space_of(event)))
        return false;
    ++*n_skipped;
    return true;
}

/* The state of a location and its process. */

static void follow_receives(struct requests *requests, const struct event *event)
{
    if (event->kind == EV_IRECV) {
        *vec_push(&requests->posted) = *event;
        *map_put(&requests->receives, event->request, NULL) = requests->posted.n;
        return;
    }
    uint64_t *index = map_get(&requests->receives, event->request);
    if (!index)
        return;
    requests->posted.at[*index - 1].kind = EV_END;
    map_remove(&requests->receives, event->request);
    if (!requests->receives.n)
        requests->posted.n = 0;
}

static void follow(struct trace *trace, const struct event *event)
{
    struct place *place = &trace->part->places[event->loc];
    struct requests *requests = &trace->part->requests[trace->locations[event->loc].rank];
    switch (event->kind) {
    case EV_ENTER:
        *vec_push(&place->open) = *event;
        break;
    case EV_LEAVE:
        place->open.n -= place->open.n > 0;
        place->sends.n = place->open.n ? place->sends.n : 0;
        break;
    case EV_SEND:
        *vec_push(&place->sends) = *event;
        break;
    case EV_COLL_BEGIN:
        place->is_collecting = place->began_before = true;
        break;
    case EV_COLL_END:
        place->is_collecting = false;
        break;
    case EV_IRECV:
    case EV_IRECV_DONE:
    case EV_CANCELLED:
        follow_receives(requests, event);
        break;
    case EV_ICOLL:
        *map_put(&requests->left_out, event->request, NULL) = 1;
        break;
    case EV_ICOLL_DONE:
        map_remove(&requests->left_out, event->request);
        break;
    case EV_OFF:
    case EV_ON:
        place->off = *event;
        place->is_off = event->kind == EV_OFF;
        break;
    case EV_CONTROL:
        /* What was pending when a window ended may have been completed unseen; the next one begins with what is. */
        if (event->request && !event->flags) {
            map_release(&requests->receives);
            requests->posted.n = 0;
        }
        place->control = *event;
        place->is_paused = !event->flags;
        break;
    case EV_END:
        place->has_ended = true;
        break;
    default:
        break;
    }
}

/* The part's first and last events. */

static void add_ready(struct trace_part *part, struct event event, uint64_t time_ns)
{
    event.time_ns = time_ns;
    *vec_push(&part->ready) = event;
}

static struct event plain_event(enum event_kind kind, uint32_t loc, uint32_t region)
{
    return (struct event){.kind = (uint16_t)kind,
                          .loc = loc,
                          .region = region,
                          .flags = kind == EV_END ? WW_END_FINALIZE : 0,
                          .frame = TRACE_NONE,
                          .comm = TRACE_NONE,
                          .peer = TRACE_NONE};
}

static void begin(struct trace *trace)
{
    struct trace_part *part = trace->part;
    part->has_begun = true;
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        struct place *place = &part->places[loc];
        if (place->is_off)
            add_ready(part, place->off, part->from_ns);
        if (place->is_paused)
            add_ready(part, place->control, part->from_ns);
        /* In whatever region they were posted; one of this moment serves. */
        struct requests *requests = &part->requests[trace->locations[loc].rank];
        for (size_t i = 0; i < requests->posted.n; i++)
            if (requests->posted.at[i].kind == EV_IRECV && requests->posted.at[i].loc == loc)
                add_ready(part, requests->posted.at[i], part->from_ns);
        for (size_t i = 0; i < place->open.n; i++)
            add_ready(part, place->open.at[i], part->from_ns);
        for (size_t i = 0; i < place->sends.n; i++)
            add_ready(part, place->sends.at[i], part->from_ns);
        if (place->has_ended)
            add_ready(part, plain_event(EV_END, loc, TRACE_NONE), part->from_ns);
    }
}

/* Does this event of the part's time belong to it? */
static bool is_of_part(struct trace *trace, const struct event *event)
{
    struct place *place = &trace->part->places[event->loc];
    struct requests *requests = &trace->part->requests[trace->locations[event->loc].rank];
    switch (event->kind) {
    case EV_ENTER:
        *vec_push(&place->open) = *event;
        return true;
    case EV_LEAVE:
        place->open.n -= place->open.n > 0;
        return true;
    case EV_COLL_BEGIN:
        place->began_before = false;
        return true;
    case EV_COLL_END:
        return !(place->is_collecting && place->began_before) && !is_left_out(trace, event);
    case EV_ICOLL:
        if (!is_left_out(trace, event))
            return true;
        *map_put(&requests->left_out, event->request, NULL) = 1;
        return false;
    case EV_ICOLL_DONE:
        return !map_remove(&requests->left_out, event->request);
    case EV_BINS: {
        bool has_counts = place->has_counts; /* the first ones are partly of the time before */
        place->has_counts = true;
        return has_counts || !trace->part->from_ns;
    }
    case EV_END:
        place->has_ended = true;
        return true;
    default:
        return true;
    }
}

static void forget(struct trace *trace)
{
    struct trace_part *part = trace->part;
    for (uint32_t loc = 0; part->places && loc < trace->n_locations; loc++) {
        vec_release(&part->places[loc].open);
        vec_release(&part->places[loc].sends);
    }
    for (uint32_t rank = 0; part->requests && rank < trace->n_ranks; rank++) {
        vec_release(&part->requests[rank].posted);
        map_release(&part->requests[rank].receives);
        map_release(&part->requests[rank].left_out);
    }
    free(part->places);
    free(part->requests);
    part->places = NULL;
    part->requests = NULL;
    map_release(&part->n_skipped);
    part->ready.n = part->next = 0;
    part->has_begun = part->is_over = false;
    part->held = NULL;
}

int part_rewind(struct trace *trace)
{
    struct trace_part *part = trace->part;
    forget(trace);
    part->places = calloc(trace->n_locations + 1, sizeof *part->places);
    part->requests = calloc(trace->n_ranks + 1, sizeof *part->requests);
    if (!part->places || !part->requests)
        err_out_of_memory(trace->n_locations * sizeof *part->places);
    return trace->source->rewind(trace);
}

const struct event *part_next(struct trace *trace)
{
    struct trace_part *part = trace->part;
    for (;;) {
        if (part->next < part->ready.n)
            return &part->ready.at[part->next++];
        const struct event *event = part->held;
        part->held = NULL;
        if (part->is_over)
            return NULL;
        if (!event)
            event = trace->source->next(trace);
        if ((!event || event->time_ns >= part->from_ns) && !part->has_begun) {
            begin(trace);
            part->held = event;
        } else if (!event)
            return NULL;
        else if (event->time_ns < part->from_ns)
            follow(trace, event);
        else if (event->time_ns > part->until_ns) {
            part->is_over = true;
            for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
                struct place *place = &part->places[loc];
                for (size_t i = place->open.n; i-- > 0;)
                    add_ready(part, plain_event(EV_LEAVE, loc, place->open.at[i].region), part->until_ns);
                if (!place->has_ended)
                    add_ready(part, plain_event(EV_END, loc, TRACE_NONE), part->until_ns);
            }
        } else if (is_of_part(trace, event))
            return event;
    }
}

static int set_part(struct trace *trace, uint64_t from_ns, uint64_t until_ns)
{
    if (trace->part)
        part_close(trace);
    struct trace_part *part = calloc(1, sizeof *part);
    if (!part)
        err_out_of_memory(sizeof *part);
    *part = (struct trace_part){.from_ns = from_ns, .until_ns = until_ns};
    trace->part = part;
    if (until_ns < trace->end_ns)
        trace->end_ns = until_ns;
    if (from_ns > trace->start_ns)
        trace->start_ns = from_ns;
    for (uint32_t i = 0; i < trace->n_before; i++) {
        const struct trace_before *before = &trace->before[i];
        uint32_t space = 2 * before->comm + before->is_non_blocking;
        *map_put(&part->n_before, key_pair(space, before->rank), NULL) = before->n;
        uint64_t *most = map_put(&part->most_before, space, NULL);
        *most = before->n > *most ? before->n : *most;
    }
    return from_ns ? count_collectives(trace) : 0;
}

int trace_set_part(struct trace *trace, uint64_t from_ns, uint64_t until_ns)
{
    trace_note(trace, "Only the part from %.3f s to %.3f s of the run's %.3f s is looked at.", (double)from_ns / 1e9,
               (double)(until_ns < trace->end_ns ? until_ns : trace->end_ns) / 1e9, (double)trace->end_ns / 1e9);
    return set_part(trace, from_ns > trace->start_ns ? from_ns : trace->start_ns, until_ns);
}

size_t part_windows(struct trace *trace, struct trace_window **windows)
{
    VEC(struct trace_window) found = {0};
    const struct event *event;
    if (trace->source->rewind(trace) == 0)
        while ((event = trace->source->next(trace))) {
            if (event->kind != EV_CONTROL || !event->request)
                continue;
            while (found.n < event->request)
                *vec_push(&found) = (struct trace_window){.begin_ns = found.n == 1 ? 0 : UINT64_MAX};
            struct trace_window *window = &found.at[event->request - 1];
            if (event->flags && event->time_ns < window->begin_ns)
                window->begin_ns = event->time_ns;
            if (!event->flags && event->time_ns > window->end_ns)
                window->end_ns = event->time_ns;
        }
    *windows = found.at;
    return found.n;
}

int part_keep(struct trace *trace, uint64_t from_ns)
{
    return set_part(trace, from_ns, UINT64_MAX);
}

void part_close(struct trace *trace)
{
    forget(trace);
    map_release(&trace->part->n_before);
    map_release(&trace->part->most_before);
    vec_release(&trace->part->ready);
    free(trace->part);
    trace->part = NULL;
}
