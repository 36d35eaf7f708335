/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/matching.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

/* Shared by a receive and its send. */
struct queue_key {
    uint32_t comm, source, destination; /* world ranks */
    uint32_t window;
    int32_t tag;
};

/* Holds either sends or receives, never both: the first of the other kind would have taken them. */
struct queue {
    _Alignas(CACHE_LINE) struct queue_key key;
    struct message *first, *last;
    struct queue *alike; /* of the same hash */
    struct queue *made_before;
};

void messages_begin(struct messages *messages, const struct trace *trace, struct links *links)
{
    *messages = (struct messages){.trace = trace, .links = links};
    messages->early = memory_lines(trace->n_ranks + 1, sizeof *messages->early);
    messages->window = memory_lines(trace->n_ranks + 1, sizeof *messages->window);
}

void messages_begin_window(struct messages *messages, uint32_t rank, const struct event *event)
{
    if (event->request && event->flags && rank < messages->trace->n_ranks)
        messages->window[rank] = (uint32_t)event->request;
}

uint32_t messages_peer(const struct trace *trace, uint32_t comm, uint32_t rank, uint32_t peer)
{
    if (comm >= trace->n_comms)
        return TRACE_NONE;
    const struct trace_comm *group = &trace->comms[comm];
    uint32_t base = 0, n = group->n;
    if (group->n_remote) {
        /* Either side calls the other one remote. */
        for (uint32_t i = 0; i < group->n && !base; i++)
            if (group->ranks[i] == rank)
                base = group->n;
        n = base ? group->n_remote : group->n;
    }
    uint32_t world = peer < n ? group->ranks[base + peer] : TRACE_NONE;
    return world < trace->n_ranks ? world : TRACE_NONE;
}

/* `at`: the rank whose event it is, one of the two. */
static struct queue_key queue_key(const struct messages *messages, uint32_t comm, int32_t tag, uint32_t source,
                                  uint32_t destination, uint32_t at)
{
    return (struct queue_key){comm, source, destination, messages->window[at], tag};
}

static uint64_t queue_hash(const struct queue_key *key)
{
    uint64_t ranks = key_pair(key->source, key->destination), rest = key_pair(key->comm, (uint32_t)key->tag);
    return hash_u64(ranks + key->window) ^ rest * 0x9e3779b97f4a7c15u;
}

static bool keys_are_equal(const struct queue_key *a, const struct queue_key *b)
{
    return a->source == b->source && a->destination == b->destination && a->tag == b->tag && a->comm == b->comm &&
           a->window == b->window;
}

/* Tags may be many: queues that are empty go when they are the most. */
static void queues_sweep(struct messages *messages)
{
    struct queue *all = messages->all_queues;
    map_release(&messages->queues);
    messages->all_queues = NULL;
    messages->n_queues = 0;
    for (struct queue *queue = all, *next; queue; queue = next) {
        next = queue->made_before;
        if (!queue->first) {
            slab_give(&messages->queue_slab, queue);
            continue;
        }
        uint64_t *slot = map_put(&messages->queues, queue_hash(&queue->key), NULL);
        queue->alike = (struct queue *)(uintptr_t)*slot;
        *slot = (uint64_t)(uintptr_t)queue;
        queue->made_before = messages->all_queues;
        messages->all_queues = queue;
        messages->n_queues++;
    }
}

/* Borrowed until the next message is queued. */
static struct queue *queue_find(struct messages *messages, const struct queue_key *key)
{
    const uint64_t *slot = map_get(&messages->queues, queue_hash(key));
    struct queue *queue = slot ? (struct queue *)(uintptr_t)*slot : NULL;
    while (queue && !keys_are_equal(&queue->key, key))
        queue = queue->alike;
    return queue;
}

static struct queue *queue_make(struct messages *messages, const struct queue_key *key)
{
    enum { FEW = 1024 };
    if (messages->n_queues > FEW + 4 * messages->n_used)
        queues_sweep(messages);
    uint64_t *slot = map_put(&messages->queues, queue_hash(key), NULL);
    struct queue *queue = slab_new(&messages->queue_slab, struct queue);
    *queue =
        (struct queue){.key = *key, .alike = (struct queue *)(uintptr_t)*slot, .made_before = messages->all_queues};
    *slot = (uint64_t)(uintptr_t)queue;
    messages->all_queues = queue;
    messages->n_queues++;
    return queue;
}

/* `queue`: where it belongs; NULL = there is none yet. */
static void queue_push(struct messages *messages, struct queue *queue, const struct queue_key *key,
                       struct message *message)
{
    queue = queue ? queue : queue_make(messages, key);
    message->holds++;
    message->queue = queue;
    messages->n_used += !queue->first;
    if (queue->last)
        queue->last->next = message;
    else
        queue->first = message;
    queue->last = message;
}

static void queue_remove(struct messages *messages, struct message *message)
{
    struct queue *queue = message->queue;
    struct message **link = queue ? &queue->first : NULL, *before = NULL;
    if (!queue)
        return;
    while (*link != message) {
        before = *link;
        link = &before->next;
    }
    *link = message->next;
    message->next = NULL;
    message->queue = NULL;
    if (queue->last == message)
        queue->last = before;
    messages->n_used -= !queue->first;
    message_drop(messages, message);
}

static struct message *message_make(struct messages *messages, uint32_t source, uint32_t destination)
{
    struct message *message = slab_new(&messages->slab, struct message);
    message->source = source;
    message->destination = destination;
    message->holds = 1;
    return message;
}

struct message *message_hold(struct message *message)
{
    message->holds++;
    return message;
}

void message_drop(struct messages *messages, struct message *message)
{
    if (!message || --message->holds)
        return;
    point_drop(messages->links, message->send);
    point_drop(messages->links, message->receive);
    point_drop(messages->links, message->finish);
    point_drop(messages->links, message->sender_came.point);
    slab_give(&messages->slab, message);
}

/* The other side was there first: both are known now. */
static struct message *message_meet(struct messages *messages, struct message *message)
{
    message_hold(message);
    queue_remove(messages, message);
    links_wake(messages->links, &message->sleepers);
    return message;
}

static void early_remove(struct messages *messages, struct messages_early *early, size_t i)
{
    early->at[i] = early->at[--early->n];
    messages->n_early--;
}

struct message *messages_send(struct messages *messages, const struct event *event, struct point *point)
{
    uint32_t to = messages_peer(messages->trace, event->comm, point->rank, event->peer);
    if (to == TRACE_NONE)
        return NULL;
    struct queue_key key = queue_key(messages, event->comm, event->tag, point->rank, to, point->rank);
    struct queue *queue = queue_find(messages, &key);
    struct message *message = queue ? queue->first : NULL;
    bool is_awaited = message && !message->send;
    if (!is_awaited)
        message = message_make(messages, point->rank, to);
    message->send = point_hold(point);
    message->bytes = event->bytes;
    if (!is_awaited) {
        queue_push(messages, queue, &key, message);
        return message;
    }
    struct messages_early *early = &messages->early[point->rank];
    for (size_t i = 0; i < early->n; i++)
        if (early->at[i] == message)
            early_remove(messages, early, i);
    return message_meet(messages, message);
}

static struct message *receive(struct messages *messages, const struct event *event, uint32_t from, struct point *post,
                               struct point *finish)
{
    struct queue_key key = queue_key(messages, event->comm, event->tag, from, post->rank, post->rank);
    struct queue *queue = queue_find(messages, &key);
    struct message *message = queue ? queue->first : NULL;
    bool is_sent = message && message->send;
    if (!is_sent)
        message = message_make(messages, from, post->rank);
    message->receive = point_hold(post);
    message->finish = point_hold(finish);
    if (is_sent)
        return message_meet(messages, message);
    queue_push(messages, queue, &key, message);
    return message;
}

struct message *messages_receive(struct messages *messages, const struct event *event, struct point *post,
                                 struct point *finish)
{
    uint32_t from = messages_peer(messages->trace, event->comm, post->rank, event->peer);
    if (from == TRACE_NONE)
        return NULL;
    struct message *message = receive(messages, event, from, post, finish);
    message->done_ns = event->time_ns;
    if (!message->send) {
        *vec_push(&messages->early[from]) = message;
        messages->n_early++;
    }
    return message;
}

void messages_receive_unseen(struct messages *messages, const struct event *event, struct point *post)
{
    uint32_t from = messages_peer(messages->trace, event->comm, post->rank, event->peer);
    if (from == TRACE_NONE)
        return;
    struct message *message = receive(messages, event, from, post, post);
    message->done_ns = UINT64_MAX;
    message_drop(messages, message);
}

struct message *messages_sent(struct messages *messages, const struct event *event, uint32_t rank)
{
    uint32_t from = messages_peer(messages->trace, event->comm, rank, event->peer);
    if (from == TRACE_NONE)
        return NULL;
    struct queue_key key = queue_key(messages, event->comm, event->tag, from, rank, rank);
    const struct queue *queue = queue_find(messages, &key);
    struct message *message = queue ? queue->first : NULL;
    return message && message->send ? message_hold(message) : NULL;
}

size_t messages_n_under_way(struct messages *messages, uint32_t comm, int32_t tag, uint32_t source,
                            uint32_t destination)
{
    struct queue_key key = queue_key(messages, comm, tag, source, destination, destination);
    const struct queue *queue = queue_find(messages, &key);
    size_t n = 0;
    for (const struct message *message = queue ? queue->first : NULL; message && message->send; message = message->next)
        n++;
    return n;
}

bool messages_other_under_way(const struct messages *messages, uint32_t comm, int32_t tag, uint32_t source,
                              uint32_t destination, int32_t *other_tag)
{
    const struct message *newest = NULL;
    for (const struct queue *queue = messages->all_queues; queue; queue = queue->made_before) {
        bool is_other = queue->key.comm == comm ? queue->key.tag != tag : queue->key.tag == tag;
        const struct message *message = queue->last;
        if (queue->key.source != source || queue->key.destination != destination || !is_other || !message ||
            !message->send || (newest && newest->send->time_ns >= message->send->time_ns))
            continue;
        newest = message;
        *other_tag = queue->key.tag;
    }
    return newest;
}

void messages_cancel(struct messages *messages, struct message *message)
{
    if (!message->receive)
        queue_remove(messages, message);
}

void messages_give_up_early(struct messages *messages, uint32_t source, uint64_t now_ns)
{
    struct messages_early *early = &messages->early[source];
    uint64_t error_ns = messages->trace->clocks.error_ns;
    for (size_t i = 0; i < early->n;) {
        struct message *message = early->at[i];
        if (now_ns <= message->done_ns || now_ns - message->done_ns <= error_ns) {
            i++;
            continue;
        }
        early_remove(messages, early, i);
        message->is_lost = true;
        links_wake(messages->links, &message->sleepers);
        queue_remove(messages, message);
    }
}

void messages_release(struct messages *messages)
{
    for (uint32_t rank = 0; messages->early && rank < messages->trace->n_ranks; rank++)
        vec_release(&messages->early[rank]);
    vec_free(messages->early);
    vec_free(messages->window);
    slab_release(&messages->slab);
    slab_release(&messages->queue_slab);
    map_release(&messages->queues);
}

struct gather_space_state {
    uint64_t *n_joined; /* by member: operations so far */
    uint64_t *n_begun;  /* by member: turns given */
    uint64_t base;      /* number of pending.at[first] */
    size_t first;
    VEC(struct gathering *) pending;
};

struct gather_comm {
    bool is_ready, is_identity;
    struct map index; /* rank -> index + 1 */
    struct gather_space_state spaces[GATHER_N_SPACES];
};

void gatherings_begin(struct gatherings *gatherings, const struct trace *trace, struct links *links)
{
    *gatherings = (struct gatherings){.trace = trace, .links = links};
    size_t cap = 0, ended_cap = 0;
    vec_grow((void **)&gatherings->comms, &cap, trace->n_comms + 1, sizeof *gatherings->comms);
    memset(gatherings->comms, 0, (trace->n_comms + 1) * sizeof *gatherings->comms);
    vec_grow((void **)&gatherings->has_ended, &ended_cap, trace->n_ranks + 1, sizeof *gatherings->has_ended);
    memset(gatherings->has_ended, 0, (trace->n_ranks + 1) * sizeof *gatherings->has_ended);
    for (uint32_t i = 0; i < trace->n_neighbors; i++)
        *map_put(&gatherings->neighbors, key_pair(trace->neighbors[i].comm, trace->neighbors[i].rank), NULL) =
            (uint64_t)i + 1;
}

const struct trace_neighbors *gatherings_neighbors(const struct gatherings *gatherings, uint32_t comm, uint32_t rank)
{
    const uint64_t *slot = map_get(&gatherings->neighbors, key_pair(comm, rank));
    return slot ? &gatherings->trace->neighbors[*slot - 1] : NULL;
}

uint32_t gather_comm_size(const struct trace *trace, uint32_t comm)
{
    return comm == trace->n_comms ? trace->n_ranks : trace->comms[comm].n + trace->comms[comm].n_remote;
}

uint32_t gather_comm_rank(const struct trace *trace, uint32_t comm, uint32_t index)
{
    return comm == trace->n_comms ? index : trace->comms[comm].ranks[index];
}

static struct gather_comm *comm_ready(struct gatherings *gatherings, uint32_t comm)
{
    struct gather_comm *state = &gatherings->comms[comm];
    if (state->is_ready)
        return state;
    uint32_t n = gather_comm_size(gatherings->trace, comm);
    state->is_ready = state->is_identity = true;
    for (uint32_t i = 0; i < n; i++)
        if (gather_comm_rank(gatherings->trace, comm, i) != i)
            state->is_identity = false;
    for (uint32_t i = n; !state->is_identity && i-- > 0;)
        *map_put(&state->index, gather_comm_rank(gatherings->trace, comm, i), NULL) = i + 1;
    for (int space = 0; space < GATHER_N_SPACES; space++) {
        state->spaces[space].n_joined = memory_lines(n + 1, sizeof *state->spaces[space].n_joined);
        state->spaces[space].n_begun = memory_lines(n + 1, sizeof *state->spaces[space].n_begun);
    }
    return state;
}

static uint32_t comm_index(const struct gather_comm *state, uint32_t n, uint32_t rank)
{
    if (state->is_identity)
        return rank < n ? rank : TRACE_NONE;
    const uint64_t *slot = map_get(&state->index, rank);
    return slot ? (uint32_t)*slot - 1 : TRACE_NONE;
}

uint32_t gathering_member(const struct gatherings *gatherings, const struct gathering *gathering, uint32_t rank)
{
    return comm_index(&gatherings->comms[gathering->comm], gathering->n, rank);
}

static uint32_t comm_n_ended(const struct gatherings *gatherings, uint32_t comm, uint32_t n)
{
    uint32_t n_ended = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = gather_comm_rank(gatherings->trace, comm, i);
        n_ended += rank >= gatherings->trace->n_ranks || gatherings->has_ended[rank];
    }
    return n_ended;
}

/* To make, copy or free an intercommunicator takes both groups; what moves data there goes from one to the other. */
static uint32_t n_of_first_group(const struct trace *trace, const struct gather_call *call)
{
    bool moves_data = call->class == WW_COLLECTIVE || call->class == WW_ICOLLECTIVE;
    const struct trace_comm *comm = moves_data && call->comm < trace->n_comms ? &trace->comms[call->comm] : NULL;
    return comm && comm->n_remote ? comm->n : 0;
}

bool gathering_needs(const struct gathering *gathering, uint32_t index, uint32_t other)
{
    return !gathering->n_first || (index < gathering->n_first) != (other < gathering->n_first);
}

static struct gathering *gathering_make(struct gatherings *gatherings, const struct gather_call *call)
{
    uint32_t n = gather_comm_size(gatherings->trace, call->comm);
    struct gathering *gathering = NULL;
    size_t cap = 0;
    vec_grow((void **)&gathering, &cap, 1, sizeof *gathering);
    *gathering = (struct gathering){.comm = call->comm,
                                    .n = n,
                                    .n_first = n_of_first_group(gatherings->trace, call),
                                    .n_absent = comm_n_ended(gatherings, call->comm, n),
                                    .holds = 1,
                                    .class = call->class,
                                    .coll = call->coll,
                                    .root = TRACE_NONE,
                                    .last = TRACE_NONE};
    cap = 0;
    vec_grow((void **)&gathering->points, &cap, n + 1, sizeof(struct point *));
    memset(gathering->points, 0, (n + 1) * sizeof(struct point *));
    if (call->coll == WW_COLL_NEIGHBOR && call->class == WW_ICOLLECTIVE) {
        cap = 0;
        vec_grow((void **)&gathering->each, &cap, n + 1, sizeof *gathering->each);
        memset(gathering->each, 0, (n + 1) * sizeof *gathering->each);
    }
    return gathering;
}

void gathering_drop(struct gatherings *gatherings, struct gathering *gathering)
{
    if (!--gathering->holds)
        *vec_push(&gatherings->finished) = gathering;
}

void gathering_free(struct gatherings *gatherings, struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->n; i++) {
        point_drop(gatherings->links, gathering->points[i]);
        if (gathering->each)
            point_drop(gatherings->links, gathering->each[i].point);
    }
    point_drop(gatherings->links, gathering->came.point);
    vec_free(gathering->each);
    vec_free(gathering->points);
    vec_free(gathering->order);
    vec_free(gathering);
}

struct entry {
    uint64_t time_ns;
    uint32_t index;
};

static int entry_compare(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return order_of(left->time_ns, right->time_ns) ?: order_of(left->index, right->index);
}

const uint32_t *gathering_order(struct gathering *gathering)
{
    if (gathering->order)
        return gathering->order;
    VEC(struct entry) entries = {0};
    for (uint32_t i = 0; i < gathering->n; i++)
        if (gathering->points[i])
            *vec_push(&entries) = (struct entry){gathering->points[i]->time_ns, i};
    vec_sort(&entries, entry_compare);
    size_t cap = 0;
    vec_grow((void **)&gathering->order, &cap, entries.n + 1, sizeof *gathering->order);
    for (size_t i = 0; i < entries.n; i++)
        gathering->order[i] = entries.at[i].index;
    vec_release(&entries);
    return gathering->order;
}

/* Forgets complete operations at the head of the queue. Nobody can join them any more. */
static void space_advance(struct gatherings *gatherings, struct gather_space_state *space)
{
    while (space->first < space->pending.n && space->pending.at[space->first]->is_complete) {
        gathering_drop(gatherings, space->pending.at[space->first++]);
        space->base++;
    }
    /* Moving what is left when it is the smaller part keeps this O(1) an operation. */
    if (!space->first || (space->first * 2 <= space->pending.n && space->first < space->pending.n))
        return;
    size_t n_left = space->pending.n - space->first;
    memmove(space->pending.at, space->pending.at + space->first, n_left * sizeof *space->pending.at);
    space->pending.n = n_left;
    space->first = 0;
}

static void gathering_check(struct gatherings *gatherings, struct gathering *gathering)
{
    if (gathering->n_joined + gathering->n_absent < gathering->n)
        return;
    gathering->is_complete = true;
    links_wake(gatherings->links, &gathering->sleepers);
    links_wake(gatherings->links, &gathering->arrivals);
}

/* NULL when the rank had been counted as absent and comes too late. */
static struct gathering *space_next(struct gatherings *gatherings, struct gather_space_state *space, uint32_t index,
                                    const struct gather_call *call)
{
    uint64_t number = call->turn ? call->turn - 1 : space->n_begun[index]++;
    space->n_joined[index]++;
    if (number < space->base)
        return NULL;
    size_t at = space->first + (size_t)(number - space->base);
    while (at >= space->pending.n) {
        struct gathering *made = gathering_make(gatherings, call);
        *vec_push(&space->pending) = made;
    }
    return space->pending.at[at];
}

uint64_t gatherings_turn(struct gatherings *gatherings, uint32_t comm, enum gather_space space, uint32_t rank)
{
    const struct gather_comm *state = comm_ready(gatherings, comm);
    uint32_t index = comm_index(state, gather_comm_size(gatherings->trace, comm), rank);
    return index == TRACE_NONE ? 0 : ++state->spaces[space].n_begun[index];
}

uint64_t gatherings_n_joined(struct gatherings *gatherings, uint32_t comm, enum gather_space space, uint32_t rank)
{
    const struct gather_comm *state = comm_ready(gatherings, comm);
    uint32_t index = comm_index(state, gather_comm_size(gatherings->trace, comm), rank);
    return index == TRACE_NONE ? 0 : state->spaces[space].n_joined[index];
}

struct gathering *gatherings_join(struct gatherings *gatherings, const struct gather_call *call, struct point *point,
                                  uint32_t *index)
{
    if (call->comm > gatherings->trace->n_comms)
        return NULL;
    struct gather_comm *comm = comm_ready(gatherings, call->comm);
    *index = comm_index(comm, gather_comm_size(gatherings->trace, call->comm), point->rank);
    if (*index == TRACE_NONE)
        return NULL;
    struct gather_space_state *space = &comm->spaces[call->space];
    struct gathering *gathering = space_next(gatherings, space, *index, call);
    if (!gathering || gathering->is_complete)
        return NULL;
    uint32_t root = call->root + (*index < gathering->n_first ? gathering->n_first : 0);
    if (call->root != TRACE_NONE && root < gathering->n)
        gathering->root = root;
    gathering->points[(*index)] = point_hold(point);
    gathering->n_joined++;
    struct point *last = gathering->last == TRACE_NONE ? NULL : gathering->points[gathering->last];
    if (!last || point->time_ns > last->time_ns || (point->time_ns == last->time_ns && (*index) > gathering->last))
        gathering->last = (*index);
    gathering->holds++;
    links_wake(gatherings->links, &gathering->arrivals);
    gathering_check(gatherings, gathering);
    space_advance(gatherings, space);
    return gathering;
}

static void space_end_member(struct gatherings *gatherings, struct gather_space_state *space, uint32_t index)
{
    for (size_t i = space->first; i < space->pending.n; i++) {
        struct gathering *gathering = space->pending.at[i];
        if (gathering->points[index] || gathering->is_complete)
            continue;
        gathering->n_absent++;
        gathering_check(gatherings, gathering);
    }
    space_advance(gatherings, space);
}

void gatherings_end(struct gatherings *gatherings, uint32_t rank)
{
    if (gatherings->has_ended[rank])
        return;
    gatherings->has_ended[rank] = true;
    for (uint32_t i = 0; i <= gatherings->trace->n_comms; i++) {
        struct gather_comm *comm = &gatherings->comms[i];
        uint32_t index = comm->is_ready ? comm_index(comm, gather_comm_size(gatherings->trace, i), rank) : TRACE_NONE;
        for (int space = 0; index != TRACE_NONE && space < GATHER_N_SPACES; space++)
            space_end_member(gatherings, &comm->spaces[space], index);
    }
}

/* If a damaged list names a member twice, one of its places is never taken. */
static void space_end_all(struct gatherings *gatherings, struct gather_space_state *space)
{
    for (size_t i = space->first; i < space->pending.n; i++) {
        struct gathering *gathering = space->pending.at[i];
        if (gathering->is_complete)
            continue;
        gathering->n_absent = gathering->n - gathering->n_joined;
        gathering_check(gatherings, gathering);
    }
    space_advance(gatherings, space);
}

void gatherings_end_all(struct gatherings *gatherings)
{
    for (uint32_t rank = 0; rank < gatherings->trace->n_ranks; rank++)
        gatherings_end(gatherings, rank);
    for (uint32_t i = 0; i <= gatherings->trace->n_comms; i++)
        for (int space = 0; space < GATHER_N_SPACES; space++)
            space_end_all(gatherings, &gatherings->comms[i].spaces[space]);
}

void gatherings_release(struct gatherings *gatherings)
{
    for (uint32_t i = 0; gatherings->comms && i <= gatherings->trace->n_comms; i++) {
        for (int space = 0; space < GATHER_N_SPACES; space++) {
            vec_free(gatherings->comms[i].spaces[space].n_joined);
            vec_free(gatherings->comms[i].spaces[space].n_begun);
            vec_release(&gatherings->comms[i].spaces[space].pending);
        }
        map_release(&gatherings->comms[i].index);
    }
    vec_free(gatherings->comms);
    vec_free(gatherings->has_ended);
    map_release(&gatherings->neighbors);
    vec_release(&gatherings->finished);
}
