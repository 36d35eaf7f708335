/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/reader.h"
#include "analyze/constants/constants.h"
#include "analyze/waits/reading.h"
#include "analyze/waits/waits.h"
#include <stdlib.h>
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
    if (reader->replay->links->awake.n)
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

/* Who takes part in an operation and runs a function of the program for it is outside MPI meanwhile. */
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

/* What it did is time of the program inside the call. Whoever needs this process for a call of its own waits for its
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

/* What is being read, or has been and waits to be replayed, is all that anybody asks about; and polls, as long as it is
 * not known what for. Some never find anything: where there is too much to keep, that is left out. */
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

static void reading_end(struct reader *reader, uint32_t at, uint64_t leave_ns)
{
    struct reading *reading = &reader->readings[at];
    struct call *call = reading->call;
    call->leave_ns = leave_ns;
    bool ends_polls = reading->polls_since_ns && waits_may_follow_polls(call->class);
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

static void read_pending(struct reader *reader, const struct event *event)
{
    *vec_push(&reader->readings[event->loc].pending) = (struct pending){
        .comm = event->comm,
        .peer = messages_peer(reader->trace, event->comm, reading_rank(reader, event->loc), event->peer),
        .tag = event->tag,
        .is_receive = event->flags};
}

/* It was ended from outside while it polled: that is a call that never came back as well, though each poll did. */
static void reading_break_off_polls(struct reader *reader, const struct event *end, const struct stretch_told *stretch)
{
    const struct reading *reading = &reader->readings[end->loc];
    if (!reader->trace->is_ours || !reading->polls_since_ns)
        return;
    enum ww_class class = reader->trace->regions[reading->region].class;
    bool was_ended = end->flags == WW_END_NONE || end->flags == WW_END_SIGNAL;
    if ((class != WW_TEST && class != WW_IPROBE) || !was_ended || end->time_ns > stretch->begin_ns + SAME_MOMENT_NS)
        return;
    *vec_push(&reader->open_calls) = (struct open_call){.rank = reading_rank(reader, end->loc),
                                                        .lane = end->loc,
                                                        .site = stretch->from,
                                                        .region = reading->region,
                                                        .enter_ns = reading->polls_since_ns,
                                                        .end_ns = end->time_ns,
                                                        .class = class,
                                                        .comm = TRACE_NONE,
                                                        .peer = TRACE_NONE};
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
                           .comm = open_for.comm,
                           .peer = messages_peer(reader->trace, open_for.comm, rank, open_for.peer),
                           .tag = open_for.tag};
    reading_end(reader, at, end->time_ns);
}

/* The stretch after the last call: an empty call at its end keeps the books. */
static void reading_end_stretch(struct reader *reader, const struct event *end, const struct stretch_told *stretch)
{
    struct call *call = replay_call(reader->replay);
    call->spent = stretch->spent;
    add_terms(&call->before, stretch->atoms, stretch->n_atoms);
    call->enter_ns = call->leave_ns = end->time_ns;
    call->site = stretch->to;
    if (stretch->last_step)
        *vec_push(&reader->last_stretches) = (struct last_stretch){.rank = reading_rank(reader, end->loc),
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
        reading_break_off_polls(reader, end, stretch);
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
        read_pending(reader, event);
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

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE };

struct request {
    enum request_kind kind;
    uint64_t number;         /* order of posting */
    struct point *point;     /* held: receive or collective */
    uint16_t coll;           /* WW_COLL_NONE: its completion tells */
    struct message *message; /* held: send */
};

struct point *reading_point(struct reader *reader, uint32_t lane)
{
    struct call *call = reader->readings[lane].call;
    if (!call->point)
        call->point = point_make(reader->replay->links, lane, reading_rank(reader, lane), call->enter_ns);
    return call->point;
}

struct need *reading_need(struct reading *reading, enum need_kind kind)
{
    struct need *need = vec_push(&reading->call->needs);
    need->kind = kind;
    return need;
}

static void request_end(struct reader *reader, uint32_t lane, struct request *request)
{
    progress_completed(&reader->progress, reading_rank(reader, lane));
    point_drop(reader->replay->links, request->point);
    message_drop(reader->replay->messages, request->message);
    slab_give(&reader->requests, request);
}

/* The caller adds what it holds. A handle that is still in use was completed unseen. */
static struct request *request_put(struct reader *reader, uint32_t lane, uint64_t handle, enum request_kind kind)
{
    bool is_new;
    uint64_t *slot = map_put(&reader->readings[lane].requests, handle, &is_new);
    if (!is_new)
        request_end(reader, lane, (struct request *)(uintptr_t)*slot);
    progress_begun(&reader->progress, reading_rank(reader, lane));
    struct request *made = slab_new(&reader->requests, struct request);
    made->kind = kind;
    made->number = reader->n_requests++;
    *slot = (uint64_t)(uintptr_t)made;
    return made;
}

/* A request may be completed by another thread than the one that started it. Owned by the caller. */
static struct request *request_take(struct reader *reader, uint32_t lane, uint64_t handle, enum request_kind kind)
{
    uint32_t rank = reading_rank(reader, lane);
    for (uint32_t i = 0, at = lane; i <= reader->trace->n_locations; at = i++) {
        uint64_t *slot = reading_rank(reader, at) == rank ? map_get(&reader->readings[at].requests, handle) : NULL;
        struct request *request = slot ? (struct request *)(uintptr_t)*slot : NULL;
        if (request && request->kind == kind) {
            map_remove(&reader->readings[at].requests, handle);
            return request;
        }
    }
    return NULL;
}

const struct message *reading_oldest_send(const struct reading *reading)
{
    const struct request *oldest = NULL;
    for (size_t i = 0; reading->requests.n && i <= reading->requests.cap; i++) {
        const struct map_slot *slot = &reading->requests.slots[i];
        const struct request *request = slot->key ? (const struct request *)(uintptr_t)slot->value : NULL;
        bool is_sending = request && request->kind == REQUEST_SEND && !request->message->receive;
        if (is_sending && (!oldest || request->number < oldest->number))
            oldest = request;
    }
    return oldest ? oldest->message : NULL;
}

const struct message *reading_oldest_buffered(const struct reading *reading)
{
    for (size_t i = 0; i < reading->buffered.n; i++)
        if (!reading->buffered.at[i]->receive)
            return reading->buffered.at[i];
    return NULL;
}

static bool is_on_buffer(const struct reader *reader, uint32_t lane)
{
    return reader->trace->regions[reader->readings[lane].region].is_on_buffer;
}

/* Those that have been received by now are not in the buffer any more. */
static void forget_received(struct reader *reader, struct reading *reading)
{
    size_t n_left = 0;
    for (size_t i = 0; i < reading->buffered.n; i++) {
        struct message *message = reading->buffered.at[i];
        if (message->receive && message->done_ns < reading->call->enter_ns)
            message_drop(reader->replay->messages, message);
        else
            reading->buffered.at[n_left++] = message;
    }
    reading->buffered.n = n_left;
}

static void keep_buffered(struct reader *reader, struct reading *reading, struct message *message)
{
    enum { MANY = 64 };
    size_t n = reading->buffered.n;
    if (n >= MANY && !(n & (n - 1))) /* now and then, and not each time where nobody receives */
        forget_received(reader, reading);
    *vec_push(&reading->buffered) = message;
}

static void read_send(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct reading *reading = &reader->readings[lane];
    struct message *message = messages_send(reader->replay->messages, event, reading_point(reader, lane));
    if (!message)
        return;
    if (event->kind == EV_ISEND) {
        request_put(reader, lane, event->request, REQUEST_SEND)->message = message;
        return;
    }
    message->is_sent = true;
    if (is_on_buffer(reader, lane))
        keep_buffered(reader, reading, message);
    else
        *vec_push(&reading->sent) = message;
}

static void read_send_done(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct request *request = request_take(reader, lane, event->request, REQUEST_SEND);
    reader->readings[lane].has_progress = true;
    if (!request)
        return;
    request->message->is_sent = true;
    comeback_set(reader->replay->links, &request->message->sender_came,
                 progress_comeback(&reader->progress, reading_rank(reader, lane)));
    *vec_push(&reader->readings[lane].sent) = message_hold(request->message);
    request_end(reader, lane, request);
}

static void read_post(struct reader *reader, uint32_t lane, const struct event *event, enum request_kind kind)
{
    struct point *point = point_hold(reading_point(reader, lane));
    if (kind == REQUEST_RECEIVE)
        reader->last_post_ns[point->rank] = point->time_ns;
    struct request *request = request_put(reader, lane, event->request, kind);
    request->point = point;
    request->coll = event->coll;
}

static void read_completion(struct reader *reader, uint32_t lane, const struct event *event, enum request_kind kind)
{
    struct request *request = request_take(reader, lane, event->request, kind);
    struct completion *completion = vec_push(&reader->readings[lane].completions);
    *completion = (struct completion){.event = *event, .number = UINT64_MAX};
    reader->readings[lane].has_progress = true;
    if (!request)
        return;
    completion->number = request->number;
    if (request->coll != WW_COLL_NONE)
        completion->event.coll = request->coll;
    completion->point = point_hold(request->point);
    request_end(reader, lane, request);
}

static void read_cancelled(struct reader *reader, uint32_t lane, const struct event *event)
{
    reader->readings[lane].has_progress = true;
    for (int kind = REQUEST_SEND; kind <= REQUEST_COLLECTIVE; kind++) {
        struct request *request = request_take(reader, lane, event->request, (enum request_kind)kind);
        if (!request)
            continue;
        if (request->message)
            messages_cancel(reader->replay->messages, request->message);
        request_end(reader, lane, request);
        return;
    }
}

/* The message is there, whoever is to receive it: what was waited for is over. */
static void read_probed(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct message *message = messages_sent(reader->replay->messages, event, reading_rank(reader, lane));
    if (!message)
        return;
    reader->readings[lane].has_progress = true;
    reading_need(&reader->readings[lane], NEED_SEND)->message = message;
}

struct gathering *reading_join(struct reader *reader, uint32_t lane, struct gather_call operation, struct point *point)
{
    uint32_t index = TRACE_NONE;
    struct gathering *gathering = gatherings_join(reader->replay->gatherings, &operation, point, &index);
    if (!gathering)
        return NULL;
    struct need *need = reading_need(&reader->readings[lane], NEED_GATHERING);
    need->gathering = gathering;
    need->index = index;
    if (operation.coll == WW_COLL_NEIGHBOR)
        need->neighbors = gatherings_neighbors(reader->replay->gatherings, operation.comm, point->rank);
    return gathering;
}

static struct gather_call coll_of_event(const struct reader *reader, const struct event *event, enum ww_class class,
                                        enum gather_space space)
{
    return (struct gather_call){.comm = event->comm < reader->trace->n_comms ? event->comm : TRACE_NONE,
                                .space = space,
                                .class = class,
                                .coll = (enum ww_coll)event->coll,
                                .root = event->peer};
}

static void read_collective(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct call *call = reader->readings[lane].call;
    struct gather_call operation = coll_of_event(reader, event, call->class, GATHER_BLOCKING);
    struct gathering *gathering = reading_join(reader, lane, operation, reading_point(reader, lane));
    call->leave_ns = event->time_ns;
    call->idle = (struct idle){&reader->absences, lane};
    if (reader->has_callbacks)
        reading_need_members(reader, lane, gathering);
}

/* Reading and writing of all members together. Nothing counts these operations, so that the first of a part of a run
 * may be another one on each member. */
static void read_file_operation(struct reader *reader, uint32_t lane, const struct event *event)
{
    const struct trace *trace = reader->trace;
    struct gather_call operation = {
        .comm = event->comm, .space = GATHER_FILE, .class = WW_IO_COLLECTIVE, .coll = WW_COLL_NONE, .root = TRACE_NONE};
    if (event->comm < trace->n_comms && !trace->n_before && !trace->part)
        reading_join(reader, lane, operation, reading_point(reader, lane));
}

void reading_record(struct reader *reader, const struct event *event)
{
    uint32_t lane = event->loc;
    struct reading *reading = &reader->readings[lane];
    switch (event->kind) {
    case EV_SEND:
    case EV_ISEND:
        read_send(reader, lane, event);
        break;
    case EV_ISEND_DONE:
        read_send_done(reader, lane, event);
        break;
    case EV_RECV:
        *vec_push(&reading->completions) = (struct completion){.event = *event, .number = UINT64_MAX};
        break;
    case EV_IRECV:
        read_post(reader, lane, event, REQUEST_RECEIVE);
        break;
    case EV_IRECV_DONE:
        read_completion(reader, lane, event, REQUEST_RECEIVE);
        break;
    case EV_CANCELLED:
        read_cancelled(reader, lane, event);
        break;
    case EV_COLL_END:
        read_collective(reader, lane, event);
        break;
    case EV_ICOLL:
        read_post(reader, lane, event, REQUEST_COLLECTIVE);
        break;
    case EV_ICOLL_DONE:
        read_completion(reader, lane, event, REQUEST_COLLECTIVE);
        break;
    case EV_IO:
        read_file_operation(reader, lane, event);
        break;
    case EV_PROBED:
        read_probed(reader, lane, event);
        break;
    case EV_UNFINISHED:
        reading->open_for = (struct open_for){event->comm, event->peer, event->tag};
        reading->is_open_for_known = event->comm != TRACE_NONE;
        break;
    case EV_PENDING:
        read_pending(reader, event);
        break;
    case EV_RMA:
        reading_operation(reader, lane, event);
        break;
    case EV_RMA_DONE:
        reading_operation_done(reader, lane, event);
        break;
    case EV_RMA_SYNC:
        reading_rma_sync(reader, lane, event);
        break;
    case EV_ON:
        if (!reading->calls_back)
            absences_end(&reader->absences, lane, event->time_ns);
        break;
    case EV_POLLS:
        reading->has_polls = reading->has_polls || event->bytes;
        reading->call->is_after_nap = !event->bytes;
        reader->n_polls += event->bytes;
        break;
    default:
        break;
    }
}

static int completion_compare(const void *a, const void *b)
{
    const struct completion *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

/* As most of them are. */
static bool is_in_order(const struct reading *reading)
{
    for (size_t i = 1; i < reading->completions.n; i++)
        if (reading->completions.at[i].number < reading->completions.at[i - 1].number)
            return false;
    return true;
}

void reading_complete(struct reader *reader, uint32_t lane)
{
    struct reading *reading = &reader->readings[lane];
    if (!is_in_order(reading))
        qsort(reading->completions.at, reading->completions.n, sizeof *reading->completions.at, completion_compare);
    for (size_t i = 0; i < reading->completions.n; i++) {
        struct completion *completion = &reading->completions.at[i];
        struct point *point = completion->point ? completion->point : reading_point(reader, lane);
        if (completion->event.kind == EV_ICOLL_DONE) {
            struct gather_call operation =
                coll_of_event(reader, &completion->event, WW_ICOLLECTIVE, GATHER_NONBLOCKING);
            reading_need_members(reader, lane, reading_join(reader, lane, operation, point));
        } else {
            struct message *message =
                messages_receive(reader->replay->messages, &completion->event, point, reading_point(reader, lane));
            if (message) {
                reading_need(reading, NEED_SEND)->message = message;
                reading_need_sender(reader, reading, message);
            }
        }
        point_drop(reader->replay->links, completion->point);
    }
    reading->completions.n = 0;
}

static bool call_spans(const struct call *call, const struct point *point)
{
    return point->time_ns > call->since_ns && point->time_ns <= call->leave_ns;
}

/* Could the receive have been posted, or its receiver have come back to MPI, while this send was held up? */
static bool send_may_have_waited(const struct reader *reader, const struct call *call, const struct message *message)
{
    if (call->leave_ns - call->since_ns < RENDEZVOUS_NS)
        return false;
    if (message->receive)
        return call_spans(call, message->receive) || call_spans(call, message->finish);
    return reader->last_post_ns[message->destination] > call->since_ns;
}

/* The program takes its buffer back: the call ends when all that lay there has gone. */
static void take_buffered(struct reading *reading)
{
    for (size_t i = 0; i < reading->buffered.n; i++)
        *vec_push(&reading->sent) = reading->buffered.at[i];
    reading->buffered.n = 0;
}

/* A call that also received something lasted for that, and perhaps for what it sent after it. */
void reading_check_sends(struct reader *reader, uint32_t lane)
{
    struct reading *reading = &reader->readings[lane];
    struct call *call = reading->call;
    if (call->class == WW_WAIT && reading->buffered.n && !call->is_open && is_on_buffer(reader, lane))
        take_buffered(reading);
    bool sends =
        call->class == WW_SEND || call->class == WW_WAIT || call->class == WW_TEST || call->class == WW_SENDRECV;
    bool sends_only = sends && call->class != WW_SENDRECV && !call->needs.n;
    for (size_t i = 0; i < reading->sent.n; i++) {
        struct message *message = reading->sent.at[i];
        if (sends && send_may_have_waited(reader, call, message))
            reading_need(reading, sends_only ? NEED_RECEIVE : NEED_POST)->message = message_hold(message);
        if (sends_only)
            reading_need_receiver(reader, reading, message);
        if (call->leave_ns - call->since_ns >= RENDEZVOUS_NS)
            *vec_push(&call->partners) = message->destination;
        message_drop(reader->replay->messages, message);
    }
    reading->sent.n = 0;
}

/* MPI_Finalize leaves no record of its own. */
void reading_check_finalize(struct reader *reader, uint32_t lane)
{
    if (reader->readings[lane].call->class != WW_FINALIZE)
        return;
    struct gather_call all = {
        .comm = reader->trace->n_comms, .class = WW_FINALIZE, .coll = WW_COLL_BARRIER, .root = TRACE_NONE};
    reading_join(reader, lane, all, reading_point(reader, lane));
}

/*
 * Partners that compute while an operation of theirs is under way. The sender of a large message has begun it and left
 * MPI, or its receiver has posted it and left; a member has started a collective and left. If the MPI library has no
 * thread of its own, the others wait until it comes back, which progress.h tells from the times.
 */

/* Kinds of operations (struct progress_part). */
static const uint64_t kind_message = (uint64_t)2 << 62, kind_collective = (uint64_t)3 << 62;

/* From when the call had nothing else to wait for: since it, or its polls, began, or later for certain. */
static struct progress_part part_under_way(const struct reading *reading, uint64_t certain_ns)
{
    uint64_t since_ns = reading->call->since_ns, from_ns = certain_ns > since_ns ? certain_ns : since_ns;
    return (struct progress_part){
        .enter_ns = from_ns, .leave_ns = reading->call->leave_ns, .idle = &reading->call->idle};
}

/* A damaged archive may lack a rank's main thread. */
static const char *host_of(const struct reader *reader, uint32_t rank)
{
    uint32_t lane = reader->main_lanes[rank];
    const char *host = lane < reader->trace->n_locations ? reader->trace->locations[lane].host : NULL;
    return host ? host : "";
}

enum side { SENDER, RECEIVER };

/* Messages that libraries treat alike: by size, whether they leave the node, and who of the two is waited for. */
static uint64_t message_kind(const struct reader *reader, const struct message *message, enum side side)
{
    uint64_t magnitude = 0;
    while (message->bytes >> magnitude > 1)
        magnitude++;
    bool is_near = !strcmp(host_of(reader, message->source), host_of(reader, message->destination));
    return kind_message | magnitude << 2 | (uint64_t)side << 1 | is_near;
}

/* The partner came back in time to let the call end, or else stayed away; or neither, which tells nothing. */
static bool tells_something(const struct reader *reader, const struct progress_part *part, const struct comeback *came,
                            bool stayed_outside)
{
    return stayed_outside || progress_may_end(&reader->progress, part, came);
}

static void need_comeback(struct reader *reader, struct reading *reading, const struct progress_part *part,
                          struct comeback came)
{
    bool may_end = progress_may_end(&reader->progress, part, &came);
    struct point *point = progress_judge(&reader->progress, part, may_end ? came : (struct comeback){0});
    if (!point)
        return;
    struct need *need = reading_need(reading, NEED_TARGET);
    need->point = point_hold(point);
    need->from_ns = came.left_ns;
}

void reading_need_sender(struct reader *reader, struct reading *reading, const struct message *message)
{
    if (!message->send || message->source == message->destination)
        return;
    struct progress_part part = part_under_way(reading, message->send->time_ns);
    struct comeback came =
        message->is_sent ? message->sender_came : progress_comeback(&reader->progress, message->source);
    bool stayed_outside = !message->is_sent && progress_stayed_outside(&reader->progress, &part, message->source);
    if (!tells_something(reader, &part, &came, stayed_outside))
        return;
    part.kind = message_kind(reader, message, SENDER);
    need_comeback(reader, reading, &part, came);
}

/* The call that the receiver came back with need not be the one that completes the receive. Once it has the message,
 * nobody needs it any more: a sender that notices late had no CPU. */
void reading_need_receiver(struct reader *reader, struct reading *reading, const struct message *message)
{
    if (message->source == message->destination)
        return;
    struct progress_part part = part_under_way(reading, message->receive ? message->receive->time_ns : 0);
    struct comeback came = progress_comeback(&reader->progress, message->destination);
    uint64_t needed_until_ns = message->receive ? message->done_ns : UINT64_MAX;
    bool stayed_outside = !message->receive && progress_stayed_outside(&reader->progress, &part, message->destination);
    if ((came.point && came.point->time_ns > needed_until_ns) || !tells_something(reader, &part, &came, stayed_outside))
        return;
    part.kind = message_kind(reader, message, RECEIVER);
    need_comeback(reader, reading, &part, came);
}

/* A member of a prefix reduction needs those before it. Whether the library makes it wait for those behind it as well
 * is another question, which these answer: members before it go on while the ones behind are away. */
enum others { ALL_OTHERS, THOSE_BEFORE, THOSE_BEHIND };

/* Who of them came back last, to this operation or, if that is not completed, to any. */
static struct comeback last_comeback(const struct reader *reader, const struct gathering *gathering, uint32_t mine,
                                     enum others others, const struct progress_part *part, bool *is_outside)
{
    uint32_t first = others == THOSE_BEHIND ? mine : 0, end = others == THOSE_BEFORE ? mine : gathering->n;
    struct comeback last = gathering->came;
    uint32_t came = last.point ? gathering_member(reader->replay->gatherings, gathering, last.point->rank) : TRACE_NONE;
    if (came < first || came >= end)
        last = (struct comeback){0};
    for (uint32_t i = first; i < end; i++) {
        uint32_t rank = gathering->points[i] ? TRACE_NONE : gather_comm_rank(reader->trace, gathering->comm, i);
        if (rank >= reader->trace->n_ranks)
            continue;
        struct comeback back = progress_comeback(&reader->progress, rank);
        if (back.point && (!last.point || back.point->time_ns > last.point->time_ns))
            last = back;
        *is_outside |= progress_stayed_outside(&reader->progress, part, rank);
    }
    return last;
}

static void need_others(struct reader *reader, uint32_t lane, const struct gathering *gathering, uint32_t mine,
                        enum others others)
{
    struct reading *reading = &reader->readings[lane];
    /* Since the last of the members started that have come so far; of a rooted collective that is too late for some. */
    bool needs_all = waits_need_all(gathering->coll);
    const struct point *start = needs_all && gathering->last != TRACE_NONE ? gathering->points[gathering->last] : NULL;
    struct progress_part part = part_under_way(reading, start ? start->time_ns : 0);
    part.kind = kind_collective | (uint64_t)others << 48 | (uint64_t)gathering->coll << 32 | gathering->comm;
    bool is_outside = false;
    if (!progress_is_long(&reader->progress, &part))
        return;
    struct comeback last = last_comeback(reader, gathering, mine, others, &part, &is_outside);
    if (is_outside && needs_all)
        last = (struct comeback){0};
    if (tells_something(reader, &part, &last, is_outside))
        need_comeback(reader, reading, &part, last);
}

void reading_need_members(struct reader *reader, uint32_t lane, struct gathering *gathering)
{
    uint32_t rank = reading_rank(reader, lane);
    if (!gathering || gathering->coll == WW_COLL_NEIGHBOR) /* which needs some members only */
        return;
    uint32_t mine = gathering_member(reader->replay->gatherings, gathering, rank);
    if (waits_is_prefix(gathering->coll)) {
        need_others(reader, lane, gathering, mine, THOSE_BEFORE);
        need_others(reader, lane, gathering, mine, THOSE_BEHIND);
    } else {
        need_others(reader, lane, gathering, mine, ALL_OTHERS);
    }
    /* For the members that end after this one. */
    struct comeback own = progress_comeback(&reader->progress, rank);
    const struct point *came = gathering->came.point;
    if (own.point && (!came || own.point->time_ns > came->time_ns))
        comeback_set(reader->replay->links, &gathering->came, own);
}
