/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partners that compute while an operation of theirs is under way. The sender of a large message has begun it and left
 * MPI, or its receiver has posted it and left; a member has started a collective and left. If the MPI library has no
 * thread of its own, the others wait until it comes back, which progress.h tells from the times.
 */
#include "analyze/waits/reading.h"
#include "analyze/waits/waits.h"
#include <string.h>

/* Kinds of operations (struct progress_part). */
static const uint64_t kind_message = (uint64_t)2 << 62, kind_collective = (uint64_t)3 << 62;

/* From when the call had nothing else to wait for: since it, or its polls, began, or later for certain. */
static struct progress_part part_under_way(const struct reading *reading, uint64_t certain_ns)
{
    uint64_t since_ns = reading->polls_since_ns ? reading->polls_since_ns : reading->call->enter_ns;
    uint64_t from_ns = certain_ns > since_ns ? certain_ns : since_ns;
    return (struct progress_part){
        .enter_ns = from_ns, .leave_ns = reading->call->leave_ns, .idle = &reading->call->idle};
}

/* A damaged archive may lack a rank's main thread. */
static const char *host_of(const struct reader *reader, uint32_t rank)
{
    uint32_t lane = reader->lanes->rank_lane[rank];
    const char *host = lane < reader->trace->n_locations ? reader->trace->locations[lane].host : NULL;
    return host ? host : "";
}

enum side { SENDER, RECEIVER };

/* Messages that libraries treat alike: by size, whether they leave the node, and who of the two is waited for. */
static uint64_t message_kind(const struct reader *reader, const struct message *message, enum side side)
{
    uint64_t magnitude = 0;
    while (message->bytes >> magnitude > 1)
        magnitude++;
    bool is_near = !strcmp(host_of(reader, message->source), host_of(reader, message->destination));
    return kind_message | magnitude << 2 | (uint64_t)side << 1 | is_near;
}

/* The partner came back in time to let the call end, or else stayed away; or neither, which tells nothing. */
static void need_comeback(struct reader *reader, struct reading *reading, const struct progress_part *part,
                          struct comeback came, bool stayed_away)
{
    bool may_end = progress_may_end(part, &came);
    if (!may_end && !stayed_away)
        return;
    struct point *point = progress_judge(&reader->progress, part, may_end ? came : (struct comeback){0});
    if (point)
        reading_need(reading, (struct need){.kind = NEED_TARGET, .point = point_hold(point), .from_ns = came.left_ns});
}

void reading_need_sender(struct reader *reader, struct reading *reading, const struct message *message)
{
    if (!message->send || message->source == message->destination)
        return;
    struct progress_part part = part_under_way(reading, message->send->time_ns);
    part.kind = message_kind(reader, message, SENDER);
    struct comeback came =
        message->is_sent ? message->sender_came : progress_comeback(&reader->progress, message->source);
    need_comeback(reader, reading, &part, came,
                  !message->is_sent && progress_stayed_away(&reader->progress, &part, message->source));
}

/* The call that the receiver came back with need not be the one that completes the receive. Once it has the message,
 * nobody needs it any more: a sender that notices late had no CPU. */
void reading_need_receiver(struct reader *reader, struct reading *reading, const struct message *message)
{
    if (message->source == message->destination)
        return;
    struct progress_part part = part_under_way(reading, message->receive ? message->receive->time_ns : 0);
    part.kind = message_kind(reader, message, RECEIVER);
    struct comeback came = progress_comeback(&reader->progress, message->destination);
    uint64_t needed_until_ns = message->receive ? message->done_ns : UINT64_MAX;
    if (came.point && came.point->time_ns > needed_until_ns)
        return;
    need_comeback(reader, reading, &part, came,
                  !message->receive && progress_stayed_away(&reader->progress, &part, message->destination));
}

/* Of the members that have not completed the operation. */
static struct comeback last_comeback(const struct reader *reader, const struct gathering *gathering,
                                     const struct progress_part *part, bool *is_away)
{
    struct comeback last = gathering->came;
    for (uint32_t i = 0; i < gathering->n; i++) {
        uint32_t rank = gathering->points[i] ? TRACE_NONE : gather_comm_rank(reader->trace, gathering->comm, i);
        if (rank >= reader->trace->n_ranks)
            continue;
        struct comeback came = progress_comeback(&reader->progress, rank);
        if (came.point && (!last.point || came.point->time_ns > last.point->time_ns))
            last = came;
        *is_away |= progress_stayed_away(&reader->progress, part, rank);
    }
    return last;
}

static void remember_comeback(struct reader *reader, uint32_t lane, struct gathering *gathering)
{
    struct comeback mine = progress_comeback(&reader->progress, reader->lanes->at[lane].rank);
    const struct point *last = gathering->came.point;
    if (mine.point && (!last || mine.point->time_ns > last->time_ns))
        comeback_set(reader->replay->links, &gathering->came, mine);
}

/* Of the members that have come so far; of a rooted collective that is too late for some of them. */
static uint64_t last_start(const struct gathering *gathering)
{
    const struct point *last = gathering->last == TRACE_NONE ? NULL : gathering->points[gathering->last];
    return last && waits_need_all(gathering->coll) ? last->time_ns : 0;
}

void reading_need_members(struct reader *reader, uint32_t lane, struct gathering *gathering)
{
    struct reading *reading = &reader->readings[lane];
    if (!gathering || gathering->coll == WW_COLL_NEIGHBOR) /* which needs some members only */
        return;
    struct progress_part part = part_under_way(reading, last_start(gathering));
    part.kind = kind_collective | (uint64_t)gathering->coll << 32 | gathering->comm;
    bool is_away = false;
    struct comeback last = {0};
    if (progress_is_long(&part))
        last = last_comeback(reader, gathering, &part, &is_away);
    if (is_away && waits_need_all(gathering->coll))
        last = (struct comeback){0};
    need_comeback(reader, reading, &part, last, is_away);
    remember_comeback(reader, lane, gathering);
}
