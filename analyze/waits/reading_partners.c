/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partners that compute while an operation of theirs is under way. The sender of a large message has begun it and left
 * MPI, or its receiver has posted it and left. A member has started a collective and left. If the MPI library has no
 * thread of its own, the others wait until it comes back, which progress.h tells from the times.
 */
#include "analyze/waits/reading.h"
#include "analyze/waits/call_classes.h"
#include <string.h>

/* Kinds of operations (struct progress_part). */
static const uint64_t kind_message = (uint64_t)2 << 62, kind_collective = (uint64_t)3 << 62;

/* From when the call had nothing else to wait for: since it, or its polls, began, or later for certain. */
static struct progress_part part_under_way(const struct reading *reading, uint64_t certain_ns)
{
    uint64_t since_ns = reading->call->since_ns, from_ns = certain_ns > since_ns ? certain_ns : since_ns;
    return (struct progress_part){
        .enter_ns = from_ns, .leave_ns = reading->call->leave_ns, .idle = &reading->call->idle};
}

/* A damaged archive may lack a rank's main thread. */
static const char *host_of(const struct reader *reader, uint32_t rank)
{
    uint32_t lane = reader->main_lanes[rank];
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
static bool tells_something(const struct reader *reader, const struct progress_part *part, const struct comeback *came,
                            bool stayed_outside)
{
    return stayed_outside || progress_may_end(&reader->progress, part, came);
}

static void need_comeback(struct reader *reader, struct reading *reading, const struct progress_part *part,
                          struct comeback came)
{
    bool may_end = progress_may_end(&reader->progress, part, &came);
    came = progress_judge(&reader->progress, part, may_end ? came : (struct comeback){0});
    if (!came.point)
        return;
    struct need *need = reading_need(reading, NEED_TARGET);
    need->point = point_hold(came.point);
    need->from_ns = came.left_ns;
}

void reading_need_sender(struct reader *reader, struct reading *reading, const struct message *message)
{
    if (!message->send || message->source == message->destination)
        return;
    struct progress_part part = part_under_way(reading, message->send->time_ns);
    struct comeback came =
        message->is_sent ? message->sender_came : progress_comeback(&reader->progress, message->source);
    bool stayed_outside = !message->is_sent && progress_stayed_outside(&reader->progress, &part, message->source);
    if (!tells_something(reader, &part, &came, stayed_outside))
        return;
    part.kind = message_kind(reader, message, SENDER);
    need_comeback(reader, reading, &part, came);
}

/* The call that the receiver came back with need not be the one that completes the receive. Once it has the message,
 * nobody needs it any more: a sender that notices late had no CPU. */
void reading_need_receiver(struct reader *reader, struct reading *reading, const struct message *message)
{
    if (message->source == message->destination)
        return;
    struct progress_part part = part_under_way(reading, message->receive ? message->receive->time_ns : 0);
    struct comeback came = progress_comeback(&reader->progress, message->destination);
    uint64_t needed_until_ns = message->receive ? message->done_ns : UINT64_MAX;
    bool stayed_outside = !message->receive && progress_stayed_outside(&reader->progress, &part, message->destination);
    if ((came.point && came.point->time_ns > needed_until_ns) || !tells_something(reader, &part, &came, stayed_outside))
        return;
    part.kind = message_kind(reader, message, RECEIVER);
    need_comeback(reader, reading, &part, came);
}

/* A member of a prefix reduction needs those before it. Whether the library makes it wait for those behind it as well
 * is another question, which these answer: members before it go on while the ones behind are away. In a neighbourhood
 * a member needs those that it receives from, and perhaps those that it sends to. */
enum others { ALL_OTHERS, THOSE_BEFORE, THOSE_BEHIND, SOURCES, DESTINATIONS };

/* The other members that are asked about. */
struct asked {
    enum others others;
    const uint32_t *members; /* first .. end of these; NULL: of all */
    uint32_t first, end;
};

/* Of those that have completed it, the one that came back last for that. */
static struct comeback completed_comeback(const struct reader *reader, const struct gathering *gathering,
                                          const struct asked *asked)
{
    struct comeback last = gathering->came;
    if (!asked->members) {
        uint32_t came = gathering_member(reader->replay->gatherings, gathering, last.point ? last.point->rank : 0);
        return last.point && came >= asked->first && came < asked->end ? last : (struct comeback){0};
    }
    last = (struct comeback){0};
    for (uint32_t i = asked->first; i < asked->end; i++) {
        const struct comeback *came = asked->members[i] < gathering->n ? &gathering->each[asked->members[i]] : &last;
        if (came->point && (!last.point || came->point->time_ns > last.point->time_ns))
            last = *came;
    }
    return last;
}

/* The one of them that came back last, to this operation or, if that is not completed, to any. */
static struct comeback last_comeback(const struct reader *reader, const struct gathering *gathering,
                                     const struct asked *asked, const struct progress_part *part, bool *is_outside)
{
    struct comeback last = completed_comeback(reader, gathering, asked);
    for (uint32_t i = asked->first; i < asked->end; i++) {
        uint32_t member = asked->members ? asked->members[i] : i;
        if (member >= gathering->n || gathering->points[member])
            continue;
        uint32_t rank = gather_comm_rank(reader->trace, gathering->comm, member);
        if (rank >= reader->trace->n_ranks)
            continue;
        struct comeback back = progress_comeback(&reader->progress, rank);
        if (back.point && (!last.point || back.point->time_ns > last.point->time_ns))
            last = back;
        *is_outside |= progress_stayed_outside(&reader->progress, part, rank);
    }
    return last;
}

static void need_others(struct reader *reader, uint32_t lane, const struct gathering *gathering, struct asked asked)
{
    struct reading *reading = &reader->readings[lane];
    /* Since the last of the members started that have come so far; of a rooted collective that is too late for some. */
    bool needs_all = coll_needs_all(gathering->coll);
    const struct point *start = needs_all && gathering->last != TRACE_NONE ? gathering->points[gathering->last] : NULL;
    struct progress_part part = part_under_way(reading, start ? start->time_ns : 0);
    part.kind = kind_collective | (uint64_t)asked.others << 48 | (uint64_t)gathering->coll << 32 | gathering->comm;
    bool is_outside = false;
    if (!progress_is_long(&reader->progress, &part))
        return;
    struct comeback last = last_comeback(reader, gathering, &asked, &part, &is_outside);
    if (is_outside && needs_all)
        last = (struct comeback){0};
    if (tells_something(reader, &part, &last, is_outside))
        need_comeback(reader, reading, &part, last);
}

/* Most neighbourhoods are the same both ways. */
static void need_neighbors(struct reader *reader, uint32_t lane, const struct gathering *gathering,
                           const struct trace_neighbors *at)
{
    uint32_t n_in = at->n_in, n = n_in + at->n_out;
    bool is_same = at->n_in == at->n_out && !memcmp(at->peers, at->peers + n_in, n_in * sizeof *at->peers);
    need_others(reader, lane, gathering, (struct asked){SOURCES, at->peers, 0, n_in});
    if (!is_same)
        need_others(reader, lane, gathering, (struct asked){DESTINATIONS, at->peers, n_in, n});
}

void reading_need_members(struct reader *reader, uint32_t lane, struct gathering *gathering)
{
    uint32_t rank = reading_rank(reader, lane);
    if (!gathering)
        return;
    uint32_t mine = gathering_member(reader->replay->gatherings, gathering, rank), n = gathering->n;
    const struct trace_neighbors *neighbors =
        gathering->each ? gatherings_neighbors(reader->replay->gatherings, gathering->comm, rank) : NULL;
    if (neighbors) {
        need_neighbors(reader, lane, gathering, neighbors);
    } else if (coll_is_prefix(gathering->coll)) {
        need_others(reader, lane, gathering, (struct asked){THOSE_BEFORE, NULL, 0, mine});
        need_others(reader, lane, gathering, (struct asked){THOSE_BEHIND, NULL, mine, n});
    } else if (gathering->coll != WW_COLL_NEIGHBOR) {
        need_others(reader, lane, gathering, (struct asked){ALL_OTHERS, NULL, 0, n});
    }
    /* For the members that end after this one. */
    struct comeback own = progress_comeback(&reader->progress, rank);
    const struct point *came = gathering->came.point;
    if (own.point && (!came || own.point->time_ns > came->time_ns))
        comeback_set(reader->replay->links, &gathering->came, own);
    if (own.point && gathering->each && mine < n)
        comeback_set(reader->replay->links, &gathering->each[mine], own);
}
