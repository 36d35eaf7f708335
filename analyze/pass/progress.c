/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/pass/progress.h"

enum {
    /* Away from MPI for less is between two calls; it is also far more than clocks of nodes differ by. */
    AWAY_MIN_NS = 20000,
    LATER_WEIGHT = 3,
    ALONE_WEIGHT = 8,
};

struct progress_rank {
    uint32_t n_inside; /* threads in MPI */
    uint64_t left_ns;
    struct point *came; /* held: its last return after having been away */
    uint64_t away_ns;   /* when it had left before that */
};

struct progress_evidence {
    uint64_t n_soon, n_later; /* ended after the target had come back */
    uint64_t n_alone;
};

void progress_begin(struct progress *progress, struct links *links, uint32_t n_ranks)
{
    *progress = (struct progress){.links = links, .n_ranks = n_ranks};
    size_t cap = 0;
    vec_grow((void **)&progress->ranks, &cap, n_ranks + 1, sizeof *progress->ranks);
    memset(progress->ranks, 0, (n_ranks + 1) * sizeof *progress->ranks);
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
    return !at->n_inside++ && enter_ns > at->left_ns + AWAY_MIN_NS;
}

void progress_came(struct progress *progress, uint32_t rank, struct point *point)
{
    struct progress_rank *at = &progress->ranks[rank];
    point_drop(progress->links, at->came);
    at->came = point_hold(point);
    at->away_ns = at->left_ns;
}

void progress_leave(struct progress *progress, uint32_t rank, uint64_t leave_ns)
{
    struct progress_rank *at = &progress->ranks[rank];
    at->n_inside -= at->n_inside > 0;
    at->left_ns = leave_ns;
}

static bool target_stayed_away(const struct progress_rank *target, const struct progress_call *call)
{
    return !target->n_inside && target->left_ns + AWAY_MIN_NS <= call->enter_ns;
}

static bool target_came(const struct progress_rank *target, const struct progress_call *call)
{
    uint64_t came_ns = target->came ? target->came->time_ns : 0;
    return came_ns > call->enter_ns && came_ns <= call->leave_ns && target->away_ns <= call->enter_ns;
}

static struct progress_evidence *evidence_of(struct progress *progress, const struct progress_call *call)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < call->n_targets; i++)
        kinds |= call->targets[i].kinds;
    uint64_t key = (uint64_t)call->targets->window << 32 | (uint64_t)call->region << 3 | kinds;
    uint64_t *number = map_put(&progress->numbers, key, NULL);
    if (!*number) {
        (void)vec_push(&progress->evidence);
        *number = progress->evidence.n;
    }
    return &progress->evidence.at[*number - 1];
}

/* The last of the targets to come back during the call; *is_alone: one of them stayed away. */
static struct point *last_to_come(const struct progress *progress, const struct progress_call *call, bool *is_alone)
{
    struct point *last = NULL;
    *is_alone = false;
    for (size_t i = 0; i < call->n_targets; i++) {
        uint32_t rank = call->targets[i].target;
        if (rank == call->rank || rank >= progress->n_ranks)
            continue;
        const struct progress_rank *target = &progress->ranks[rank];
        if (target_came(target, call) && (!last || target->came->time_ns > last->time_ns))
            last = target->came;
        *is_alone = *is_alone || target_stayed_away(target, call);
    }
    return last;
}

struct point *progress_find(struct progress *progress, const struct progress_call *call)
{
    bool is_alone;
    struct point *last = last_to_come(progress, call, &is_alone);
    if (!last && !is_alone)
        return NULL;
    struct progress_evidence *evidence = evidence_of(progress, call);
    evidence->n_alone += is_alone;
    if (is_alone || !last)
        return NULL;
    uint64_t after_ns = call->leave_ns - last->time_ns - idle_between(call->idle, last->time_ns, call->leave_ns);
    bool is_soon = after_ns <= last->time_ns - call->enter_ns;
    *(is_soon ? &evidence->n_soon : &evidence->n_later) += 1;
    uint64_t against = LATER_WEIGHT * evidence->n_later + ALONE_WEIGHT * evidence->n_alone;
    return evidence->n_soon >= against ? last : NULL;
}
