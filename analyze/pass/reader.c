/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/pass/reader.h"
#include "analyze/pass/waits.h"
#include <stdlib.h>

/* Sends that return sooner were buffered; a wait this short would not be worth holding the replay for. */
enum { RENDEZVOUS_MIN_NS = 2000 };

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE };

struct request {
    enum request_kind kind;
    uint64_t number;         /* order of posting */
    struct point *point;     /* held: receive or collective */
    struct message *message; /* held: send */
};

/* Completed in the present call: matched at its end, in the order of posting, as MPI does. */
struct completion {
    struct event event;
    struct point *point; /* held; NULL: posted unseen */
    uint64_t number;
};

/* The MPI call that a location is in. */
struct reading {
    struct call *call;
    struct point *point; /* borrowed from call->points; NULL until something is posted */
    VEC(struct completion) completions;
    VEC(struct message *) sent; /* held: blocking send, or sends completed here */
    bool has_progress, has_polls;
    uint32_t open_comm, open_peer; /* whom a call that never ended waits for, when a record says so */
    VEC(struct message *) posts;   /* held: permissions to access (MPI_Win_post) that MPI_Win_start did not wait for */
    struct map requests;           /* handle -> struct request * */
};

void reader_begin(struct reader *reader)
{
    const struct trace *trace = reader->trace;
    size_t cap = 0, rank_cap = 0;
    vec_grow((void **)&reader->readings, &cap, trace->n_locations + 1, sizeof *reader->readings);
    memset(reader->readings, 0, (trace->n_locations + 1) * sizeof *reader->readings);
    vec_grow((void **)&reader->last_post_ns, &rank_cap, trace->n_ranks + 1, sizeof *reader->last_post_ns);
    memset(reader->last_post_ns, 0, (trace->n_ranks + 1) * sizeof *reader->last_post_ns);
}

void reader_release(struct reader *reader)
{
    for (uint32_t i = 0; reader->readings && i < reader->trace->n_locations; i++) {
        vec_release(&reader->readings[i].completions);
        vec_release(&reader->readings[i].sent);
        vec_release(&reader->readings[i].posts);
        map_release(&reader->readings[i].requests);
    }
    vec_free(reader->readings);
    vec_free(reader->last_post_ns);
    vec_release(&reader->open_calls);
    slab_release(&reader->requests);
}

/* The present call as a point of its process: one for all that it posts. */
static struct point *reading_point(struct reader *reader, uint32_t lane)
{
    struct reading *reading = &reader->readings[lane];
    if (!reading->point) {
        reading->point = point_make(reader->replay->links, lane, reader->lanes->at[lane].rank, reading->call->enter_ns);
        *vec_push(&reading->call->points) = reading->point;
    }
    return reading->point;
}

static void reading_need(struct reading *reading, struct need need)
{
    *vec_push(&reading->call->needs) = need;
}

static void request_drop(struct reader *reader, struct request *request)
{
    point_drop(reader->replay->links, request->point);
    message_drop(reader->replay->messages, request->message);
    slab_give(&reader->requests, request);
}

/* A handle that is still in use was completed unseen. */
static void request_put(struct reader *reader, uint32_t lane, uint64_t handle, struct request request)
{
    bool is_new;
    uint64_t *slot = map_put(&reader->readings[lane].requests, handle, &is_new);
    if (!is_new)
        request_drop(reader, (struct request *)(uintptr_t)*slot);
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
    else
        *vec_push(&reading->sent) = message;
}

static void read_send_done(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct request *request = request_take(reader, lane, event->request, REQUEST_SEND);
    reader->readings[lane].has_progress = true;
    if (!request)
        return;
    *vec_push(&reader->readings[lane].sent) = message_hold(request->message);
    request_drop(reader, request);
}

static void read_post(struct reader *reader, uint32_t lane, const struct event *event, enum request_kind kind)
{
    struct point *point = point_hold(reading_point(reader, lane));
    if (kind == REQUEST_RECEIVE)
        reader->last_post_ns[point->rank] = point->time_ns;
    request_put(reader, lane, event->request, (struct request){.kind = kind, .point = point});
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
    completion->point = point_hold(request->point);
    request_drop(reader, request);
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
        request_drop(reader, request);
        return;
    }
}

static void reading_received(struct reader *reader, uint32_t lane, const struct event *event, struct point *point)
{
    struct message *message = messages_receive(reader->replay->messages, event, point);
    if (message)
        reading_need(&reader->readings[lane], (struct need){.kind = NEED_SEND, .message = message});
}

static void reading_join(struct reader *reader, uint32_t lane, struct gather_call operation, struct point *point)
{
    struct need need = {.kind = NEED_GATHERING};
    need.gathering = gatherings_join(reader->replay->gatherings, &operation, point, &need.index);
    if (need.gathering)
        reading_need(&reader->readings[lane], need);
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

/* A fence ends for nobody before the last has come. */
static void read_fence(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct gather_call fence = {
        .comm = event->comm, .space = GATHER_FENCE, .class = WW_RMA_FENCE, .coll = WW_COLL_BARRIER, .root = TRACE_NONE};
    if (event->comm < reader->trace->n_comms)
        reading_join(reader, lane, fence, reading_point(reader, lane));
}

/*
 * Post-start-complete-wait is an exchange of messages without data: each MPI_Win_post lets the origins go on, each
 * MPI_Win_complete the targets. MPI_Win_start may return before it was let, and then MPI_Win_complete waits.
 */
enum { TAG_POST = -1000, TAG_COMPLETE = -1001 };

static void read_epoch_send(struct reader *reader, uint32_t lane, struct event event, int32_t tag)
{
    event.tag = tag;
    message_drop(reader->replay->messages,
                 messages_send(reader->replay->messages, &event, reading_point(reader, lane)));
}

static void read_epoch_start(struct reader *reader, uint32_t lane, struct event event)
{
    event.tag = TAG_POST;
    struct message *message = messages_receive(reader->replay->messages, &event, reading_point(reader, lane));
    if (message && message->send)
        reading_need(&reader->readings[lane], (struct need){.kind = NEED_SEND, .message = message});
    else if (message)
        *vec_push(&reader->readings[lane].posts) = message;
}

static void read_epoch_complete(struct reader *reader, uint32_t lane)
{
    struct reading *reading = &reader->readings[lane];
    for (size_t i = 0; i < reading->posts.n; i++)
        reading_need(reading, (struct need){.kind = NEED_SEND, .message = reading->posts.at[i]});
    reading->posts.n = 0;
}

static void read_rma_sync(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct event received = *event;
    switch (reader->readings[lane].call->class) {
    case WW_RMA_FENCE:
        read_fence(reader, lane, event);
        break;
    case WW_RMA_POST:
        read_epoch_send(reader, lane, *event, TAG_POST);
        break;
    case WW_RMA_START:
        read_epoch_start(reader, lane, *event);
        break;
    case WW_RMA_COMPLETE:
        read_epoch_send(reader, lane, *event, TAG_COMPLETE);
        read_epoch_complete(reader, lane);
        break;
    case WW_RMA_WAIT:
        received.tag = TAG_COMPLETE;
        *vec_push(&reader->readings[lane].completions) = (struct completion){.event = received, .number = UINT64_MAX};
        break;
    default:
        break;
    }
}

static void read_in_call(struct reader *reader, const struct event *event)
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
    case EV_UNFINISHED:
        reading->open_comm = event->comm;
        reading->open_peer = event->peer;
        break;
    case EV_RMA_SYNC:
        read_rma_sync(reader, lane, event);
        break;
    case EV_POLLS:
        reading->has_polls = true;
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

static void reading_complete(struct reader *reader, uint32_t lane)
{
    struct reading *reading = &reader->readings[lane];
    if (reading->completions.n > 1)
        qsort(reading->completions.at, reading->completions.n, sizeof *reading->completions.at, completion_compare);
    for (size_t i = 0; i < reading->completions.n; i++) {
        struct completion *completion = &reading->completions.at[i];
        struct point *point = completion->point ? completion->point : reading_point(reader, lane);
        if (completion->event.kind == EV_ICOLL_DONE)
            reading_join(reader, lane, coll_of_event(reader, &completion->event, WW_ICOLLECTIVE, GATHER_NONBLOCKING),
                         point);
        else
            reading_received(reader, lane, &completion->event, point);
        point_drop(reader->replay->links, completion->point);
    }
    reading->completions.n = 0;
}

/* Could the receive have been posted while this send was held up? */
static bool send_may_have_waited(const struct reader *reader, const struct call *call, const struct message *message)
{
    if (call->leave_ns - call->enter_ns < RENDEZVOUS_MIN_NS)
        return false;
    if (message->receive)
        return message->receive->time_ns > call->enter_ns && message->receive->time_ns <= call->leave_ns;
    return reader->last_post_ns[message->destination] > call->enter_ns;
}

/* A call that also received something lasted for that; what its sends did is not known then. */
static void reading_check_sends(struct reader *reader, struct reading *reading)
{
    struct call *call = reading->call;
    bool sends_only = (call->class == WW_SEND || call->class == WW_WAIT) && !call->needs.n;
    for (size_t i = 0; i < reading->sent.n; i++) {
        struct message *message = reading->sent.at[i];
        if (sends_only && send_may_have_waited(reader, call, message))
            reading_need(reading, (struct need){.kind = NEED_RECEIVE, .message = message_hold(message)});
        message_drop(reader->replay->messages, message);
    }
    reading->sent.n = 0;
}

/* MPI_Finalize leaves no record of its own. */
static void reading_check_finalize(struct reader *reader, uint32_t lane)
{
    struct gather_call all = {
        .comm = reader->trace->n_comms, .class = WW_FINALIZE, .coll = WW_COLL_BARRIER, .root = TRACE_NONE};
    if (reader->readings[lane].call->class == WW_FINALIZE)
        reading_join(reader, lane, all, reading_point(reader, lane));
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
    call->spent = pools_spread(reader->pools, lane->rank, &lane->stretch, &call->before);
    reading->point = NULL;
    reading->has_progress = reading->has_polls = false;
    reading->open_comm = reading->open_peer = TRACE_NONE;
    messages_give_up(reader->replay->messages, lane->rank, lane->enter_ns);
    if (call->class == WW_RECV || call->class == WW_SENDRECV || call->class == WW_PROBE)
        reader->last_post_ns[lane->rank] = lane->enter_ns;
}

static void reading_end(struct reader *reader, uint32_t at, uint64_t leave_ns)
{
    struct lane *lane = &reader->lanes->at[at];
    struct reading *reading = &reader->readings[at];
    struct call *call = reading->call;
    call->leave_ns = leave_ns;
    call->idle_from_ns = lane->idle_from_ns;
    call->idle_to_ns = lane->idle_to_ns;
    reading_complete(reader, at);
    reading_check_finalize(reader, at);
    call->is_polling = !call->needs.n && !reading->has_progress && (reading->has_polls || class_polls(call->class));
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
                                                        .peer = messages_peer(reader->trace, comm, lane->rank, peer)};
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
        read_in_call(reader, event);
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
