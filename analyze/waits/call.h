/* SPDX-License-Identifier: BSD-3-Clause */
/* A call of MPI as the replay has it: what it needs before it can end, and what released it. */
#pragma once
#include "analyze/waits/matching.h"
#include "analyze/waits/onesided.h"
#include "analyze/waits/progress.h"
#include "analyze/waits/sink.h"

/* A receive to be posted: by the only thing that the call did, a send; or perhaps, by one that also received. */
enum need_kind { NEED_SEND, NEED_RECEIVE, NEED_POST, NEED_GATHERING, NEED_LOCK, NEED_TARGET };

/* The things before which a call cannot end. Holds its object. */
struct need {
    enum need_kind kind;
    uint32_t index; /* of this member in the gathering */
    union {
        struct message *message;     /* SEND, RECEIVE, POST */
        struct gathering *gathering; /* GATHERING */
        struct lock_wait *lock_wait; /* LOCK */
    };
    struct point *point;                     /* the target's return to MPI; the member that relays; the post */
    bool is_judged;                          /* whether there is one */
    bool is_inferred;                        /* a lock that may have been deferred */
    uint64_t from_ns;                        /* when the target had left MPI */
    const struct trace_neighbors *neighbors; /* of this member, for a neighbourhood collective; NULL = unknown */
};

static inline bool need_is_message(const struct need *need)
{
    return need->kind == NEED_SEND || need->kind == NEED_RECEIVE || need->kind == NEED_POST;
}

/* The wait of a call. */
struct release {
    struct point *point; /* held by the call's needs */
    enum wait_kind kind;
    bool is_inferred;
    bool is_rest;          /* what is left behind the release before it */
    uint64_t from_ns;      /* it was not waited for before */
    uint32_t *occurrence;  /* by which waits at a collective belong together; NULL: this one stands for itself */
    struct point *came_by; /* likewise: in the same wait that process had come before, for certain; NULL = it had not */
};

/* In the order of time: the certain one, in two where a CPU was lacked, then the one that is inferred. */
struct releases {
    uint32_t n;
    struct release at[3];
};

/* A function of the program that MPI called in a call. */
struct callback {
    struct polling_part did;
    struct point *back; /* held: its return, which others may wait for; NULL = too short for that */
};

/* By lines of the cache: what every call asks for first. The room of its vectors is used again by a later call. */
struct call {
    _Alignas(CACHE_LINE) struct call *next;
    uint64_t enter_ns, leave_ns;
    uint64_t since_ns; /* from when it may have waited. It was entered, or the polls before it began to fail */
    uint32_t site;
    enum ww_class class;
    uint32_t n_waited; /* so many of its waits have been explained */
    bool is_polling;   /* nothing but failing polls, a probe, or MPI_Wait for nothing: what follows ends the wait */
    bool is_after_nap; /* the poll before was of the same loop, however long ago */
    bool is_entered, is_forced;
    bool is_off;          /* recording was switched off. It is matched, but its time is not explained */
    bool is_open;         /* never left: the trace ends inside */
    bool is_outside;      /* it needed processes outside of the run */
    bool ends_polls;      /* the trace ends with the polls before it, and it is no call, but stands for that end */
    bool is_judged;       /* what it waited for is known: its releases */
    struct mark *mark;    /* held: where it was at entry */
    struct point *point;  /* held: to be set at entry; NULL = nobody could wait for it */
    struct sparse before; /* atoms since the call before */
    struct sparse lent;   /* spread_stretch */
    VEC(struct need) needs;
    struct spent spent;
    struct idle idle;
    VEC(struct callback) callbacks;
    VEC(uint32_t) partners; /* ranks that it sent to or worked on for long, whether or not a need says so */
    struct sparse counts;   /* bins since they were last taken */
    struct releases releases;
};
