/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/messages.h"

/* Holds either sends or receives, never both: the first of the other kind would have taken them. */
struct queue {
    struct message *first, *last;
};

/* Clocks are corrected to far less. */
enum { EARLY_TOLERANCE_NS = 1000000 };

void messages_begin(struct messages *messages, const struct trace *trace, struct links *links)
{
    *messages = (struct messages){.trace = trace, .links = links};
    size_t cap = 0;
    vec_grow((void **)&messages->early, &cap, trace->n_ranks + 1, sizeof *messages->early);
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++)
        messages->early[rank] = (struct messages_early){0};
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

static uint64_t queue_key(struct messages *messages, const struct event *event, uint32_t source, uint32_t destination)
{
    uint32_t channel[3] = {event->comm, source, destination};
    return (uint64_t)intern_put(&messages->channels, channel, sizeof channel) << 32 | (uint32_t)event->tag;
}

static struct queue *queue_at(struct messages *messages, uint64_t key)
{
    uint64_t *slot = map_put(&messages->queues, key, NULL);
    if (!*slot) {
        struct queue *queue = slab_new(&messages->queue_slab, struct queue);
        *slot = (uint64_t)(uintptr_t)queue;
    }
    return (struct queue *)(uintptr_t)*slot;
}

static void queue_push(struct messages *messages, uint64_t key, struct message *message)
{
    struct queue *queue = queue_at(messages, key);
    message->holds++;
    message->key = key;
    if (queue->last)
        queue->last->next = message;
    else
        queue->first = message;
    queue->last = message;
}

/* Takes one message out, and the queue away with its last: tags may be many. */
static void queue_remove(struct messages *messages, struct message *message)
{
    struct queue *queue = queue_at(messages, message->key);
    struct message **link = &queue->first, *before = NULL;
    while (*link && *link != message) {
        before = *link;
        link = &before->next;
    }
    if (!*link)
        return;
    *link = message->next;
    message->next = NULL;
    if (queue->last == message)
        queue->last = before;
    if (!queue->first) {
        map_remove(&messages->queues, message->key);
        slab_give(&messages->queue_slab, queue);
    }
    message_drop(messages, message);
}

static struct message *queue_first(struct messages *messages, uint64_t key)
{
    const uint64_t *slot = map_get(&messages->queues, key);
    return slot ? ((struct queue *)(uintptr_t)*slot)->first : NULL;
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

static void early_remove(struct messages_early *early, const struct message *message)
{
    for (size_t i = 0; i < early->n; i++)
        if (early->at[i] == message)
            early->at[i] = early->at[--early->n];
}

struct message *messages_send(struct messages *messages, const struct event *event, struct point *point)
{
    uint32_t to = messages_peer(messages->trace, event->comm, point->rank, event->peer);
    if (to == TRACE_NONE)
        return NULL;
    uint64_t key = queue_key(messages, event, point->rank, to);
    struct message *message = queue_first(messages, key);
    bool is_awaited = message && !message->send;
    if (!is_awaited)
        message = message_make(messages, point->rank, to);
    message->send = point_hold(point);
    message->bytes = event->bytes;
    if (!is_awaited) {
        queue_push(messages, key, message);
        return message;
    }
    early_remove(&messages->early[point->rank], message);
    return message_meet(messages, message);
}

struct message *messages_receive(struct messages *messages, const struct event *event, struct point *post,
                                 struct point *finish)
{
    uint32_t from = messages_peer(messages->trace, event->comm, post->rank, event->peer);
    if (from == TRACE_NONE)
        return NULL;
    uint64_t key = queue_key(messages, event, from, post->rank);
    struct message *message = queue_first(messages, key);
    bool is_sent = message && message->send;
    if (!is_sent)
        message = message_make(messages, from, post->rank);
    message->receive = point_hold(post);
    message->finish = point_hold(finish);
    message->done_ns = event->time_ns;
    if (is_sent)
        return message_meet(messages, message);
    queue_push(messages, key, message);
    *vec_push(&messages->early[from]) = message;
    return message;
}

struct message *messages_sent(struct messages *messages, const struct event *event, uint32_t rank)
{
    uint32_t from = messages_peer(messages->trace, event->comm, rank, event->peer);
    if (from == TRACE_NONE)
        return NULL;
    struct message *message = queue_first(messages, queue_key(messages, event, from, rank));
    return message && message->send ? message_hold(message) : NULL;
}

bool messages_is_under_way(struct messages *messages, uint32_t comm, int32_t tag, uint32_t source, uint32_t destination)
{
    struct event like = {.comm = comm, .tag = tag};
    const struct message *message = queue_first(messages, queue_key(messages, &like, source, destination));
    return message && message->send;
}

void messages_cancel(struct messages *messages, struct message *message)
{
    if (!message->receive)
        queue_remove(messages, message);
}

void messages_give_up(struct messages *messages, uint32_t source, uint64_t now_ns)
{
    struct messages_early *early = &messages->early[source];
    for (size_t i = 0; i < early->n;) {
        struct message *message = early->at[i];
        if (now_ns <= message->done_ns || now_ns - message->done_ns <= EARLY_TOLERANCE_NS) {
            i++;
            continue;
        }
        early->at[i] = early->at[--early->n];
        message->is_lost = true;
        messages->n_lost++;
        links_wake(messages->links, &message->sleepers);
        queue_remove(messages, message);
    }
}

void messages_release(struct messages *messages)
{
    for (uint32_t rank = 0; messages->early && rank < messages->trace->n_ranks; rank++)
        vec_release(&messages->early[rank]);
    vec_free(messages->early);
    slab_release(&messages->slab);
    slab_release(&messages->queue_slab);
    intern_release(&messages->channels);
    map_release(&messages->queues);
}
