/* SPDX-License-Identifier: BSD-3-Clause */
/* A call's records: what it posts and completes, and at its end whom it waited for by that. */
#include "analyze/constants/constants.h"
#include "analyze/waits/reading.h"
#include <stdlib.h>

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE };

struct request {
    enum request_kind kind;
    uint64_t number;         /* order of posting */
    struct point *point;     /* held: receive or collective */
    uint16_t coll;           /* WW_COLL_NONE: its completion tells */
    uint64_t turn;           /* of a collective; 0: its completion tells */
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
    if (kind == REQUEST_COLLECTIVE && event->comm < reader->trace->n_comms)
        request->turn = gatherings_turn(reader->replay->gatherings, event->comm, GATHER_NONBLOCKING, point->rank);
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
    completion->turn = request->turn;
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
        if (request->kind == REQUEST_RECEIVE && event->peer != TRACE_NONE)
            messages_receive_unseen(reader->replay->messages, event, request->point);
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

void reading_pending(struct reader *reader, const struct event *event)
{
    *vec_push(&reader->readings[event->loc].pending) = (struct pending){
        .comm = event->comm,
        .peer = messages_peer(reader->trace, event->comm, reading_rank(reader, event->loc), event->peer),
        .tag = event->tag,
        .is_receive = event->flags};
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
    case EV_OUTSIDE:
        reading->has_progress = true;
        reading->call->is_outside = true;
        break;
    case EV_UNFINISHED:
        reading->open_for = (struct open_for){event->comm, event->peer, event->tag};
        reading->is_open_for_known = event->comm != TRACE_NONE;
        break;
    case EV_PENDING:
        reading_pending(reader, event);
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
        vec_sort(&reading->completions, completion_compare);
    for (size_t i = 0; i < reading->completions.n; i++) {
        struct completion *completion = &reading->completions.at[i];
        struct point *point = completion->point ? completion->point : reading_point(reader, lane);
        bool is_collective = completion->event.kind == EV_ICOLL_DONE;
        /* Operations that it began before the first record are counted by nobody. */
        if (is_collective && (completion->point || !reader->trace->is_ours)) {
            struct gather_call operation =
                coll_of_event(reader, &completion->event, WW_ICOLLECTIVE, GATHER_NONBLOCKING);
            operation.turn = completion->turn;
            reading_need_members(reader, lane, reading_join(reader, lane, operation, point));
        } else if (!is_collective) {
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
