/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/reader.h"
#include "analyze/waits/reading.h"

void reader_begin(struct reader *reader)
{
    const struct trace *trace = reader->trace;
    size_t cap = 0, rank_cap = 0;
    vec_grow((void **)&reader->readings, &cap, trace->n_locations + 1, sizeof *reader->readings);
    memset(reader->readings, 0, (trace->n_locations + 1) * sizeof *reader->readings);
    vec_grow((void **)&reader->last_post_ns, &rank_cap, trace->n_ranks + 1, sizeof *reader->last_post_ns);
    memset(reader->last_post_ns, 0, (trace->n_ranks + 1) * sizeof *reader->last_post_ns);
    progress_begin(&reader->progress, reader->replay->links, trace->n_ranks);
    operations_begin(&reader->operations, trace->n_ranks);
    fetching_begin(&reader->fetching, trace->n_locations);
}

void reader_release(struct reader *reader)
{
    for (uint32_t i = 0; reader->readings && i < reader->trace->n_locations; i++) {
        vec_release(&reader->readings[i].completions);
        vec_release(&reader->readings[i].sent);
        vec_release(&reader->readings[i].posts);
        vec_release(&reader->readings[i].worked);
        map_release(&reader->readings[i].requests);
    }
    vec_free(reader->readings);
    vec_free(reader->last_post_ns);
    vec_release(&reader->open_calls);
    slab_release(&reader->requests);
    progress_release(&reader->progress);
    operations_release(&reader->operations);
    fetching_release(&reader->fetching);
}

static bool class_polls(enum ww_class class)
{
    return class == WW_TEST || class == WW_IPROBE || class == WW_PROBE;
}

static void reading_begin(struct reader *reader, uint32_t at)
{
    struct lane *lane = &reader->lanes->at[at];
    struct reading *reading = &reader->readings[at];
    struct call *call = reading->call = replay_call(reader->replay);
    call->enter_ns = lane->enter_ns;
    call->site = lane->site;
    call->class = reader->trace->regions[lane->region].class;
    call->is_off = lane->is_off;
    call->spent = pools_spread(reader->pools, lane->rank, &lane->stretch, &call->before);
    for (size_t i = 0; i < lane->stretch.counts.n; i++)
        sparse_add(&call->counts, atom_key(lane->rank, (uint32_t)lane->stretch.counts.at[i].key),
                   lane->stretch.counts.at[i].ns);
    reading->point = NULL;
    reading->has_progress = reading->has_polls = false;
    reading->open_comm = reading->open_peer = TRACE_NONE;
    reading->open_tag = 0;
    messages_give_up(reader->replay->messages, lane->rank, lane->enter_ns);
    if (call->class == WW_RECV || call->class == WW_SENDRECV || call->class == WW_PROBE || call->class == WW_WAIT)
        reader->last_post_ns[lane->rank] = lane->enter_ns;
    reading_passive_begin(reader, at);
}

static void reading_end(struct reader *reader, uint32_t at, uint64_t leave_ns)
{
    struct lane *lane = &reader->lanes->at[at];
    struct reading *reading = &reader->readings[at];
    struct call *call = reading->call;
    call->leave_ns = leave_ns;
    if (lane->idle.n)
        call->idle = lane->idle;
    reading_complete(reader, at);
    reading_check_finalize(reader, at);
    reading_passive_end(reader, at);
    fetching_call(&reader->fetching, at, call->class, call->enter_ns, leave_ns);
    call->is_polling = !call->needs.n && !reading->has_progress && call->class != WW_LOCAL &&
                       (reading->has_polls || class_polls(call->class));
    if (call->is_polling && !reading->polls_since_ns)
        reading->polls_since_ns = call->enter_ns;
    else if (!call->is_polling && call->class != WW_LOCAL)
        reading->polls_since_ns = 0;
    reading_check_sends(reader, reading);
    reading->call = NULL;
    reader->n_calls++;
    replay_queue(reader->replay, at, call);
}

/* The trace ends inside a call: what it had posted counts, what it waited for never came. */
static void reading_break_off(struct reader *reader, const struct event *end)
{
    uint32_t at = end->loc;
    struct lane *lane = &reader->lanes->at[at];
    struct reading *reading = &reader->readings[at];
    bool is_told = reading->open_comm != TRACE_NONE; /* by a record of its own; else by the end itself */
    uint32_t comm = is_told ? reading->open_comm : end->comm, peer = is_told ? reading->open_peer : end->peer;
    reading->call->is_open = true;
    *vec_push(&reader->open_calls) = (struct open_call){.rank = lane->rank,
                                                        .site = lane->site,
                                                        .enter_ns = lane->enter_ns,
                                                        .class = reading->call->class,
                                                        .comm = comm,
                                                        .peer = messages_peer(reader->trace, comm, lane->rank, peer),
                                                        .tag = is_told ? reading->open_tag : end->tag};
    reading_end(reader, at, end->time_ns);
}

static void reader_end_location(struct reader *reader, const struct event *event)
{
    struct lane *lane = &reader->lanes->at[event->loc];
    if (reader->readings[event->loc].call) {
        reading_break_off(reader, event);
    } else if (!lane->is_worker) {
        /* The stretch after the last call: an empty call at its end keeps the books. */
        struct call *call = replay_call(reader->replay);
        call->spent = pools_spread(reader->pools, lane->rank, &lane->stretch, &call->before);
        call->enter_ns = call->leave_ns = event->time_ns;
        call->site = lane->stretch.to;
        replay_queue(reader->replay, event->loc, call);
    }
    if (lane->rank < reader->trace->n_ranks && reader->lanes->rank_lane[lane->rank] == event->loc)
        gatherings_end(reader->replay->gatherings, lane->rank);
}

void reader_feed(struct reader *reader, const struct event *event)
{
    reader->n_events++;
    enum lane_news news = lanes_feed(reader->lanes, event);
    if (news == LANE_ENTERED)
        reading_begin(reader, event->loc);
    else if (news == LANE_LEFT)
        reading_end(reader, event->loc, event->time_ns);
    else if (news == LANE_ENDED)
        reader_end_location(reader, event);
    else if (reader->readings[event->loc].call)
        reading_record(reader, event);
    if (reader->replay->links->awake.n)
        replay_run(reader->replay);
}

/* Locations without an end record end with the trace. */
void reader_finish(struct reader *reader)
{
    for (uint32_t lane = 0; lane < reader->trace->n_locations; lane++) {
        struct event end = {.kind = EV_END,
                            .loc = lane,
                            .time_ns = reader->trace->locations[lane].end_ns,
                            .comm = TRACE_NONE,
                            .peer = TRACE_NONE};
        if (!reader->lanes->at[lane].is_ended && end.time_ns)
            if (lanes_feed(reader->lanes, &end) == LANE_ENDED)
                reader_end_location(reader, &end);
    }
    replay_finish(reader->replay);
}
