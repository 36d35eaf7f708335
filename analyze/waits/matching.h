/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of several processes that belong together: a receive and its send, the collective calls of the members of a
 * communicator.
 *
 * Which receive takes which send: first in, first out, for each (communicator, source, destination, tag).
 *
 * In a run recorded in windows, a message that was sent or received between two of them has no other side: those of one
 * window match each other only.
 *
 * Receives may be seen before their send (some recorders write the send's record after the call): whichever comes
 * second finds the first in the queue. Memory follows the messages under way.
 */
#pragma once
#include "analyze/trace/trace.h"
#include "analyze/waits/links.h"
#include "wrap/base/containers.h"

struct message {
    struct point *send;    /* its entry; NULL = not seen yet */
    struct point *receive; /* its posting; likewise */
    struct point *finish;  /* entry of the call that completed the receive */
    struct queue *queue;   /* that it stands in; NULL = it is in none any more */
    struct message *next;
    uint32_t holds;
    bool is_lost;                 /* its receive has been given up waiting for the send */
    bool is_sent;                 /* the sender is through with it */
    struct sleepers sleepers;     /* until both sides are known */
    uint64_t done_ns;             /* when the receive was over: sent by then; UINT64_MAX: not known yet */
    uint32_t source, destination; /* world ranks */
    uint64_t bytes;               /* sent */
    struct comeback sender_came;  /* to complete it, when is_sent */
};

struct messages {
    const struct trace *trace;
    struct links *links;
    struct slab slab, queue_slab;
    struct map queues;        /* by the hash of what they are for: the first struct queue of it */
    struct queue *all_queues; /* linked by `made_before` */
    size_t n_queues, n_used;  /* all; those with a message in them */
    struct messages_early {   /* receives whose send has not been seen, by source rank */
        struct message **at;
        size_t n, cap;
    } *early;
    size_t n_early;   /* of all ranks */
    uint32_t *window; /* by rank: the one that its events are of; 0 = the first, or there are none */
};

void messages_begin(struct messages *messages, const struct trace *trace, struct links *links);
void messages_release(struct messages *messages);
/* Messages from this rank are of the window that begins with this event. */
void messages_begin_window(struct messages *messages, uint32_t rank, const struct event *event);
/* The world rank of an event's peer, seen by `rank`; TRACE_NONE when there is none (MPI_PROC_NULL, outside). */
uint32_t messages_peer(const struct trace *trace, uint32_t comm, uint32_t rank, uint32_t peer);
/* Both return the message with a hold, or NULL when the peer is none. The points get a hold. */
struct message *messages_send(struct messages *messages, const struct event *event, struct point *point);
struct message *messages_receive(struct messages *messages, const struct event *event, struct point *post,
                                 struct point *finish);
/* The receive that was posted there was freed while it was pending. It takes its message, and nobody sees when. */
void messages_receive_unseen(struct messages *messages, const struct event *event, struct point *post);
/* The first message on its way to `rank` that a probe can have found, with a hold; NULL: none is known. */
struct message *messages_sent(struct messages *messages, const struct event *event, uint32_t rank);
/* The messages with this tag that were sent and that nobody received. The ranks are world ranks. */
size_t messages_n_under_way(struct messages *messages, uint32_t comm, int32_t tag, uint32_t source,
                            uint32_t destination);
/* Another one has been sent by `source` that nobody received: with another tag, or with this one on another
 * communicator. The newest of them. */
bool messages_other_under_way(const struct messages *messages, uint32_t comm, int32_t tag, uint32_t source,
                              uint32_t destination, int32_t *other_tag);
/* The send was cancelled: nobody receives it. */
void messages_cancel(struct messages *messages, struct message *message);
/* A process goes on at now_ns: what was received from it long before must have been sent in calls that are missing. */
void messages_give_up_early(struct messages *messages, uint32_t source, uint64_t now_ns);
static inline void messages_give_up(struct messages *messages, uint32_t source, uint64_t now_ns)
{
    if (messages->n_early && messages->early[source].n)
        messages_give_up_early(messages, source, now_ns);
}
struct message *message_hold(struct message *message);
void message_drop(struct messages *messages, struct message *message);

/*
 * Which collective calls of the members of a communicator belong together: the n-th of each. Blocking and non-blocking
 * operations, fences, and operations on files are counted apart, since they never match each other.
 *
 * A gathering lives until all members that will come have come and their calls have been replayed. A member whose
 * process ended without coming is absent. Nobody waits for it any more.
 */

struct gathering {
    uint32_t comm;
    uint32_t n, n_joined, n_absent;
    uint32_t holds;
    bool is_complete;
    enum ww_class class; /* of the call, e.g. WW_COMM_CREATE */
    enum ww_coll coll;
    uint32_t n_first;         /* members of the first of two groups that wait for each other; 0: all for all */
    uint32_t root;            /* index of the root; TRACE_NONE */
    uint32_t last;            /* index of the last to arrive so far; ties: the highest index; TRACE_NONE */
    struct point **points;    /* by index: when it came, held; NULL = not yet */
    uint32_t *order;          /* gathering_order */
    struct comeback came;     /* of those who have completed it, the last to come back to MPI for that */
    struct comeback *each;    /* in a neighbourhood likewise, by index; NULL in others */
    struct sleepers sleepers; /* until it is complete */
    struct sleepers arrivals; /* until somebody more has come */
    uint32_t occurrence;      /* by which the waits at it are known to belong together (history.h) */
    uint32_t rest_occurrence; /* likewise, of what is left of them (struct release) */
    struct point *readiest;   /* who would have come last if none had lacked a CPU; NULL = it is not known yet */
};

struct gatherings {
    const struct trace *trace;
    struct links *links;
    struct gather_comm *comms;        /* by communicator; the last is for MPI_Finalize */
    bool *has_ended;                  /* by rank */
    struct map neighbors;             /* (communicator, rank) -> index in trace->neighbors + 1 */
    VEC(struct gathering *) finished; /* no holds left; the owner must release them */
};

enum gather_space { GATHER_BLOCKING, GATHER_NONBLOCKING, GATHER_FENCE, GATHER_FILE, GATHER_N_SPACES };

/* A member's word on the operation it takes part in. */
struct gather_call {
    uint32_t comm; /* trace->n_comms: all ranks, for MPI_Finalize */
    enum gather_space space;
    enum ww_class class;
    enum ww_coll coll;
    uint32_t root; /* rank in the communicator, of the other group where there are two; TRACE_NONE */
    uint64_t turn; /* from gatherings_turn; 0: the next */
};

void gatherings_begin(struct gatherings *gatherings, const struct trace *trace, struct links *links);
void gatherings_release(struct gatherings *gatherings);
/* The member begins an operation that it will join at its end, when others may have ended that it began later: which
 * one that will be. 0 when the process is no member. */
uint64_t gatherings_turn(struct gatherings *gatherings, uint32_t comm, enum gather_space space, uint32_t rank);
/* Joins the next operation of this communicator, or the one of that turn; returns it with a hold, and the member's
 * index. NULL when the process is no member. */
struct gathering *gatherings_join(struct gatherings *gatherings, const struct gather_call *call, struct point *point,
                                  uint32_t *index);
/* The rank will not come any more. */
void gatherings_end(struct gatherings *gatherings, uint32_t rank);
/* The end of the trace: whoever has not come will not come. */
void gatherings_end_all(struct gatherings *gatherings);
/* The number of operations of the communicator that this rank has joined. */
uint64_t gatherings_n_joined(struct gatherings *gatherings, uint32_t comm, enum gather_space space, uint32_t rank);
/* NULL when the communicator has no topology that is known. */
const struct trace_neighbors *gatherings_neighbors(const struct gatherings *gatherings, uint32_t comm, uint32_t rank);
void gathering_drop(struct gatherings *gatherings, struct gathering *gathering);
/* The n_joined members of a complete gathering in the order of their entries. Owned by it. */
const uint32_t *gathering_order(struct gathering *gathering);
void gathering_free(struct gatherings *gatherings, struct gathering *gathering);
/* World ranks of the communicator's n members (both sides of an intercommunicator). */
uint32_t gather_comm_size(const struct trace *trace, uint32_t comm);
uint32_t gather_comm_rank(const struct trace *trace, uint32_t comm, uint32_t index);
/* False of two members of one group, where the operation is one of two groups. */
bool gathering_needs(const struct gathering *gathering, uint32_t index, uint32_t other);
/* Which of its members a rank is; TRACE_NONE. */
uint32_t gathering_member(const struct gatherings *gatherings, const struct gathering *gathering, uint32_t rank);
