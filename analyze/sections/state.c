/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/sections/state.h"
#include "analyze/waits/call_classes.h"
#include "analyze/waits/matching.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

/* Partners, times tags, that a location has from cut to cut. */
enum { CHANNELS_MOST = 1 << 16 };

/* Members of a communicator count these apart. */
enum count_space { COUNT_BLOCKING, COUNT_NONBLOCKING, COUNT_FILE, COUNT_FENCE };
struct count_key {
    uint32_t comm, space;
};

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

static void requests_release(struct requests *requests)
{
    vec_release(&requests->at);
    map_release(&requests->index);
}

void state_release(struct state *state)
{
    for (uint32_t i = 0; state->places && i < state->trace->n_locations; i++) {
        struct place *place = &state->places[i];
        vec_release(&place->open);
        requests_release(&place->receives);
        requests_release(&place->sends);
        intern_release(&place->channel_keys);
        vec_release(&place->channels);
        intern_release(&place->counted);
        vec_release(&place->n_counted);
    }
    vec_free(state->places);
    vec_free(state->is_of_all);
    *state = (struct state){0};
}

/* Messages. */

static void request_put(struct requests *requests, const struct event *event)
{
    *vec_push(&requests->at) = *event;
    *map_put(&requests->index, event->request, NULL) = requests->at.n;
}

static void request_take(struct requests *requests, uint64_t request)
{
    const uint64_t *index = map_get(&requests->index, request);
    if (!index)
        return;
    requests->at.at[*index - 1].kind = EV_END;
    map_remove(&requests->index, request);
    if (!requests->index.n)
        requests->at.n = 0;
}

/* `sent`: the last of n messages that were sent; NULL = they were received. */
static void follow_channel(struct place *place, struct channel_key key, const struct event *sent, int64_t n)
{
    uint32_t id = intern_put(&place->channel_keys, &key, sizeof key);
    if (id == place->channels.n)
        vec_push(&place->channels)->last.kind = EV_END;
    struct channel *channel = &place->channels.at[id];
    channel->n += sent ? n : -n;
    if (sent)
        channel->last = *sent;
}

static void follow_message(const struct state *state, struct place *place, const struct event *event)
{
    uint32_t rank = state->trace->locations[event->loc].rank;
    uint32_t peer = messages_peer(state->trace, event->comm, rank, event->peer);
    bool is_sent = event->kind == EV_SEND || event->kind == EV_ISEND;
    if (event->kind == EV_ISEND)
        request_put(&place->sends, event);
    else if (event->kind == EV_IRECV_DONE)
        request_take(&place->receives, event->request);
    if (peer == TRACE_NONE)
        return;
    struct channel_key key = {event->comm, is_sent ? rank : peer, is_sent ? peer : rank, event->tag};
    follow_channel(place, key, is_sent ? event : NULL, 1);
    place->is_never |= place->channels.n > CHANNELS_MOST;
}

/* Operations of several processes. */

static void count_operation(const struct state *state, struct place *place, uint32_t comm, enum count_space space)
{
    struct count_key key = {comm, space};
    if (comm >= state->trace->n_comms || state->trace->comms[comm].n + state->trace->comms[comm].n_remote < 2)
        return;
    uint32_t id = intern_put(&place->counted, &key, sizeof key);
    if (id == place->n_counted.n)
        vec_push(&place->n_counted);
    place->n_counted.at[id]++;
}

static void follow_rma_sync(const struct state *state, struct place *place, const struct event *event)
{
    uint32_t region = place->open.n ? place->open.at[place->open.n - 1].region : TRACE_NONE;
    enum ww_class class = region < state->trace->n_regions ? state->trace->regions[region].class : WW_LOCAL;
    place->has_operations = false;
    if (class == WW_RMA_FENCE)
        count_operation(state, place, event->comm, COUNT_FENCE);
    else if (class == WW_RMA_POST || class == WW_RMA_START)
        place->n_pending++;
    else if (class == WW_RMA_WAIT || class == WW_RMA_COMPLETE)
        place->n_pending--;
    else if (class == WW_RMA_LOCK || class == WW_RMA_UNLOCK || class == WW_RMA_FLUSH)
        place->is_never = true;
}

/* Each location. */

static bool is_call(const struct trace *trace, const struct event *event)
{
    return event->region < trace->n_regions && trace->regions[event->region].is_mpi;
}

static void follow_enter(const struct state *state, struct place *place, const struct event *event)
{
    bool calls = is_call(state->trace, event);
    *vec_push(&place->open) = *event;
    place->n_at_enter = place->n_events;
    place->n_calls += calls;
    place->is_never |= calls && state->trace->locations[event->loc].thread != 0;
}

static void follow_leave(const struct state *state, struct place *place)
{
    if (place->open.n)
        place->n_calls -= is_call(state->trace, &place->open.at[--place->open.n]);
}

static void follow_rare(const struct state *state, struct place *place, const struct event *event)
{
    switch (event->kind) {
    case EV_ICOLL_DONE:
        place->n_pending--;
        count_operation(state, place, event->comm, COUNT_NONBLOCKING);
        break;
    case EV_IO:
        count_operation(state, place, event->comm, COUNT_FILE);
        break;
    case EV_RMA_SYNC:
        follow_rma_sync(state, place, event);
        break;
    case EV_END:
        place->has_ended = true;
        place->is_never |= state->trace->locations[event->loc].thread == 0;
        break;
    case EV_CANCELLED:
    case EV_CONTROL:
    case EV_PENDING:
    case EV_UNFINISHED:
        place->is_never = true;
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
    case EV_ISEND_DONE:
        request_take(&place->sends, event->request);
        break;
    case EV_IRECV:
        request_put(&place->receives, event);
        break;
    case EV_COLL_END:
        place->n_of_all += state_is_candidate(state, event);
        count_operation(state, place, event->comm, COUNT_BLOCKING);
        break;
    case EV_ICOLL:
        place->n_pending++;
        break;
    case EV_RMA:
        place->has_operations = true;
        break;
    case EV_OFF:
    case EV_ON:
        place->off = *event;
        place->is_off = event->kind == EV_OFF;
        break;
    case EV_BINS:
        place->has_bins = true;
        break;
    default:
        follow_rare(state, place, event);
        break;
    }
    place->n_events++;
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
    return call && place->n_calls == 1 && is_call(trace, call) && trace->regions[call->region].class == WW_COLLECTIVE &&
           trace->regions[call->region].coll == coll && !place->n_pending && !place->has_operations;
}

/* All members of each communicator have done as many operations. */
static bool are_even(const struct state *state)
{
    struct intern keys = {0};
    VEC(uint64_t) counts = {0}, members = {0};
    bool are = true;
    for (uint32_t i = 0; i < state->trace->n_locations; i++) {
        const struct place *place = &state->places[i];
        for (uint32_t k = 0; k < place->counted.n; k++) {
            uint32_t id = intern_put(&keys, place->counted.items[k].bytes, place->counted.items[k].size);
            if (id == counts.n) {
                *vec_push(&counts) = place->n_counted.at[k];
                vec_push(&members);
            }
            are &= counts.at[id] == place->n_counted.at[k];
            members.at[id]++;
        }
    }
    for (uint32_t id = 0; id < keys.n && are; id++) {
        const struct count_key *key = keys.items[id].bytes;
        are = members.at[id] == (uint64_t)state->trace->comms[key->comm].n + state->trace->comms[key->comm].n_remote;
    }
    intern_release(&keys);
    vec_release(&counts);
    vec_release(&members);
    return are;
}

bool state_is_with(const struct state *state, const struct event *event, uint32_t paced)
{
    const struct place *place = &state->places[paced];
    return is_inside(state->trace, place, event->coll) && place->n_of_all == state->places[event->loc].n_of_all;
}

bool state_may_cut(const struct state *state, const struct event *event)
{
    const struct trace *trace = state->trace;
    for (uint32_t i = 0; i < trace->n_locations; i++)
        if (state->places[i].is_never ||
            (trace->locations[i].thread == 0 && !is_inside(trace, &state->places[i], event->coll)))
            return false;
    return are_even(state);
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
        struct event end = plain_event(EV_COLL_END, loc, event->time_ns);
        end.comm = event->comm;
        end.peer = event->peer;
        end.coll = event->coll;
        if (place->has_ended)
            continue;
        if (place->is_off)
            *vec_push(events) = plain_event(EV_ON, loc, event->time_ns);
        if (trace->locations[loc].thread == 0)
            *vec_push(events) = end;
        for (size_t i = place->open.n; i-- > 0;) {
            end = plain_event(EV_LEAVE, loc, event->time_ns);
            end.region = place->open.at[i].region;
            *vec_push(events) = end;
        }
        end = plain_event(EV_END, loc, event->time_ns);
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
    if (place->has_ended) {
        add_at(events, plain_event(EV_END, loc, 0), time_ns);
        return;
    }
    if (place->has_bins)
        add_at(events, plain_event(EV_BINS, loc, 0), time_ns);
    for (size_t i = 0; i < place->open.n; i++)
        add_at(events, place->open.at[i], time_ns);
    if (place->is_off)
        add_at(events, place->off, time_ns);
    for (size_t i = 0; i < place->receives.at.n; i++)
        if (place->receives.at.at[i].kind == EV_IRECV)
            add_at(events, place->receives.at.at[i], time_ns);
}

struct going {
    struct intern keys;
    VEC(struct channel) channels;
};

/* Both sides of all channels. */
static void take_channels(struct going *going, struct place *place)
{
    for (uint32_t k = 0; k < place->channel_keys.n; k++) {
        const struct channel *from = &place->channels.at[k];
        uint32_t id = intern_put(&going->keys, place->channel_keys.items[k].bytes, place->channel_keys.items[k].size);
        struct channel *to = &going->channels.at[id];
        if (id == going->channels.n) {
            to = vec_push(&going->channels);
            to->last.kind = EV_END;
        }
        to->n += from->n;
        if (from->last.kind != EV_END)
            to->last = from->last;
    }
    intern_release(&place->channel_keys);
    vec_release(&place->channels);
}

/* The messages of a channel that are on their way: the latest may still be waited for by their sender. */
static void write_channel(const struct state *state, const struct channel_key *key, struct channel channel,
                          uint64_t time_ns, event_list *events)
{
    const struct requests *sends = &state->places[channel.last.loc].sends;
    VEC(uint32_t) going = {0};
    for (uint32_t i = 0; i < sends->at.n; i++) {
        const struct event *send = &sends->at.at[i];
        bool is_here = send->kind == EV_ISEND && send->comm == key->comm && send->tag == key->tag &&
                       messages_peer(state->trace, send->comm, key->source, send->peer) == key->destination;
        if (is_here)
            *vec_push(&going) = i;
    }
    struct event sent = channel.last;
    sent.kind = EV_SEND;
    sent.flags = EVENT_WAS_SENT;
    for (int64_t left = channel.n; left > (int64_t)going.n; left--)
        add_at(events, sent, time_ns);
    for (size_t i = going.n > (size_t)channel.n ? going.n - (size_t)channel.n : 0; i < going.n; i++)
        add_at(events, sends->at.at[going.at[i]], time_ns);
    vec_release(&going);
}

void state_write_begin(struct state *state, const struct event *event, event_list *events)
{
    const struct trace *trace = state->trace;
    struct going going = {0};
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        struct place *place = &state->places[loc];
        place->was_cut = trace->locations[loc].thread == 0;
        write_place(place, loc, event->time_ns, events);
        take_channels(&going, place);
    }
    for (uint32_t i = 0; i < going.keys.n; i++) {
        const struct channel_key *key = going.keys.items[i].bytes;
        const struct channel *channel = &going.channels.at[i];
        if (channel->n <= 0 || channel->last.kind == EV_END)
            continue;
        write_channel(state, key, *channel, event->time_ns, events);
        follow_channel(&state->places[channel->last.loc], *key, &channel->last, channel->n);
    }
    intern_release(&going.keys);
    vec_release(&going.channels);
}

bool state_ends_cut(struct state *state, const struct event *event)
{
    struct place *place = &state->places[event->loc];
    bool ends = event->kind == EV_COLL_END && place->was_cut;
    place->was_cut = place->was_cut && !ends;
    return ends;
}
