/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partners that compute while an operation of theirs is under way. The sender of a large message has begun it and left
 * MPI; a member has started a collective and left. If the MPI library has no thread of its own, the others wait until
 * it comes back, which progress.h tells from the times.
 */
#include "analyze/pass/reading.h"
#include "analyze/pass/waits.h"
#include <string.h>

/* Kinds of operations (struct progress_part). */
static const uint64_t kind_message = (uint64_t)2 << 62, kind_collective = (uint64_t)3 << 62;

static struct progress_part part_under_way(const struct reading *reading)
{
    uint64_t since_ns = reading->polls_since_ns ? reading->polls_since_ns : reading->call->enter_ns;
    return (struct progress_part){
        .enter_ns = since_ns, .leave_ns = reading->call->leave_ns, .idle = &reading->call->idle};
}

static const char *host_of(const struct reader *reader, uint32_t rank)
{
    const char *host = reader->trace->locations[reader->lanes->rank_lane[rank]].host;
    return host ? host : "";
}

/* Messages that libraries treat alike: by size, and whether they leave the node. */
static uint64_t message_kind(const struct reader *reader, const struct message *message, uint64_t bytes)
{
    uint64_t magnitude = 0;
    while (bytes >> magnitude > 1)
        magnitude++;
    bool is_near = !strcmp(host_of(reader, message->source), host_of(reader, message->destination));
    return kind_message | magnitude << 1 | is_near;
}

static void need_comeback(struct reader *reader, uint32_t lane, const struct progress_part *part,
                          struct comeback comeback)
{
    struct point *point = progress_judge(&reader->progress, part, comeback);
    if (point)
        reading_need(&reader->readings[lane], (struct need){.kind = NEED_TARGET, .point = point_hold(point)});
}

void reading_need_sender(struct reader *reader, uint32_t lane, const struct event *event, const struct message *message)
{
    struct progress_part part = part_under_way(&reader->readings[lane]);
    part.kind = message_kind(reader, message, event->bytes);
    struct comeback came =
        message->is_sent ? message->sender_came : progress_comeback(&reader->progress, message->source);
    if (message->source == message->destination)
        return;
    if (progress_may_end(&part, &came))
        need_comeback(reader, lane, &part, came);
    else if (!message->is_sent && progress_stayed_away(&reader->progress, &part, message->source))
        need_comeback(reader, lane, &part, (struct comeback){0});
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

void reading_need_members(struct reader *reader, uint32_t lane, struct gathering *gathering)
{
    if (!gathering || gathering->coll == WW_COLL_NEIGHBOR) /* which needs some members only */
        return;
    struct progress_part part = part_under_way(&reader->readings[lane]);
    part.kind = kind_collective | (uint64_t)gathering->coll << 32 | gathering->comm;
    bool is_away = false;
    struct comeback last = {0};
    if (progress_is_long(&part))
        last = last_comeback(reader, gathering, &part, &is_away);
    bool is_alone = is_away && (waits_need_all(gathering->coll) || !progress_may_end(&part, &last));
    if (!is_alone && progress_may_end(&part, &last))
        need_comeback(reader, lane, &part, last);
    else if (is_alone)
        need_comeback(reader, lane, &part, (struct comeback){0});
    remember_comeback(reader, lane, gathering);
}
