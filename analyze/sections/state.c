/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/sections/state.h"
#include "analyze/waits/call_classes.h"
#include "analyze/waits/matching.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

/* Members of a communicator count these apart. */
enum count_space { COUNT_BLOCKING, COUNT_NONBLOCKING, COUNT_FILE, COUNT_FENCE };

static bool is_of_all(const struct trace *trace, const struct trace_comm *comm)
{
    if (comm->n != trace->n_ranks || comm->n_remote)
        return false;
    for (uint32_t i = 0; i < comm->n; i++)
        if (comm->ranks[i] >= trace->n_ranks)
            return false;
    return true;
}

void state_begin(struct state *state, const struct trace *trace)
{
    *state = (struct state){.trace = trace};
    state->places = memory_lines(trace->n_locations + 1, sizeof *state->places);
    state->is_of_all = memory_lines(trace->n_comms + 1, sizeof *state->is_of_all);
    for (uint32_t i = 0; i < trace->n_comms; i++)
        state->is_of_all[i] = is_of_all(trace, &trace->comms[i]);
}

void state_release(struct state *state)
{
    for (uint32_t i = 0; state->places && i < state->trace->n_locations; i++) {
        struct place *place = &state->places[i];
        vec_release(&place->open);
        receives_release(&place->receives);
    }
    vec_free(state->places);
    vec_free(state->is_of_all);
    map_release(&state->members);
    *state = (struct state){0};
}

/* Under way. */

/* A number for both sides of a message, which one of them adds and the other one takes away. */
static uint64_t message_number(uint32_t comm, int32_t tag, uint32_t source, uint32_t destination)
{
    return hash_u64(hash_u64(key_pair(source, destination) + 1) ^ key_pair(comm, (uint32_t)tag));
}

static void follow_message(const struct state *state, struct place *place, const struct event *event)
{
    uint32_t rank = state->trace->locations[event->loc].rank;
    uint32_t peer = messages_peer(state->trace, event->comm, rank, event->peer);
    bool is_sent = event->kind == EV_SEND || event->kind == EV_ISEND;
    if (event->kind == EV_IRECV_DONE)
        receives_follow(&place->receives, event);
    if (peer == TRACE_NONE)
        return;
    if (is_sent)
        place->now.under_way += message_number(event->comm, event->tag, rank, peer);
    else
        place->now.under_way -= message_number(event->comm, event->tag, peer, rank);
}

/* The index of a process in a communicator of n; TRACE_NONE. */
static uint32_t member_of(struct state *state, uint32_t comm, uint32_t rank, uint32_t n)
{
    const struct trace_comm *at = &state->trace->comms[comm];
    if (rank < n && at->ranks[rank] == rank)
        return rank;
    bool is_new;
    uint64_t *index = map_put(&state->members, key_pair(comm, rank), &is_new);
    if (!is_new)
        return (uint32_t)*index - 1;
    for (uint32_t i = n; i-- > 0;)
        *map_put(&state->members, key_pair(comm, at->ranks[i]), NULL) = i + 1;
    return (uint32_t)*map_get(&state->members, key_pair(comm, rank)) - 1;
}

/* Of n members each adds a number of its own and takes that of the next one away: so the sum over all members that have
 * done as much is 0. */
static void count_operation(struct state *state, struct place *place, const struct event *event, enum count_space space)
{
    uint32_t n = event->comm < state->trace->n_comms
                     ? state->trace->comms[event->comm].n + state->trace->comms[event->comm].n_remote
                     : 0;
    if (n < 2)
        return;
    uint32_t member = member_of(state, event->comm, state->trace->locations[event->loc].rank, n);
    uint64_t operation = hash_u64(key_pair(event->comm, (uint32_t)space) + 1);
    if (member == TRACE_NONE)
        return;
    place->now.under_way += hash_u64(operation ^ member) - hash_u64(operation ^ ((member + 1) % n));
}

/* Each location. */

static void follow_rma_sync(struct state *state, struct place *place, const struct event *event)
{
    uint32_t region = place->open.n ? place->open.at[place->open.n - 1].region : TRACE_NONE;
    enum ww_class class = region < state->trace->n_regions ? state->trace->regions[region].class : WW_LOCAL;
    place->now.has_operations = false;
    if (class == WW_RMA_FENCE)
        count_operation(state, place, event, COUNT_FENCE);
    else if (class == WW_RMA_POST || class == WW_RMA_START)
        place->now.n_pending++;
    else if (class == WW_RMA_WAIT || class == WW_RMA_COMPLETE)
        place->now.n_pending--;
    else if (class == WW_RMA_LOCK || class == WW_RMA_UNLOCK || class == WW_RMA_FLUSH)
        place->now.is_never = true;
}

static bool is_call(const struct trace *trace, const struct event *event)
{
    return event->region < trace->n_regions && trace->regions[event->region].is_mpi;
}

static void follow_enter(const struct state *state, struct place *place, const struct event *event)
{
    bool calls = is_call(state->trace, event);
    *vec_push(&place->open) = *event;
    place->now.n_at_enter = place->now.n_events;
    place->now.n_calls += calls;
    place->now.is_never |= calls && state->trace->locations[event->loc].thread != 0;
}

static void follow_leave(const struct state *state, struct place *place)
{
    if (place->open.n)
        place->now.n_calls -= is_call(state->trace, &place->open.at[--place->open.n]);
}

static void follow_rare(struct state *state, struct place *place, const struct event *event)
{
    switch (event->kind) {
    case EV_ICOLL_DONE:
        place->now.n_pending--;
        count_operation(state, place, event, COUNT_NONBLOCKING);
        break;
    case EV_IO:
        count_operation(state, place, event, COUNT_FILE);
        break;
    case EV_RMA_SYNC:
        follow_rma_sync(state, place, event);
        break;
    case EV_END:
        place->now.has_ended = true;
        place->now.is_never |= state->trace->locations[event->loc].thread == 0;
        break;
    case EV_CANCELLED:
    case EV_CONTROL:
    case EV_PENDING:
    case EV_UNFINISHED:
        place->now.is_never = true;
        break;
    default:
        break;
    }
}

void state_follow(struct state *state, const struct event *event)
{
    struct place *place = &state->places[event->loc];
    switch (event->kind) {
    case EV_ENTER:
        follow_enter(state, place, event);
        break;
    case EV_LEAVE:
        follow_leave(state, place);
        break;
    case EV_SEND:
    case EV_ISEND:
    case EV_RECV:
    case EV_IRECV_DONE:
        follow_message(state, place, event);
        break;
    case EV_IRECV:
        receives_follow(&place->receives, event);
        break;
    case EV_COLL_END:
        place->now.n_of_all += state_is_candidate(state, event);
        count_operation(state, place, event, COUNT_BLOCKING);
        break;
    case EV_ICOLL:
        place->now.n_pending++;
        break;
    case EV_RMA:
        place->now.has_operations = true;
        break;
    case EV_OFF:
    case EV_ON:
        place->now.off = *event;
        place->now.is_off = event->kind == EV_OFF;
        break;
    case EV_BINS:
        place->now.has_bins = true;
        break;
    default:
        follow_rare(state, place, event);
        break;
    }
    place->now.n_events++;
}

/* The cut. */

bool state_is_candidate(const struct state *state, const struct event *event)
{
    return event->kind == EV_COLL_END && event->comm < state->trace->n_comms && state->is_of_all[event->comm] &&
           coll_needs_all((enum ww_coll)event->coll);
}

/* Inside a call of such an operation, and in no call around it, with nothing under way. */
static bool is_inside(const struct trace *trace, const struct place *place, uint32_t coll)
{
    const struct event *call = place->open.n ? &place->open.at[place->open.n - 1] : NULL;
    return call && place->now.n_calls == 1 && is_call(trace, call) &&
           trace->regions[call->region].class == WW_COLLECTIVE && trace->regions[call->region].coll == coll &&
           !place->now.n_pending && !place->now.has_operations;
}

bool state_is_with(const struct state *state, const struct event *event, uint32_t paced)
{
    const struct place *place = &state->places[paced];
    return is_inside(state->trace, place, event->coll) && place->now.n_of_all == state->places[event->loc].now.n_of_all;
}

bool state_may_cut(const struct state *state, const struct event *event)
{
    const struct trace *trace = state->trace;
    uint64_t under_way = 0;
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        const struct place *place = &state->places[i];
        if (place->now.is_never || (trace->locations[i].thread == 0 && !is_inside(trace, place, event->coll)))
            return false;
        under_way += place->now.under_way;
    }
    return !under_way;
}

void state_write_end(const struct state *state, const struct event *event, event_list *events)
{
    const struct trace *trace = state->trace;
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        const struct place *place = &state->places[loc];
        struct event end = event_plain(EV_COLL_END, loc, event->time_ns);
        end.comm = event->comm;
        end.peer = event->peer;
        end.coll = event->coll;
        if (place->now.has_ended)
            continue;
        if (place->now.is_off)
            *vec_push(events) = event_plain(EV_ON, loc, event->time_ns);
        if (trace->locations[loc].thread == 0)
            *vec_push(events) = end;
        for (size_t i = place->open.n; i-- > 0;) {
            end = event_plain(EV_LEAVE, loc, event->time_ns);
            end.region = place->open.at[i].region;
            end.tag = -1; /* the rest of the call counts for it */
            *vec_push(events) = end;
        }
        end = event_plain(EV_END, loc, event->time_ns);
        end.flags = WW_END_FINALIZE;
        *vec_push(events) = end;
    }
}

static void add_at(event_list *events, struct event event, uint64_t time_ns)
{
    event.time_ns = time_ns;
    *vec_push(events) = event;
}

static void write_place(struct place *place, uint32_t loc, uint64_t time_ns, event_list *events)
{
    if (place->now.has_ended) {
        add_at(events, event_plain(EV_END, loc, 0), time_ns);
        return;
    }
    if (place->now.has_bins)
        add_at(events, event_plain(EV_BINS, loc, 0), time_ns);
    for (size_t i = 0; i < place->open.n; i++)
        add_at(events, place->open.at[i], time_ns);
    if (place->now.is_off)
        add_at(events, place->now.off, time_ns);
    for (size_t i = 0; i < place->receives.posted.n; i++)
        if (place->receives.posted.at[i].kind == EV_IRECV)
            add_at(events, place->receives.posted.at[i], time_ns);
}

void state_write_begin(struct state *state, const struct event *event, event_list *events)
{
    const struct trace *trace = state->trace;
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        struct place *place = &state->places[loc];
        place->was_cut = trace->locations[loc].thread == 0;
        write_place(place, loc, event->time_ns, events);
    }
}

bool state_ends_cut(struct state *state, const struct event *event)
{
    struct place *place = &state->places[event->loc];
    bool ends = event->kind == EV_COLL_END && place->was_cut;
    place->was_cut = place->was_cut && !ends;
    return ends;
}
