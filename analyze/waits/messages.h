/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which receive takes which send: first in, first out, for each (communicator, source, destination, tag).
 *
 * Receives may be seen before their send (some recorders write the send's record after the call): whichever comes
 * second finds the first in the queue. Memory follows the messages under way.
 */
#pragma once
#include "analyze/waits/chain.h"
#include "analyze/trace/trace.h"
#include "wrap/base/map.h"

struct message {
    struct point *send, *receive; /* entry of the send, posting of the receive; NULL = not seen yet */
    struct point *finish;         /* entry of the call that completed the receive */
    uint32_t holds;
    bool is_lost;                 /* its receive has been given up waiting for the send */
    uint64_t key;                 /* of its queue */
    uint32_t source, destination; /* world ranks */
    uint64_t bytes;               /* sent */
    uint64_t done_ns;             /* when the receive was over: sent by then; UINT64_MAX: not known yet */
    bool is_sent;                 /* the sender is through with it */
    struct comeback sender_came;  /* to complete it, when is_sent */
    struct message *next;
    struct sleepers sleepers; /* until both sides are known */
};

struct messages {
    const struct trace *trace;
    struct links *links;
    struct slab slab, queue_slab;
    struct intern channels; /* (communicator, source, destination) */
    struct map queues;      /* (channel, tag) -> struct queue */
    struct messages_early { /* receives whose send has not been seen, by source rank */
        struct message **at;
        size_t n, cap;
    } * early;
    uint64_t n_lost;
};

void messages_begin(struct messages *messages, const struct trace *trace, struct links *links);
void messages_release(struct messages *messages);
/* The world rank of an event's peer, seen by `rank`; TRACE_NONE when there is none (MPI_PROC_NULL, outside). */
uint32_t messages_peer(const struct trace *trace, uint32_t comm, uint32_t rank, uint32_t peer);
/* Both return the message with a hold, or NULL when the peer is none. The points get a hold. */
struct message *messages_send(struct messages *messages, const struct event *event, struct point *point);
struct message *messages_receive(struct messages *messages, const struct event *event, struct point *post,
                                 struct point *finish);
/* The first message on its way to `rank` that a probe can have found, with a hold; NULL: none is known. */
struct message *messages_sent(struct messages *messages, const struct event *event, uint32_t rank);
/* A message with this tag has been sent and nobody received it; the ranks are world ranks. */
bool messages_is_under_way(struct messages *messages, uint32_t comm, int32_t tag, uint32_t source,
                           uint32_t destination);
/* The send was cancelled: nobody receives it. */
void messages_cancel(struct messages *messages, struct message *message);
/* A process goes on at now_ns: what was received from it long before must have been sent in calls that are missing. */
void messages_give_up(struct messages *messages, uint32_t source, uint64_t now_ns);
struct message *message_hold(struct message *message);
void message_drop(struct messages *messages, struct message *message);
