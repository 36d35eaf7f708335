/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/progress.h"

struct progress_rank {
    _Alignas(CACHE_LINE) uint32_t n_inside; /* threads in MPI */
    uint32_t n_begun;                       /* operations of its own under way */
    uint64_t left_ns;
    struct comeback came;
    bool came_to_begun; /* with operations under way */
};

void progress_begin(struct progress *progress, struct links *links, const struct trace *trace)
{
    *progress = (struct progress){.links = links, .n_ranks = trace->n_ranks, .floor_ns = evidence_floor_ns(trace)};
    progress->ranks = memory_lines(trace->n_ranks + 1, sizeof *progress->ranks);
}

void progress_release(struct progress *progress)
{
    vec_free(progress->ranks);
    map_release(&progress->numbers);
    vec_release(&progress->evidence);
}

bool progress_enter(struct progress *progress, uint32_t rank, uint64_t enter_ns)
{
    struct progress_rank *at = &progress->ranks[rank];
    return !at->n_inside++ && enter_ns > at->left_ns + progress->floor_ns;
}

void progress_came(struct progress *progress, uint32_t rank, struct point *point)
{
    struct progress_rank *at = &progress->ranks[rank];
    comeback_set(progress->links, &at->came, (struct comeback){point, at->left_ns});
    at->came_to_begun = at->n_begun > 0;
}

void progress_leave(struct progress *progress, uint32_t rank, uint64_t leave_ns)
{
    struct progress_rank *at = &progress->ranks[rank];
    at->n_inside -= at->n_inside > 0;
    at->left_ns = leave_ns;
}

static bool stayed_outside(const struct progress *progress, uint32_t rank, uint64_t enter_ns)
{
    const struct progress_rank *target = &progress->ranks[rank];
    return !target->n_inside && target->left_ns + progress->floor_ns <= enter_ns;
}

static bool came_within(const struct comeback *came, uint64_t enter_ns, uint64_t leave_ns)
{
    return came->point && came->point->time_ns > enter_ns && came->point->time_ns <= leave_ns;
}

/* The last of the targets to come back during the call; *is_alone: one of them stayed away. The point is borrowed. */
static struct comeback last_to_come(const struct progress *progress, const struct progress_call *call, bool *is_alone)
{
    struct comeback last = {0};
    *is_alone = false;
    for (size_t i = 0; i < call->n_targets; i++) {
        uint32_t rank = call->targets[i].target;
        if (rank == call->rank || rank >= progress->n_ranks)
            continue;
        const struct progress_rank *target = &progress->ranks[rank];
        bool has_come = came_within(&target->came, call->enter_ns, call->leave_ns);
        if (has_come && (!last.point || target->came.point->time_ns > last.point->time_ns))
            last = target->came;
        *is_alone = *is_alone || stayed_outside(progress, rank, call->enter_ns);
    }
    return last;
}

struct comeback progress_judge(struct progress *progress, const struct progress_part *part, struct comeback came)
{
    uint64_t *number = map_put(&progress->numbers, part->kind, NULL);
    if (!*number) {
        (void)vec_push(&progress->evidence);
        *number = progress->evidence.n;
    }
    struct evidence *evidence = &progress->evidence.at[*number - 1];
    evidence->n_alone += !came.point;
    if (!came.point)
        return (struct comeback){0};
    uint64_t from_ns = came.left_ns > part->enter_ns ? came.left_ns : part->enter_ns;
    uint64_t worked_until_ns = at_work_until(part->idle, from_ns, came.point->time_ns);
    if (worked_until_ns > from_ns)
        came.left_ns = from_ns = worked_until_ns;
    struct evidence_call call = {from_ns, part->leave_ns, part->idle};
    bool waited = evidence_came(evidence, &call, came.point->time_ns, progress->floor_ns);
    return waited && evidence_speaks_for(evidence) ? came : (struct comeback){0};
}

struct comeback progress_find(struct progress *progress, const struct progress_call *call)
{
    bool is_alone;
    struct comeback last = last_to_come(progress, call, &is_alone);
    if (!last.point && !is_alone)
        return (struct comeback){0};
    /* The kind of one-sided operations: bit 63 is clear. */
    uint64_t kind = (uint64_t)call->targets->window << 32 | (uint64_t)call->region << 3;
    for (size_t i = 0; i < call->n_targets; i++)
        kind |= call->targets[i].kinds;
    struct progress_part part = {kind, call->enter_ns, call->leave_ns, call->idle};
    if (is_alone)
        last = (struct comeback){0};
    return progress_judge(progress, &part, last);
}

void progress_begun(struct progress *progress, uint32_t rank)
{
    progress->ranks[rank].n_begun++;
}

void progress_completed(struct progress *progress, uint32_t rank)
{
    progress->ranks[rank].n_begun -= progress->ranks[rank].n_begun > 0;
}

bool progress_has_begun(const struct progress *progress, uint32_t rank)
{
    return progress->ranks[rank].n_begun > 0;
}

struct comeback progress_comeback(const struct progress *progress, uint32_t rank)
{
    const struct progress_rank *at = &progress->ranks[rank];
    return at->came_to_begun ? at->came : (struct comeback){0};
}

bool progress_stayed_outside(const struct progress *progress, const struct progress_part *part, uint32_t rank)
{
    return progress->ranks[rank].n_begun && stayed_outside(progress, rank, part->enter_ns);
}

bool progress_is_long(const struct progress *progress, const struct progress_part *part)
{
    return part->leave_ns >= part->enter_ns + progress->floor_ns;
}

bool progress_may_end(const struct progress *progress, const struct progress_part *part,
                      const struct comeback *comeback)
{
    return progress_is_long(progress, part) && came_within(comeback, part->enter_ns, part->leave_ns);
}

enum {
    LOOK = 4, /* members on either side of a call's end */
    PAIRS_MAX = 1 << 20,
    MEMBER_BITS = 20,
};

void relays_release(struct relays *relays)
{
    intern_release(&relays->operations);
    map_release(&relays->numbers);
    vec_release(&relays->pairs);
}

bool relays_concern(const struct relays *relays, const struct gathering *gathering, uint64_t enter_ns,
                    uint64_t leave_ns)
{
    return gathering->class != WW_ICOLLECTIVE && gathering->n < 1u << MEMBER_BITS &&
           leave_ns > enter_ns + relays->floor_ns;
}

static struct evidence *pair_of(struct relays *relays, uint64_t key, bool add)
{
    uint64_t *number = map_get(&relays->numbers, key);
    if (!number && (!add || relays->pairs.n >= PAIRS_MAX))
        return NULL;
    if (!number) {
        *vec_push(&relays->pairs) = (struct evidence){0};
        *map_put(&relays->numbers, key, NULL) = relays->pairs.n;
        return &relays->pairs.at[relays->pairs.n - 1];
    }
    return &relays->pairs.at[*number - 1];
}

struct point *relays_find(struct relays *relays, struct gathering *gathering, uint32_t member,
                          const struct evidence_call *call)
{
    const uint32_t *order = gathering_order(gathering);
    /* So many members, in the order of their entries, had entered when the call ended. */
    uint32_t n_before = 0;
    bisect(n_before, gathering->n_joined, gathering->points[order[n_before]]->time_ns <= call->leave_ns);
    uint32_t operation[3] = {gathering->comm, gathering->coll, gathering->root};
    uint64_t number = intern_put(&relays->operations, operation, sizeof operation);
    uint64_t key = (number << MEMBER_BITS | member) << MEMBER_BITS;
    /* Those who entered when the call had ended were not needed. */
    for (uint32_t i = n_before; i < gathering->n_joined && i < n_before + LOOK; i++) {
        uint32_t other = gathering->order[i];
        struct evidence *pair = pair_of(relays, key | other, false);
        if (pair && gathering->points[other]->time_ns > call->leave_ns + relays->floor_ns)
            pair->n_alone++;
    }
    for (uint32_t i = 0; i < LOOK && i < n_before; i++) {
        uint32_t other = order[n_before - 1 - i];
        struct point *point = gathering->points[other];
        if (other == member)
            continue;
        if (point->time_ns <= call->from_ns + relays->floor_ns)
            return NULL;
        struct evidence *pair = pair_of(relays, key | other, true);
        if (!pair || !evidence_speaks_for(pair) || !evidence_came(pair, call, point->time_ns, relays->floor_ns))
            continue;
        return pair->n_soon > 1 && evidence_speaks_for(pair) ? point : NULL;
    }
    return NULL;
}

struct point *relays_post(struct relays *relays, const struct message *message, const struct evidence_call *call)
{
    static const uint64_t MESSAGES = (uint64_t)1 << 63;
    struct point *post = message->receive;
    uint64_t magnitude = 0;
    if (post->time_ns <= call->from_ns + relays->floor_ns || post->time_ns > call->leave_ns)
        return NULL;
    while (message->bytes >> magnitude > 1)
        magnitude++;
    struct evidence *alike = pair_of(relays, MESSAGES | magnitude, true);
    if (!alike)
        return NULL;
    bool is_first = !alike->n_soon;
    alike->n_soon += post->time_ns - call->from_ns;
    alike->n_later += call->leave_ns - post->time_ns - idle_between(call->idle, post->time_ns, call->leave_ns);
    return !is_first && evidence_speaks_for(alike) ? post : NULL;
}
