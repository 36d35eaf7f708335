/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/sections/state.h"
#include "analyze/waits/call_classes.h"
#include "analyze/waits/matching.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

/* A location between two events. */
struct place {
    event_list open;  /* the EV_ENTER of regions it is in, outermost first */
    struct event off; /* the last time that it left the CPU */
    uint32_t n_calls; /* of MPI, among the open regions */
    bool is_off, has_ended;
    bool has_bins;       /* counts have been taken */
    bool has_operations; /* of RMA, since it synchronised */
    bool was_cut;        /* inside a collective operation, which has not ended since */
};

/* Of a process: requests may be completed by another thread. */
struct requests {
    event_list posted;   /* receives, in order; kind EV_END: completed */
    struct map receives; /* request -> 1 + index in posted */
    struct map sends;    /* requests that are not completed */
};

/* A message that was sent and not received. */
struct under_way {
    struct event send; /* EV_SEND, EV_ISEND */
};

/* First in, first out. */
struct channel {
    VEC(struct under_way) messages;
    size_t first;
};
struct channel_key {
    uint32_t comm, source, destination; /* world ranks */
    int32_t tag;
};

/* Members of a communicator count these apart. */
enum count_space { COUNT_BLOCKING, COUNT_NONBLOCKING, COUNT_FILE, COUNT_FENCE, COUNT_SPACES };
struct count {
    uint64_t all, most; /* operations of all members; of the one with most */
};

struct state {
    const struct trace *trace;
    struct place *places;
    struct requests *requests;
    bool *is_of_all;        /* by communicator: every process is a member */
    struct count *counts;   /* by communicator and space */
    struct map n_of_member; /* by (communicator and space, rank) */
    struct intern channel_keys;
    VEC(struct channel) channels;
    uint64_t n_under_way;
    uint64_t n_uneven;  /* communicators and spaces whose members are not equally far */
    int64_t n_pending;  /* non-blocking collectives, epochs */
    uint32_t n_working; /* locations with operations of RMA since they synchronised */
    bool is_never;      /* no cut from here on */
};

static void *zeroed(size_t n, size_t size)
{
    void *memory = calloc(n + 1, size);
    if (!memory)
        err_out_of_memory(n * size);
    return memory;
}

static bool is_of_all(const struct trace *trace, const struct trace_comm *comm)
{
    if (comm->n != trace->n_ranks || comm->n_remote)
        return false;
    for (uint32_t i = 0; i < comm->n; i++)
        if (comm->ranks[i] != i && comm->ranks[i] >= trace->n_ranks)
            return false;
    return true;
}

struct state *state_make(const struct trace *trace)
{
    struct state *state = zeroed(1, sizeof *state);
    state->trace = trace;
    state->places = zeroed(trace->n_locations, sizeof *state->places);
    state->requests = zeroed(trace->n_ranks, sizeof *state->requests);
    state->is_of_all = zeroed(trace->n_comms, sizeof *state->is_of_all);
    state->counts = zeroed((size_t)trace->n_comms * COUNT_SPACES, sizeof *state->counts);
    for (uint32_t i = 0; i < trace->n_comms; i++)
        state->is_of_all[i] = is_of_all(trace, &trace->comms[i]);
    return state;
}

static void forget_channels(struct state *state)
{
    for (size_t i = 0; i < state->channels.n; i++)
        vec_release(&state->channels.at[i].messages);
    vec_release(&state->channels);
    intern_release(&state->channel_keys);
}

void state_release(struct state *state)
{
    for (uint32_t i = 0; i < state->trace->n_locations; i++)
        vec_release(&state->places[i].open);
    for (uint32_t i = 0; i < state->trace->n_ranks; i++) {
        vec_release(&state->requests[i].posted);
        map_release(&state->requests[i].receives);
        map_release(&state->requests[i].sends);
    }
    forget_channels(state);
    map_release(&state->n_of_member);
    free(state->places);
    free(state->requests);
    free(state->is_of_all);
    free(state->counts);
    free(state);
}

/* Messages. */

static struct channel *channel_of(struct state *state, const struct event *event, uint32_t source, uint32_t destination)
{
    struct channel_key key = {event->comm, source, destination, event->tag};
    uint32_t id = intern_put(&state->channel_keys, &key, sizeof key);
    if (id == state->channels.n)
        vec_push(&state->channels);
    return &state->channels.at[id];
}

static void follow_send(struct state *state, const struct event *event, uint32_t rank)
{
    uint32_t to = messages_peer(state->trace, event->comm, rank, event->peer);
    if (event->kind == EV_ISEND)
        *map_put(&state->requests[rank].sends, event->request, NULL) = 1;
    if (to == TRACE_NONE)
        return;
    vec_push(&channel_of(state, event, rank, to)->messages)->send = *event;
    state->n_under_way++;
}

static void follow_arrival(struct state *state, const struct event *event, uint32_t rank)
{
    uint32_t from = messages_peer(state->trace, event->comm, rank, event->peer);
    struct channel *channel = from == TRACE_NONE ? NULL : channel_of(state, event, from, rank);
    if (!channel || channel->first == channel->messages.n)
        return;
    state->n_under_way--;
    if (++channel->first == channel->messages.n)
        channel->first = channel->messages.n = 0;
}

static void follow_completion(struct requests *requests, uint64_t request)
{
    const uint64_t *index = map_get(&requests->receives, request);
    if (!index)
        return;
    requests->posted.at[*index - 1].kind = EV_END;
    map_remove(&requests->receives, request);
    if (!requests->receives.n)
        requests->posted.n = 0;
}

static void follow_message(struct state *state, const struct event *event, uint32_t rank)
{
    struct requests *requests = &state->requests[rank];
    switch (event->kind) {
    case EV_SEND:
    case EV_ISEND:
        follow_send(state, event, rank);
        break;
    case EV_ISEND_DONE:
        map_remove(&requests->sends, event->request);
        break;
    case EV_IRECV:
        *vec_push(&requests->posted) = *event;
        *map_put(&requests->receives, event->request, NULL) = requests->posted.n;
        break;
    case EV_RECV:
        follow_arrival(state, event, rank);
        break;
    case EV_IRECV_DONE:
        follow_arrival(state, event, rank);
        follow_completion(requests, event->request);
        break;
    default: /* cancelled: whoever it was, no channel is sure any more */
        state->is_never = true;
        break;
    }
}

/* Operations of several processes. */

static void count_operation(struct state *state, uint32_t comm, enum count_space space, uint32_t rank)
{
    uint32_t n_members =
        comm < state->trace->n_comms ? state->trace->comms[comm].n + state->trace->comms[comm].n_remote : 0;
    if (n_members < 2)
        return;
    uint32_t at = comm * COUNT_SPACES + (uint32_t)space;
    struct count *count = &state->counts[at];
    bool was_even = count->all == count->most * n_members;
    uint64_t *n = map_put(&state->n_of_member, key_pair(at, rank), NULL);
    count->all++;
    count->most = ++*n > count->most ? *n : count->most;
    state->n_uneven += was_even - (count->all == count->most * n_members);
}

static enum ww_class class_of_call(const struct state *state, const struct place *place)
{
    uint32_t region = place->open.n ? place->open.at[place->open.n - 1].region : TRACE_NONE;
    return region < state->trace->n_regions ? state->trace->regions[region].class : WW_LOCAL;
}

static void follow_rma_sync(struct state *state, const struct event *event, struct place *place, uint32_t rank)
{
    enum ww_class class = class_of_call(state, place);
    state->n_working -= place->has_operations;
    place->has_operations = false;
    if (class == WW_RMA_FENCE)
        count_operation(state, event->comm, COUNT_FENCE, rank);
    else if (class == WW_RMA_POST || class == WW_RMA_START)
        state->n_pending++;
    else if (class == WW_RMA_WAIT || class == WW_RMA_COMPLETE)
        state->n_pending--;
    else if (class == WW_RMA_LOCK || class == WW_RMA_UNLOCK || class == WW_RMA_FLUSH)
        state->is_never = true;
}

static void follow_operation(struct state *state, const struct event *event, uint32_t rank)
{
    struct place *place = &state->places[event->loc];
    switch (event->kind) {
    case EV_COLL_END:
        count_operation(state, event->comm, COUNT_BLOCKING, rank);
        break;
    case EV_ICOLL:
        state->n_pending++;
        break;
    case EV_ICOLL_DONE:
        state->n_pending--;
        count_operation(state, event->comm, COUNT_NONBLOCKING, rank);
        break;
    case EV_IO:
        count_operation(state, event->comm, COUNT_FILE, rank);
        break;
    case EV_RMA:
        state->n_working += !place->has_operations;
        place->has_operations = true;
        break;
    default:
        follow_rma_sync(state, event, place, rank);
        break;
    }
}

/* Each location. */

static bool is_call(const struct trace *trace, const struct event *event)
{
    return event->region < trace->n_regions && trace->regions[event->region].is_mpi;
}

static void follow_enter(struct state *state, const struct event *event)
{
    struct place *place = &state->places[event->loc];
    bool calls = is_call(state->trace, event);
    *vec_push(&place->open) = *event;
    place->n_calls += calls;
    state->is_never |= calls && state->trace->locations[event->loc].thread != 0;
}

static void follow_leave(struct state *state, const struct event *event)
{
    struct place *place = &state->places[event->loc];
    if (!place->open.n)
        return;
    place->n_calls -= is_call(state->trace, &place->open.at[--place->open.n]);
}

void state_follow(struct state *state, const struct event *event)
{
    struct place *place = &state->places[event->loc];
    uint32_t rank = state->trace->locations[event->loc].rank;
    switch (event->kind) {
    case EV_ENTER:
        follow_enter(state, event);
        break;
    case EV_LEAVE:
        follow_leave(state, event);
        break;
    case EV_SEND:
    case EV_ISEND:
    case EV_ISEND_DONE:
    case EV_RECV:
    case EV_IRECV:
    case EV_IRECV_DONE:
    case EV_CANCELLED:
        follow_message(state, event, rank);
        break;
    case EV_COLL_END:
    case EV_ICOLL:
    case EV_ICOLL_DONE:
    case EV_IO:
    case EV_RMA:
    case EV_RMA_SYNC:
        follow_operation(state, event, rank);
        break;
    case EV_OFF:
    case EV_ON:
        place->off = *event;
        place->is_off = event->kind == EV_OFF;
        break;
    case EV_BINS:
        place->has_bins = true;
        break;
    case EV_END:
        place->has_ended = true;
        state->is_never |= state->trace->locations[event->loc].thread == 0;
        break;
    case EV_CONTROL:
    case EV_PENDING:
    case EV_UNFINISHED:
        state->is_never = true;
        break;
    default:
        break;
    }
}

/* The cut. */

/* Inside a call of such an operation, and in no call around it. */
static bool is_inside(const struct trace *trace, const struct place *place, uint32_t coll)
{
    const struct event *call = place->open.n ? &place->open.at[place->open.n - 1] : NULL;
    return call && place->n_calls == 1 && is_call(trace, call) && trace->regions[call->region].class == WW_COLLECTIVE &&
           trace->regions[call->region].coll == coll;
}

bool state_may_cut(const struct state *state, const struct event *event)
{
    const struct trace *trace = state->trace;
    if (event->kind != EV_COLL_END || event->comm >= trace->n_comms || !state->is_of_all[event->comm] ||
        !coll_needs_all((enum ww_coll)event->coll) || state->is_never || state->n_uneven || state->n_pending ||
        state->n_working)
        return false;
    for (uint32_t i = 0; i < trace->n_locations; i++)
        if (trace->locations[i].thread == 0 && !is_inside(trace, &state->places[i], event->coll))
            return false;
    return true;
}

static struct event plain_event(enum event_kind kind, uint32_t loc, uint64_t time_ns)
{
    return (struct event){.time_ns = time_ns,
                          .kind = (uint16_t)kind,
                          .loc = loc,
                          .region = TRACE_NONE,
                          .frame = TRACE_NONE,
                          .comm = TRACE_NONE,
                          .peer = TRACE_NONE};
}

void state_write_end(const struct state *state, const struct event *event, event_list *events)
{
    const struct trace *trace = state->trace;
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        const struct place *place = &state->places[loc];
        if (place->is_off)
            *vec_push(events) = plain_event(EV_ON, loc, event->time_ns);
        struct event end = plain_event(EV_COLL_END, loc, event->time_ns);
        end.comm = event->comm;
        end.peer = event->peer;
        end.coll = event->coll;
        if (trace->locations[loc].thread == 0)
            *vec_push(events) = end;
        for (size_t i = place->open.n; i-- > 0;) {
            end = plain_event(EV_LEAVE, loc, event->time_ns);
            end.region = place->open.at[i].region;
            *vec_push(events) = end;
        }
        end = plain_event(EV_END, loc, event->time_ns);
        end.flags = WW_END_FINALIZE;
        if (!place->has_ended)
            *vec_push(events) = end;
    }
}

static void add_at(event_list *events, struct event event, uint64_t time_ns)
{
    event.time_ns = time_ns;
    *vec_push(events) = event;
}

static void write_receives(const struct requests *requests, uint32_t loc, uint64_t time_ns, event_list *events)
{
    for (size_t i = 0; i < requests->posted.n; i++)
        if (requests->posted.at[i].kind == EV_IRECV && requests->posted.at[i].loc == loc)
            add_at(events, requests->posted.at[i], time_ns);
}

/* Of those that are complete nobody waits any more; their messages may still be on the way. */
static void write_messages(struct state *state, uint64_t time_ns, event_list *events)
{
    for (size_t i = 0; i < state->channels.n && state->n_under_way; i++) {
        const struct channel *channel = &state->channels.at[i];
        for (size_t k = channel->first; k < channel->messages.n; k++) {
            struct event send = channel->messages.at[k].send;
            uint32_t rank = state->trace->locations[send.loc].rank;
            bool is_going = send.kind == EV_ISEND && map_get(&state->requests[rank].sends, send.request);
            send.kind = is_going ? EV_ISEND : EV_SEND;
            send.flags = EVENT_WAS_SENT;
            add_at(events, send, time_ns);
        }
    }
    if (!state->n_under_way)
        forget_channels(state);
}

void state_write_begin(struct state *state, const struct event *event, event_list *events)
{
    const struct trace *trace = state->trace;
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        struct place *place = &state->places[loc];
        place->was_cut = trace->locations[loc].thread == 0;
        if (place->has_ended) {
            add_at(events, plain_event(EV_END, loc, 0), event->time_ns);
            continue;
        }
        if (place->has_bins)
            add_at(events, plain_event(EV_BINS, loc, 0), event->time_ns);
        for (size_t i = 0; i < place->open.n; i++)
            add_at(events, place->open.at[i], event->time_ns);
        if (place->is_off)
            add_at(events, place->off, event->time_ns);
        write_receives(&state->requests[trace->locations[loc].rank], loc, event->time_ns, events);
    }
    write_messages(state, event->time_ns, events);
}

bool state_ends_cut(struct state *state, const struct event *event)
{
    struct place *place = &state->places[event->loc];
    bool ends = event->kind == EV_COLL_END && place->was_cut;
    place->was_cut = place->was_cut && !ends;
    return ends;
}
