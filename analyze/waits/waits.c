/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/waits.h"
#include "analyze/constants/constants.h"
#include "analyze/result/names.h"
#include "analyze/waits/call_classes.h"
#include <stdlib.h>

static enum wait_kind coll_kind(enum ww_coll coll)
{
    switch (coll_pattern(coll)) {
    case PATTERN_FROM_ROOT:
        return WAIT_LATE_BROADCAST;
    case PATTERN_TO_ROOT:
        return WAIT_EARLY_REDUCE;
    case PATTERN_PREFIX:
        return WAIT_EARLY_SCAN;
    case PATTERN_NEIGHBORS:
        return WAIT_NEIGHBOR;
    default:
        return coll == WW_COLL_BARRIER ? WAIT_BARRIER : WAIT_NXN;
    }
}

static enum wait_kind gathering_kind(const struct gathering *gathering)
{
    switch (gathering->class) {
    case WW_ICOLLECTIVE:
        return WAIT_ICOLL;
    case WW_COMM_CREATE:
    case WW_COMM_FREE:
    case WW_WIN_CREATE:
    case WW_WIN_FREE:
        return WAIT_CREATE;
    case WW_RMA_FENCE:
        return WAIT_RMA;
    case WW_FINALIZE:
        return WAIT_FINALIZE;
    case WW_IO_COLLECTIVE:
        return WAIT_IO;
    default:
        return coll_kind(gathering->coll);
    }
}

/* Takes another member into account; false while it is still to come. */
static bool member_is_later(const struct gathering *gathering, uint32_t member, struct point **last)
{
    struct point *point = member < gathering->n ? gathering->points[member] : NULL;
    if (!point)
        return member >= gathering->n || gathering->is_complete;
    if (!*last || point->time_ns >= (*last)->time_ns)
        *last = point;
    return true;
}

/* Returns false while it is not known. */
static bool other_group_has_come(const struct gathering *gathering, uint32_t index, struct point **last)
{
    bool is_known = true;
    for (uint32_t i = 0; i < gathering->n && is_known; i++)
        is_known = !gathering_needs(gathering, index, i) || member_is_later(gathering, i, last);
    return is_known;
}

/* Returns false while it is not known. */
static bool gathering_release(const struct need *need, struct point **point)
{
    const struct gathering *gathering = need->gathering;
    uint32_t index = need->index;
    *point = NULL;
    bool is_root = gathering->root == index;
    switch (coll_pattern(gathering->coll)) {
    case PATTERN_NONE:
        return true;
    case PATTERN_FROM_ROOT:
        if (is_root || gathering->root == TRACE_NONE || !gathering_needs(gathering, index, gathering->root))
            return true;
        *point = gathering->points[gathering->root];
        return *point || gathering->is_complete;
    case PATTERN_PREFIX: {
        /* The last entry among the members before this one; false while one of them is still to come. */
        bool is_known = true;
        for (uint32_t i = 0; i < index && is_known; i++)
            is_known = member_is_later(gathering, i, point);
        return is_known;
    }
    case PATTERN_NEIGHBORS: {
        /* Likewise among those that this member receives from. */
        bool is_known = true;
        for (uint32_t i = 0; need->neighbors && i < need->neighbors->n_in && is_known; i++)
            is_known = member_is_later(gathering, need->neighbors->peers[i], point);
        return is_known;
    }
    case PATTERN_TO_ROOT:
        if (!is_root) /* of two groups the other one knows which member is */
            return !gathering->n_first || gathering->root != TRACE_NONE || gathering->is_complete;
        break;
    case PATTERN_ALL:
        break;
    }
    if (gathering->n_first)
        return other_group_has_come(gathering, index, point);
    *point = gathering->last == TRACE_NONE ? NULL : gathering->points[gathering->last];
    return gathering->is_complete;
}

/* A message that is too large to be buffered moves when its receive has been posted and the receiver is inside MPI. */
static bool was_posted_before(const struct message *message, const struct call *call)
{
    return message->receive && message->receive->time_ns <= call->since_ns;
}

/* The waits for one need: for certain, and beyond that. */
struct candidates {
    struct release certain, inferred;
};

/* Whom the library's tree made this member wait for beyond the root, beyond the members before it, or beyond the other
 * group. Members of an operation on a file that need not wait for each other at all, but do where the library collects
 * what they write, are told in the same way. False while it is not known. */
static bool relay_release(struct relays *relays, struct need *need, const struct call *call,
                          struct candidates *candidates)
{
    struct gathering *gathering = need->gathering;
    enum coll_pattern pattern = coll_pattern(gathering->coll);
    bool is_on_file = gathering->class == WW_IO_COLLECTIVE && pattern == PATTERN_NONE;
    bool moves_on_a_tree = pattern == PATTERN_FROM_ROOT || pattern == PATTERN_PREFIX || gathering->n_first ||
                           (pattern == PATTERN_TO_ROOT && gathering->root != need->index);
    if ((!moves_on_a_tree && !is_on_file) || !relays_concern(relays, gathering, call->enter_ns, call->leave_ns))
        return true;
    if (!gathering->is_complete)
        return false;
    if (!need->is_judged) {
        uint64_t certain_ns = candidates->certain.point ? candidates->certain.point->time_ns : 0;
        uint64_t from_ns = certain_ns > call->enter_ns ? certain_ns : call->enter_ns;
        struct evidence_call judged = {from_ns, call->leave_ns, &call->idle};
        struct point *point = relays_find(relays, gathering, need->index, &judged);
        need->point = point ? point_hold(point) : NULL;
        need->is_judged = true;
    }
    candidates->inferred = (struct release){
        .point = need->point, .kind = is_on_file ? WAIT_IO : WAIT_LATE_MEMBER, .occurrence = &gathering->occurrence};
    return true;
}

static struct sleepers *need_candidates(struct relays *relays, struct need *need, const struct call *call,
                                        struct candidates *candidates)
{
    struct message *message = need->message;
    *candidates = (struct candidates){0};
    switch (need->kind) {
    case NEED_SEND:
        candidates->certain =
            (struct release){.point = message->is_lost ? NULL : message->send, .kind = WAIT_LATE_SENDER};
        if (call->class == WW_RMA_START || call->class == WW_RMA_COMPLETE || call->class == WW_RMA_WAIT)
            candidates->certain.kind = WAIT_RMA;
        return message->send || message->is_lost ? NULL : &message->sleepers;
    case NEED_RECEIVE: {
        struct release *to = was_posted_before(message, call) ? &candidates->inferred : &candidates->certain;
        *to = (struct release){.point = was_posted_before(message, call) ? message->finish : message->receive,
                               .kind = WAIT_LATE_RECEIVER};
        return to->point ? NULL : &message->sleepers;
    }
    case NEED_POST: /* keep_post */
        return message->receive ? NULL : &message->sleepers;
    case NEED_LOCK:
        *(need->is_inferred ? &candidates->inferred : &candidates->certain) =
            (struct release){.point = need->lock_wait->release, .kind = WAIT_LOCK};
        return need->lock_wait->is_settled ? NULL : &need->lock_wait->sleepers;
    case NEED_TARGET:
        candidates->inferred = (struct release){.point = need->point,
                                                .kind = call->class == WW_SEND ? WAIT_LATE_RECEIVER : WAIT_PROGRESS,
                                                .from_ns = need->from_ns};
        return NULL;
    case NEED_GATHERING: {
        struct gathering *gathering = need->gathering;
        candidates->certain = (struct release){.kind = gathering_kind(gathering), .occurrence = &gathering->occurrence};
        if (gathering_release(need, &candidates->certain.point))
            return relay_release(relays, need, call, candidates) ? NULL : &gathering->sleepers;
        /* Of these nothing can be said before all members have come. */
        enum coll_pattern pattern = coll_pattern(gathering->coll);
        return pattern == PATTERN_ALL || pattern == PATTERN_TO_ROOT ? &gathering->sleepers : &gathering->arrivals;
    }
    }
    return NULL;
}

/* An operation that cannot end before the other side has come, whatever the clocks say. MPI leaves it open of the rest.
 * A message may be buffered, freeing a communicator or opening a file may be local, a fence may have nothing to do. And
 * recorders may end MPI_Finalize early, before the others have come to it. */
static bool kind_synchronises(enum wait_kind kind)
{
    switch (kind) {
    case WAIT_LATE_RECEIVER:
    case WAIT_RMA:
    case WAIT_LOCK:
    case WAIT_PROGRESS:
    case WAIT_LATE_MEMBER:
    case WAIT_CREATE:
    case WAIT_FINALIZE:
    case WAIT_IO:
        return false;
    default:
        return true;
    }
}

/* A rank that came after this call had ended released nobody in it. */
static bool release_counts(const struct call *call, uint32_t lane, uint64_t from_ns, const struct release *release)
{
    const struct point *point = release->point;
    if (!point || point->lane == lane || point->time_ns <= from_ns)
        return false;
    return kind_synchronises(release->kind) || point->time_ns <= call->leave_ns;
}

static void keep_later(struct release *kept, const struct release *candidate, const struct call *call, uint32_t lane,
                       uint64_t from_ns)
{
    if (release_counts(call, lane, from_ns, candidate) &&
        (!kept->point || candidate->point->time_ns > kept->point->time_ns))
        *kept = *candidate;
}

/* The last post of what a call sent that received as well, if the times say that it waited for that in the end. */
static void keep_post(struct relays *relays, const struct call *call, uint32_t lane, uint64_t from_ns,
                      struct candidates *last)
{
    struct need *latest = NULL;
    for (size_t i = 0; i < call->needs.n && !call->is_forced; i++) {
        struct need *need = &call->needs.at[i];
        if (need->kind == NEED_POST && (!latest || need->message->receive->time_ns > latest->message->receive->time_ns))
            latest = need;
    }
    if (latest && !latest->is_judged) {
        uint64_t certain_ns = last->certain.point ? last->certain.point->time_ns : 0;
        struct evidence_call judged = {certain_ns > call->since_ns ? certain_ns : call->since_ns, call->leave_ns,
                                       &call->idle};
        struct point *point = relays_post(relays, latest->message, &judged);
        latest->point = point ? point_hold(point) : NULL;
        latest->is_judged = true;
    }
    if (latest)
        keep_later(&last->inferred, &(struct release){.point = latest->point, .kind = WAIT_LATE_RECEIVER}, call, lane,
                   from_ns);
}

/* True when the same process came to MPI, left it at once, and had to come back. It is one wait: in two, what the
 * waiting process had done already as well would shorten the first and be blamed in the second. */
static bool only_came_by(const struct release *certain, const struct release *inferred)
{
    return certain->point && certain->point->lane == inferred->point->lane &&
           inferred->from_ns >= certain->point->time_ns &&
           inferred->from_ns - certain->point->time_ns <= CALL_ITSELF_NS;
}

static double ready_ns(const struct point *point)
{
    return (double)point->time_ns - point->lack_ns;
}

/* Of the members of a blocking collective. Set once, when it is known. Returns what to sleep on before that. */
static struct sleepers *find_readiest_member(struct gathering *gathering)
{
    struct point *readiest = NULL;
    for (uint32_t i = 0; i < gathering->n && !gathering->readiest; i++) {
        struct point *member = gathering->points[i];
        if (member && !point_is_entered(member))
            return &member->sleepers;
        if (member && (!readiest || ready_ns(member) > ready_ns(readiest)))
            readiest = member;
    }
    gathering->readiest = gathering->readiest ? gathering->readiest : readiest;
    return NULL;
}

/* Who waits there waits for all: each member, or the root. */
static bool waits_for_all(const struct gathering *gathering)
{
    enum coll_pattern pattern = coll_pattern(gathering->coll);
    return gathering->class != WW_ICOLLECTIVE && !gathering->n_first &&
           (pattern == PATTERN_ALL || pattern == PATTERN_TO_ROOT);
}

/*
 * Of all that the call waited for, what would have come last if nobody had lacked a CPU. It may have come earlier than
 * another process, which lacked one: that explains what is left, and would hide the work of this one. *first is without
 * a point where there is no such thing. Returns what to sleep on before that is known.
 */
static struct sleepers *find_readiest(struct relays *relays, const struct call *call, uint32_t lane, uint64_t from_ns,
                                      struct release *last, struct release *first)
{
    *first = (struct release){0};
    if (!point_is_entered(last->point))
        return &last->point->sleepers;
    for (size_t i = 0; i < call->needs.n && last->point->lack_ns > 0; i++) {
        struct need *need = &call->needs.at[i];
        struct candidates candidates;
        struct sleepers *unknown = need_candidates(relays, need, call, &candidates);
        struct point *point = candidates.certain.point;
        if (!unknown && point && need->kind == NEED_GATHERING && waits_for_all(need->gathering)) {
            unknown = find_readiest_member(need->gathering);
            if (point == last->point && need->gathering->readiest != point)
                last->occurrence = &need->gathering->rest_occurrence;
            candidates.certain.point = point = need->gathering->readiest;
        }
        if (!unknown && point && !point_is_entered(point))
            unknown = &point->sleepers;
        if (unknown)
            return unknown;
        if (release_counts(call, lane, from_ns, &candidates.certain) && point->time_ns < last->point->time_ns &&
            ready_ns(point) > ready_ns(first->point ? first->point : last->point))
            *first = candidates.certain;
    }
    last->is_rest = first->point;
    return NULL;
}

struct sleepers *waits_find_releases(struct relays *relays, const struct call *call, uint32_t lane, uint64_t from_ns,
                                     struct releases *releases)
{
    struct candidates last = {0};
    releases->n = 0;
    if (!call->needs.n)
        return NULL;
    for (size_t i = 0; i < call->needs.n && !call->is_forced; i++) {
        struct candidates candidates;
        struct sleepers *unknown = need_candidates(relays, &call->needs.at[i], call, &candidates);
        if (unknown)
            return unknown;
        keep_later(&last.certain, &candidates.certain, call, lane, from_ns);
        keep_later(&last.inferred, &candidates.inferred, call, lane, from_ns);
    }
    struct release first = {0};
    struct sleepers *unknown =
        last.certain.point ? find_readiest(relays, call, lane, from_ns, &last.certain, &first) : NULL;
    if (unknown)
        return unknown;
    keep_post(relays, call, lane, from_ns, &last);
    last.inferred.is_inferred = true;
    uint64_t certain_ns = last.certain.point ? last.certain.point->time_ns : 0;
    bool is_later = last.inferred.point && last.inferred.point->time_ns > certain_ns;
    if (is_later && only_came_by(&last.certain, &last.inferred)) {
        /* Called by what it waited for most of the time. */
        if (certain_ns - from_ns > last.inferred.point->time_ns - certain_ns) {
            last.inferred.kind = last.certain.kind;
            last.inferred.occurrence = last.certain.occurrence;
        }
        last.inferred.from_ns = 0;
        last.inferred.came_by = last.certain.point;
    } else if (last.certain.point) {
        if (first.point)
            releases->at[releases->n++] = first;
        releases->at[releases->n++] = last.certain;
    }
    if (is_later)
        releases->at[releases->n++] = last.inferred;
    return NULL;
}

static bool is_at(const struct point *point, const struct absence *absence)
{
    return point && point->lane == absence->lane;
}

/* In a blocking operation a member takes part as long as it is in the call with which it came. */
static bool takes_part_in(const struct gatherings *gatherings, const struct need *need, const struct absence *absence)
{
    const struct gathering *gathering = need->gathering;
    uint32_t member = gathering_member(gatherings, gathering, absence->rank);
    bool is_needed = member < gathering->n && gathering->coll != WW_COLL_NEIGHBOR;
    for (uint32_t i = 0; need->neighbors && i < need->neighbors->n_in && !is_needed; i++)
        is_needed = member < gathering->n && need->neighbors->peers[i] == member;
    const struct point *point = is_needed ? gathering->points[member] : NULL;
    return is_at(point, absence) && (gathering->class == WW_ICOLLECTIVE || point->time_ns == absence->call_ns);
}

bool waits_takes_part(const struct gatherings *gatherings, const struct call *call, const struct absence *absence)
{
    bool takes_part = false;
    if (absence->lane == call->idle.lane)
        return false;
    for (size_t i = 0; i < call->partners.n && !takes_part; i++)
        takes_part = call->partners.at[i] == absence->rank;
    for (size_t i = 0; i < call->needs.n && !takes_part; i++) {
        const struct need *need = &call->needs.at[i];
        if (need->kind == NEED_GATHERING)
            takes_part = takes_part_in(gatherings, need, absence);
        else if (need_is_message(need))
            takes_part = is_at(need->message->send, absence) || is_at(need->message->receive, absence);
        else
            takes_part = is_at(need->kind == NEED_LOCK ? need->lock_wait->release : need->point, absence);
    }
    return takes_part;
}
