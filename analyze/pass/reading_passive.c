/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronisation of one-sided communication that the target takes no part in: locks, flushes and unlocks. */
#include "analyze/pass/reading.h"

void reading_passive_begin(struct reader *reader, uint32_t lane)
{
    const struct call *call = reader->readings[lane].call;
    uint32_t rank = reader->lanes->at[lane].rank;
    reader->readings[lane].passive = (struct passive_sync){0};
    if (call->class == WW_LOCAL)
        return;
    if (progress_enter(&reader->progress, rank, call->enter_ns))
        progress_came(&reader->progress, rank, reading_point(reader, lane));
    reader->progress.n_waiting += class_is_passive(call->class);
    if (call->class == WW_RMA_UNLOCK)
        locks_unlock_begin(reader->replay->locks, rank, call->enter_ns);
}

void reading_passive_sync(struct reader *reader, uint32_t lane, const struct event *event)
{
    uint32_t rank = reader->lanes->at[lane].rank;
    reader->readings[lane].passive =
        (struct passive_sync){.is_known = true,
                              .lock = {.window = event->window,
                                       .target = messages_peer(reader->trace, event->comm, rank, event->peer),
                                       .is_exclusive = event->tag == WW_LOCK_EXCLUSIVE}};
}

/* A process always has its own window at hand. */
static struct point *target_release(struct reader *reader, uint32_t rank, const struct call *call,
                                    const struct lock *lock)
{
    if (lock->target == TRACE_NONE || lock->target == rank)
        return NULL;
    return progress_find(&reader->progress, &(struct progress_call){.window = lock->window,
                                                                    .class = call->class,
                                                                    .target = lock->target,
                                                                    .enter_ns = call->enter_ns,
                                                                    .leave_ns = call->leave_ns});
}

/* The lock comes first: where its holder is the target, the unlock is the return to MPI as well. */
static void passive_wait(struct reader *reader, uint32_t lane, const struct lock *lock)
{
    struct locks *locks = reader->replay->locks;
    struct reading *reading = &reader->readings[lane];
    const struct call *call = reading->call;
    uint32_t rank = reader->lanes->at[lane].rank;
    bool may_be_locked = call->class == WW_RMA_LOCK || locks_are_deferred(locks, lock->window);
    struct lock_wait *wait = may_be_locked ? locks_wait(locks, rank, *lock, call->enter_ns, call->leave_ns) : NULL;
    struct point *point = target_release(reader, rank, call, lock);
    if (wait)
        reading_need(reading, (struct need){.kind = NEED_LOCK, .lock_wait = wait});
    if (point)
        reading_need(reading, (struct need){.kind = NEED_TARGET, .point = point_hold(point)});
}

static void passive_complete(struct reader *reader, uint32_t lane, struct lock lock)
{
    struct locks *locks = reader->replay->locks;
    const struct call *call = reader->readings[lane].call;
    uint32_t rank = reader->lanes->at[lane].rank;
    if (call->class == WW_RMA_LOCK)
        locks_take(locks, rank, lock);
    else if (!locks_find(locks, rank, &lock))
        return;
    passive_wait(reader, lane, &lock);
    if (call->class == WW_RMA_UNLOCK)
        locks_give(locks, lock, reading_point(reader, lane), call->leave_ns);
}

void reading_passive_end(struct reader *reader, uint32_t lane)
{
    const struct reading *reading = &reader->readings[lane];
    const struct call *call = reading->call;
    uint32_t rank = reader->lanes->at[lane].rank;
    if (call->class == WW_LOCAL)
        return;
    if (reading->passive.is_known)
        passive_complete(reader, lane, reading->passive.lock);
    if (call->class == WW_RMA_UNLOCK)
        locks_unlock_end(reader->replay->locks, rank);
    reader->progress.n_waiting -= class_is_passive(call->class);
    progress_leave(&reader->progress, rank, call->leave_ns);
}
