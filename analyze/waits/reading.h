/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the reader: the MPI call that a location is in, put together record by record (reading_records.c; one-sided
 * communication: reading_rma.c), and the partners that it needed (reading_partners.c).
 */
#pragma once
#include "analyze/waits/reader_state.h"

/* Completed in the present call: matched at its end, in the order of posting, as MPI does. */
struct completion {
    struct event event;
    struct point *point; /* held; NULL: posted unseen */
    uint64_t number;
    uint64_t turn; /* of a collective, known since it began; 0 */
};

/* The word of a lock, a flush or an unlock about itself. */
struct passive_sync {
    uint32_t comm; /* of its window */
    struct lock lock;
};

/* Whom a call that never ended waits for. */
struct open_for {
    uint32_t comm, peer;
    int32_t tag;
};

/* Not complete when its process ended: a receive or a non-blocking collective. */
struct pending {
    uint32_t comm, peer; /* world rank; TRACE_NONE */
    int32_t tag;
    bool is_receive;
};

/* The MPI call that a location is in. Fields that every call asks for are the first two lines of the cache. */
struct reading {
    _Alignas(CACHE_LINE) struct call *call;
    struct map requests;     /* handle -> struct request * */
    uint64_t polls_since_ns; /* polls have found nothing from then on; 0 = the call before was none */
    uint32_t region;         /* of the present or last call */
    bool has_progress, has_polls;
    bool has_called_back;   /* a function of the program, */
    bool calls_back;        /* which runs */
    bool is_passive_known;  /* passive */
    bool is_open_for_known; /* open_for: a record says so */
    VEC(struct completion) completions;
    VEC(struct message *) sent;              /* held: blocking send, or sends completed here */
    VEC(struct operation) worked;            /* one-sided operations that this call begins, completes or concerns */
    uint64_t looks_since_ns, looks_until_ns; /* the last polls that belong together */
    struct passive_sync passive;
    struct open_for open_for;
    VEC(struct message *) buffered; /* held: lie in the program's buffer, as far as is known */
    VEC(struct message *) posts;    /* held: permissions to access (MPI_Win_post) of the open epoch */
    VEC(struct pending) pending;
};

static inline uint32_t reading_rank(const struct reader *reader, uint32_t lane)
{
    return reader->replay->lanes[lane].rank;
}
/* The present call as a point of its process: one for all that it posts. Borrowed. */
struct point *reading_point(struct reader *reader, uint32_t lane);
/* The call cannot end before what the caller puts into it, with a hold. Valid until the next. */
struct need *reading_need(struct reading *reading, enum need_kind kind);
/* Borrowed; NULL when the process is no member. */
struct gathering *reading_join(struct reader *reader, uint32_t lane, struct gather_call operation, struct point *point);
/* A record inside the present call. */
void reading_record(struct reader *reader, const struct event *event);
/* A record of its process's end, in a call or outside: what it had begun and not completed. */
void reading_pending(struct reader *reader, const struct event *event);
void reading_rma_sync(struct reader *reader, uint32_t lane, const struct event *event);
/* One-sided operations, and the completion of those that have a request. */
void reading_operation(struct reader *reader, uint32_t lane, const struct event *event);
void reading_operation_done(struct reader *reader, uint32_t lane, const struct event *event);
/* Locks, flushes and unlocks. The first and the last for every call, as its process enters and leaves MPI. */
void reading_passive_begin(struct reader *reader, uint32_t lane);
void reading_passive_sync(struct reader *reader, uint32_t lane, const struct event *event);
void reading_passive_end(struct reader *reader, uint32_t lane);
/* A completed operation may have needed a partner that had left MPI: the sender or the receiver of a message, any
 * member of a collective. */
void reading_need_sender(struct reader *reader, struct reading *reading, const struct message *message);
void reading_need_receiver(struct reader *reader, struct reading *reading, const struct message *message);
void reading_need_members(struct reader *reader, uint32_t lane, struct gathering *gathering);
/* Borrowed: the oldest message that is still being sent and that nobody has received; NULL when there is none. */
const struct message *reading_oldest_send(const struct reading *reading);
const struct message *reading_oldest_buffered(const struct reading *reading); /* the same of the program's buffer */
/* At the end of the call, in this order: what it completed is matched, what it sent may have held it up. */
void reading_complete(struct reader *reader, uint32_t lane);
void reading_check_finalize(struct reader *reader, uint32_t lane);
void reading_check_sends(struct reader *reader, uint32_t lane);
