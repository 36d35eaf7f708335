/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/reading.h"
#include <stdlib.h>

/* Sends that return sooner were buffered; a wait this short would not be worth holding the replay for. */
enum { RENDEZVOUS_MIN_NS = 2000 };

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
    struct reading *reading = &reader->readings[lane];
    if (!reading->point) {
        reading->point = point_make(reader->replay->links, lane, reader->lanes->at[lane].rank, reading->call->enter_ns);
        *vec_push(&reading->call->points) = reading->point;
    }
    return reading->point;
}

void reading_need(struct reading *reading, struct need need)
{
    *vec_push(&reading->call->needs) = need;
}

static void request_drop(struct reader *reader, struct request *request)
{
    point_drop(reader->replay->links, request->point);
    message_drop(reader->replay->messages, request->message);
    slab_give(&reader->requests, request);
}

static void request_end(struct reader *reader, uint32_t lane, struct request *request)
{
    progress_completed(&reader->progress, reader->lanes->at[lane].rank);
    request_drop(reader, request);
}

/* A handle that is still in use was completed unseen. */
static void request_put(struct reader *reader, uint32_t lane, uint64_t handle, struct request request)
{
    bool is_new;
    uint64_t *slot = map_put(&reader->readings[lane].requests, handle, &is_new);
    if (!is_new)
        request_end(reader, lane, (struct request *)(uintptr_t)*slot);
    progress_begun(&reader->progress, reader->lanes->at[lane].rank);
    struct request *made = slab_new(&reader->requests, struct request);
    *made = request;
    made->number = reader->n_requests++;
    *slot = (uint64_t)(uintptr_t)made;
}

/* A request may be completed by another thread than the one that started it. Owned by the caller. */
static struct request *request_take(struct reader *reader, uint32_t lane, uint64_t handle, enum request_kind kind)
{
    uint32_t rank = reader->lanes->at[lane].rank;
    for (uint32_t i = 0, at = lane; i <= reader->trace->n_locations; at = i++) {
        uint64_t *slot = reader->lanes->at[at].rank == rank ? map_get(&reader->readings[at].requests, handle) : NULL;
        struct request *request = slot ? (struct request *)(uintptr_t)*slot : NULL;
        if (request && request->kind == kind) {
            map_remove(&reader->readings[at].requests, handle);
            return request;
        }
    }
    return NULL;
}

static void read_send(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct reading *reading = &reader->readings[lane];
    struct message *message = messages_send(reader->replay->messages, event, reading_point(reader, lane));
    if (!message)
        return;
    if (event->kind == EV_ISEND)
        request_put(reader, lane, event->request, (struct request){.kind = REQUEST_SEND, .message = message});
    else {
        message->is_sent = true;
        *vec_push(&reading->sent) = message;
    }
}

static void message_sent(struct reader *reader, uint32_t lane, struct message *message)
{
    message->is_sent = true;
    comeback_set(reader->replay->links, &message->sender_came,
                 progress_comeback(&reader->progress, reader->lanes->at[lane].rank));
}

static void read_send_done(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct request *request = request_take(reader, lane, event->request, REQUEST_SEND);
    reader->readings[lane].has_progress = true;
    if (!request)
        return;
    message_sent(reader, lane, request->message);
    *vec_push(&reader->readings[lane].sent) = message_hold(request->message);
    request_end(reader, lane, request);
}

static void read_post(struct reader *reader, uint32_t lane, const struct event *event, enum request_kind kind)
{
    struct point *point = point_hold(reading_point(reader, lane));
    if (kind == REQUEST_RECEIVE)
        reader->last_post_ns[point->rank] = point->time_ns;
    request_put(reader, lane, event->request, (struct request){.kind = kind, .point = point, .coll = event->coll});
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

static void reading_received(struct reader *reader, uint32_t lane, const struct event *event, struct point *point)
{
    struct message *message = messages_receive(reader->replay->messages, event, point, reading_point(reader, lane));
    if (!message)
        return;
    reading_need(&reader->readings[lane], (struct need){.kind = NEED_SEND, .message = message});
    reading_need_sender(reader, &reader->readings[lane], message);
}

/* The message is there, whoever is to receive it: what was waited for is over. */
static void read_probed(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct message *message = messages_sent(reader->replay->messages, event, reader->lanes->at[lane].rank);
    if (!message)
        return;
    reader->readings[lane].has_progress = true;
    reading_need(&reader->readings[lane], (struct need){.kind = NEED_SEND, .message = message});
}

struct gathering *reading_join(struct reader *reader, uint32_t lane, struct gather_call operation, struct point *point)
{
    struct need need = {.kind = NEED_GATHERING};
    need.gathering = gatherings_join(reader->replay->gatherings, &operation, point, &need.index);
    if (operation.coll == WW_COLL_NEIGHBOR)
        need.neighbors = gatherings_neighbors(reader->replay->gatherings, operation.comm, point->rank);
    if (need.gathering)
        reading_need(&reader->readings[lane], need);
    return need.gathering;
}

static struct gather_call coll_of_event(const struct reader *reader, const struct event *event, enum ww_class class,
                                        enum gather_space space)
{
    bool is_inter = event->comm < reader->trace->n_comms && reader->trace->comms[event->comm].n_remote;
    return (struct gather_call){.comm = event->comm < reader->trace->n_comms ? event->comm : TRACE_NONE,
                                .space = space,
                                .class = class,
                                .coll = (enum ww_coll)event->coll,
                                .root = is_inter ? TRACE_NONE : event->peer};
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
        reading_join(reader, lane, coll_of_event(reader, event, reading->call->class, GATHER_BLOCKING),
                     reading_point(reader, lane));
        break;
    case EV_ICOLL:
        read_post(reader, lane, event, REQUEST_COLLECTIVE);
        break;
    case EV_ICOLL_DONE:
        read_completion(reader, lane, event, REQUEST_COLLECTIVE);
        break;
    case EV_PROBED:
        read_probed(reader, lane, event);
        break;
    case EV_UNFINISHED:
        reading->open_comm = event->comm;
        reading->open_peer = event->peer;
        reading->open_tag = event->tag;
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

void reading_complete(struct reader *reader, uint32_t lane)
{
    struct reading *reading = &reader->readings[lane];
    if (reading->completions.n > 1)
        qsort(reading->completions.at, reading->completions.n, sizeof *reading->completions.at, completion_compare);
    for (size_t i = 0; i < reading->completions.n; i++) {
        struct completion *completion = &reading->completions.at[i];
        struct point *point = completion->point ? completion->point : reading_point(reader, lane);
        if (completion->event.kind == EV_ICOLL_DONE) {
            struct gather_call operation =
                coll_of_event(reader, &completion->event, WW_ICOLLECTIVE, GATHER_NONBLOCKING);
            reading_need_members(reader, lane, reading_join(reader, lane, operation, point));
        } else
            reading_received(reader, lane, &completion->event, point);
        point_drop(reader->replay->links, completion->point);
    }
    reading->completions.n = 0;
}

static bool call_spans(const struct call *call, const struct point *point)
{
    return point->time_ns > call->enter_ns && point->time_ns <= call->leave_ns;
}

/* Could the receive have been posted, or its receiver have come back to MPI, while this send was held up? */
static bool send_may_have_waited(const struct reader *reader, const struct call *call, const struct message *message)
{
    if (call->leave_ns - call->enter_ns < RENDEZVOUS_MIN_NS)
        return false;
    if (message->receive)
        return call_spans(call, message->receive) || call_spans(call, message->finish);
    return reader->last_post_ns[message->destination] > call->enter_ns;
}

/* A call that also received something lasted for that; what its sends did is not known then. */
void reading_check_sends(struct reader *reader, struct reading *reading)
{
    struct call *call = reading->call;
    bool sends_only = (call->class == WW_SEND || call->class == WW_WAIT) && !call->needs.n;
    for (size_t i = 0; i < reading->sent.n; i++) {
        struct message *message = reading->sent.at[i];
        if (sends_only && send_may_have_waited(reader, call, message))
            reading_need(reading, (struct need){.kind = NEED_RECEIVE, .message = message_hold(message)});
        if (sends_only)
            reading_need_receiver(reader, reading, message);
        message_drop(reader->replay->messages, message);
    }
    reading->sent.n = 0;
}

/* MPI_Finalize leaves no record of its own. */
void reading_check_finalize(struct reader *reader, uint32_t lane)
{
    struct gather_call all = {
        .comm = reader->trace->n_comms, .class = WW_FINALIZE, .coll = WW_COLL_BARRIER, .root = TRACE_NONE};
    if (reader->readings[lane].call->class == WW_FINALIZE)
        reading_join(reader, lane, all, reading_point(reader, lane));
}
