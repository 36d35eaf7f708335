/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/reader.h"
#include "analyze/constants/constants.h"
#include "analyze/waits/reading.h"
#include "analyze/waits/call_classes.h"
#include <string.h>

void reader_begin(struct reader *reader)
{
    const struct trace *trace = reader->trace;
    reader->readings = memory_lines(trace->n_locations + 1, sizeof *reader->readings);
    reader->last_post_ns = memory_lines(trace->n_ranks + 1, sizeof *reader->last_post_ns);
    progress_begin(&reader->progress, reader->replay->links, trace);
    operations_begin(&reader->operations, trace->n_ranks);
    fetching_begin(&reader->fetching, trace->n_locations);
}

void reader_release(struct reader *reader)
{
    for (uint32_t i = 0; reader->readings && i < reader->trace->n_locations; i++) {
        vec_release(&reader->readings[i].completions);
        vec_release(&reader->readings[i].sent);
        vec_release(&reader->readings[i].buffered);
        vec_release(&reader->readings[i].pending);
        vec_release(&reader->readings[i].posts);
        vec_release(&reader->readings[i].worked);
        map_release(&reader->readings[i].requests);
    }
    vec_free(reader->readings);
    vec_free(reader->last_post_ns);
    vec_release(&reader->open_calls);
    vec_release(&reader->last_stretches);
    absences_release(&reader->absences);
    slab_release(&reader->requests);
    progress_release(&reader->progress);
    operations_release(&reader->operations);
    fetching_release(&reader->fetching);
}

static void add_terms(struct sparse *to, const struct term *terms, uint32_t n)
{
    if (n)
        memcpy(sparse_extend(to, n), terms, n * sizeof *terms);
}

/* Others may go on by what the event told. */
static inline void go_on(struct reader *reader)
{
    if (reader->replay->links->awake.n || replay_is_full(reader->replay))
        replay_run(reader->replay);
}

struct call *reader_call(struct reader *reader, const struct call_begin *begin)
{
    struct reading *reading = &reader->readings[begin->lane];
    struct call *call = reading->call = replay_call(reader->replay);
    call->enter_ns = begin->time_ns;
    call->site = begin->site;
    call->class = reader->trace->regions[begin->region].class;
    call->is_off = begin->is_off;
    reading->region = begin->region;
    return call;
}

void reader_enter(struct reader *reader, uint32_t lane)
{
    uint32_t rank = reading_rank(reader, lane);
    struct reading *reading = &reader->readings[lane];
    const struct call *call = reading->call;
    reading->has_progress = reading->has_polls = reading->has_called_back = reading->calls_back = false;
    reading->is_open_for_known = false;
    messages_give_up(reader->replay->messages, rank, call->enter_ns);
    if (call->class == WW_RECV || call->class == WW_SENDRECV || call->class == WW_PROBE || call->class == WW_WAIT)
        reader->last_post_ns[rank] = call->enter_ns;
    reading_passive_begin(reader, lane);
    go_on(reader);
}

/* A rank that takes part in an operation and runs a function of the program for it is outside MPI meanwhile. */
void reader_call_back(struct reader *reader, uint32_t at, uint64_t now_ns)
{
    struct reading *reading = &reader->readings[at];
    uint32_t rank = reading_rank(reader, at);
    reading->calls_back = reading->call;
    if (!reading->call || reading->call->class == WW_LOCAL)
        return;
    if (!reading->has_called_back)
        progress_begun(&reader->progress, rank);
    reading->has_called_back = reader->has_callbacks = true;
    progress_leave(&reader->progress, rank, now_ns);
    go_on(reader);
}

/* Its doing is time of the program inside the call. A rank that needs this process for a call of its own waits for its
 * return, or does nothing meanwhile that is its own. */
void reader_return(struct reader *reader, uint32_t at, uint64_t now_ns, const struct stretch_told *stretch)
{
    struct reading *reading = &reader->readings[at];
    uint32_t rank = reading_rank(reader, at);
    if (!reading->call)
        return;
    struct callback *callback = vec_push(&reading->call->callbacks);
    struct polling_part *did = &callback->did;
    reading->calls_back = false;
    *callback = (struct callback){
        .did = {.from_ns = stretch->begin_ns, .to_ns = now_ns, .spent = stretch->spent, .is_stretch = true}};
    add_terms(&did->atoms, stretch->atoms, stretch->n_atoms);
    add_terms(&did->counts, stretch->counts, stretch->n_counts);
    if (reading->has_called_back && progress_enter(&reader->progress, rank, now_ns)) {
        callback->back = point_make(reader->replay->links, at, rank, now_ns);
        progress_came(&reader->progress, rank, callback->back);
    }
    const struct term *most = NULL;
    for (size_t i = 0; i < did->atoms.n; i++)
        most = !most || did->atoms.at[i].ns > most->ns ? &did->atoms.at[i] : most;
    if (most)
        absences_add_over(&reader->absences, (struct absence){.from_ns = did->from_ns,
                                                              .to_ns = now_ns,
                                                              .call_ns = reading->call->enter_ns,
                                                              .lane = at,
                                                              .rank = rank,
                                                              .site = reading->call->site,
                                                              .atom = 1 + key_atom(most->key)});
    go_on(reader);
}

/* The calls that are being read, or have been and wait to be replayed, are all that anybody asks about; and polls, as
 * long as it is not known what for. Some never find anything: where there is too much to keep, that is left out. */
static void forget_absences(struct reader *reader, uint64_t now_ns)
{
    enum { KEPT_MOST = 1 << 16 };
    uint64_t oldest_ns = now_ns;
    for (uint32_t i = 0; i < reader->trace->n_locations; i++) {
        const struct queue_of_calls *lane = &reader->replay->lanes[i];
        const struct call *call = lane->first ? lane->first : reader->readings[i].call;
        bool polls = lane->polling.mark && reader->absences.over.n < KEPT_MOST;
        uint64_t needed_ns = polls ? lane->polling.since_ns : call ? call->enter_ns : now_ns;
        oldest_ns = needed_ns < oldest_ns ? needed_ns : oldest_ns;
    }
    absences_forget(&reader->absences, oldest_ns);
}

/* Polls belong together as long as no time between two of them is longer than all before, unless it is a nap. */
static void reading_look(struct reading *reading, const struct call *call)
{
    uint64_t looked_ns = reading->looks_until_ns - reading->looks_since_ns;
    bool goes_on =
        reading->polls_since_ns && (call->is_after_nap || call->enter_ns - reading->looks_until_ns <= looked_ns);
    if (!goes_on)
        reading->looks_since_ns = call->enter_ns;
    reading->looks_until_ns = call->leave_ns;
}

static void reading_end(struct reader *reader, uint32_t at, uint64_t leave_ns)
{
    struct reading *reading = &reader->readings[at];
    struct call *call = reading->call;
    call->leave_ns = leave_ns;
    bool ends_polls = reading->polls_since_ns && class_may_follow_polls(call->class);
    call->since_ns = ends_polls ? reading->polls_since_ns : call->enter_ns;
    call->idle = (struct idle){&reader->absences, at};
    reading_complete(reader, at);
    reading_check_finalize(reader, at);
    reading_passive_end(reader, at);
    reading_check_sends(reader, at);
    if (reading->has_called_back)
        progress_completed(&reader->progress, reading_rank(reader, at));
    fetching_call(&reader->fetching, at, call->class, call->enter_ns, leave_ns);
    /* Completing requests that are none finds nothing either, but does not begin a wait. */
    bool may_poll = call->class == WW_TEST || call->class == WW_IPROBE || call->class == WW_PROBE ||
                    (call->class == WW_WAIT && reading->polls_since_ns);
    call->is_polling =
        !call->needs.n && !reading->has_progress && call->class != WW_LOCAL && (reading->has_polls || may_poll);
    if (call->is_polling)
        reading_look(reading, call);
    if (call->is_polling && !reading->polls_since_ns)
        reading->polls_since_ns = call->enter_ns;
    else if (!call->is_polling && call->class != WW_LOCAL)
        reading->polls_since_ns = 0;
    reading->call = NULL;
    reader->n_calls++;
    replay_queue(reader->replay, at, call);
    if (absences_are_many(&reader->absences))
        forget_absences(reader, leave_ns);
}

/* It has been away from its polls for longer than it looked. The end of a nap is not recorded, nor often its begin, so
 * that nothing else tells naps from work. */
static bool has_left_polls(const struct reading *reading, uint64_t end_ns)
{
    uint64_t away_ns = end_ns - reading->looks_until_ns;
    return away_ns > SAME_MOMENT_NS && away_ns > reading->looks_until_ns - reading->looks_since_ns;
}

/* It was ended from outside while it polled: that is a call that never came back as well, though each poll did. Returns
 * whether it was. */
static bool reading_break_off_polls(struct reader *reader, const struct event *end, const struct stretch_told *stretch)
{
    const struct reading *reading = &reader->readings[end->loc];
    if (!reader->trace->is_ours || !reading->polls_since_ns)
        return false;
    enum ww_class class = reader->trace->regions[reading->region].class;
    bool was_ended = end->flags == WW_END_NONE || end->flags == WW_END_SIGNAL;
    if ((class != WW_TEST && class != WW_IPROBE) || !was_ended || has_left_polls(reading, end->time_ns))
        return false;
    *vec_push(&reader->open_calls) = (struct open_call){.rank = reading_rank(reader, end->loc),
                                                        .lane = end->loc,
                                                        .site = stretch->from,
                                                        .region = reading->region,
                                                        .enter_ns = reading->looks_since_ns,
                                                        .end_ns = end->time_ns,
                                                        .class = class,
                                                        .comm = TRACE_NONE,
                                                        .peer = TRACE_NONE};
    return true;
}

/* The trace ends inside a call: what it had posted counts, what it waited for never came. */
static void reading_break_off(struct reader *reader, const struct event *end)
{
    uint32_t at = end->loc, rank = reading_rank(reader, at);
    struct reading *reading = &reader->readings[at];
    /* By a record of its own, else by the end itself. */
    const struct open_for open_for =
        reading->is_open_for_known ? reading->open_for : (struct open_for){end->comm, end->peer, end->tag};
    reading->call->is_open = true;
    *vec_push(&reader->open_calls) =
        (struct open_call){.rank = rank,
                           .site = reading->call->site,
                           .region = reading->region,
                           .lane = at,
                           .enter_ns = reading->call->enter_ns,
                           .end_ns = end->time_ns,
                           .class = reading->call->class,
                           .is_outside = reading->call->is_outside,
                           .comm = open_for.comm,
                           .peer = messages_peer(reader->trace, open_for.comm, rank, open_for.peer),
                           .tag = open_for.tag};
    reading_end(reader, at, end->time_ns);
}

/* The stretch after the last call: an empty call at its end keeps the books. */
static void reading_end_stretch(struct reader *reader, const struct event *end, const struct stretch_told *stretch)
{
    struct call *call = replay_call(reader->replay);
    call->ends_polls = reading_break_off_polls(reader, end, stretch);
    call->spent = stretch->spent;
    add_terms(&call->before, stretch->atoms, stretch->n_atoms);
    call->enter_ns = call->leave_ns = end->time_ns;
    call->site = call->ends_polls ? stretch->from : stretch->to;
    uint32_t rank = reading_rank(reader, end->loc);
    if (stretch->last_step || reader->main_lanes[rank] == end->loc)
        *vec_push(&reader->last_stretches) = (struct last_stretch){.rank = rank,
                                                                   .from = stretch->from,
                                                                   .step = stretch->last_step - 1,
                                                                   .begin_ns = stretch->begin_ns,
                                                                   .end_ns = stretch->end_ns,
                                                                   .share = stretch->last_share};
    replay_queue(reader->replay, end->loc, call);
}

void reader_end(struct reader *reader, const struct event *end, const struct stretch_told *stretch)
{
    uint32_t rank = reading_rank(reader, end->loc);
    absences_end(&reader->absences, end->loc, end->time_ns);
    if (reader->readings[end->loc].call) {
        reading_break_off(reader, end);
    } else if (stretch) {
        reading_end_stretch(reader, end, stretch);
    }
    if (rank < reader->trace->n_ranks && reader->main_lanes[rank] == end->loc)
        gatherings_end(reader->replay->gatherings, rank);
    go_on(reader);
}

void reader_fetch(const struct reader *reader, uint32_t at)
{
    const struct reading *reading = &reader->readings[at];
    memory_fetch(reading, sizeof *reading);
    memory_fetch(&reader->replay->lanes[at], sizeof *reader->replay->lanes);
}

void reader_fetch_call(const struct reader *reader, uint32_t at)
{
    const struct reading *reading = &reader->readings[at];
    if (reading->call)
        memory_fetch(reading->call, sizeof *reading->call);
    if (reading->requests.n)
        memory_fetch(reading->requests.slots, 8 * sizeof *reading->requests.slots);
}

/* Off the CPU inside an MPI call, although runnable. */
static void absence_begin(struct reader *reader, const struct event *event)
{
    const struct reading *reading = &reader->readings[event->loc];
    absences_end(&reader->absences, event->loc, 0);
    if (reading->call && !reading->calls_back && (event->flags & WW_SW_PREEMPTED))
        *vec_push(&reader->absences.under_way) = (struct absence){.from_ns = event->time_ns,
                                                                  .to_ns = UINT64_MAX,
                                                                  .call_ns = reading->call->enter_ns,
                                                                  .lane = event->loc,
                                                                  .rank = reading_rank(reader, event->loc),
                                                                  .site = reading->call->site};
}

void reader_record(struct reader *reader, const struct event *event)
{
    const struct reading *reading = &reader->readings[event->loc];
    if (event->kind == EV_OFF)
        absence_begin(reader, event);
    else if (reading->call)
        reading_record(reader, event);
    else if (event->kind == EV_PENDING)
        reading_pending(reader, event);
    else if (event->kind == EV_CONTROL)
        messages_begin_window(reader->replay->messages, reading_rank(reader, event->loc), event);
    go_on(reader);
}

void reader_leave(struct reader *reader, uint32_t lane, uint64_t now_ns)
{
    reading_end(reader, lane, now_ns);
    go_on(reader);
}

void reader_is_back(struct reader *reader, uint32_t lane)
{
    absences_end(&reader->absences, lane, 0);
}

void reader_finish(struct reader *reader)
{
    replay_finish(reader->replay);
}
