/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronisation of one-sided communication: fences are collectives, access epochs are messages without data. */
#include "analyze/waits/matching.h"
#include "analyze/waits/reading.h"

/*
 * Post-start-complete-wait is an exchange of messages without data: each MPI_Win_post lets the origins go on, each
 * MPI_Win_complete the targets. MPI_Win_start may return before it was let, and then MPI_Win_complete waits: whichever
 * of them the post was entered in. A post that has not come when its origin is through with the epoch is missing.
 */
enum { TAG_POST = -1000, TAG_COMPLETE = -1001 };

static void read_epoch_send(struct reader *reader, uint32_t lane, struct event event, int32_t tag)
{
    event.tag = tag;
    message_drop(reader->replay->messages,
                 messages_send(reader->replay->messages, &event, reading_point(reader, lane)));
}

static void read_epoch_start(struct reader *reader, uint32_t lane, struct event event)
{
    event.tag = TAG_POST;
    event.time_ns = UINT64_MAX;
    struct message *message =
        messages_receive(reader->replay->messages, &event, reading_point(reader, lane), reading_point(reader, lane));
    if (!message)
        return;
    reading_need(&reader->readings[lane], NEED_SEND)->message = message;
    *vec_push(&reader->readings[lane].posts) = message_hold(message);
}

static void read_epoch_complete(struct reader *reader, uint32_t lane, uint64_t leave_ns)
{
    struct reading *reading = &reader->readings[lane];
    for (size_t i = 0; i < reading->posts.n; i++) {
        reading->posts.at[i]->done_ns = leave_ns;
        reading_need(reading, NEED_SEND)->message = reading->posts.at[i];
    }
    reading->posts.n = 0;
}

void reading_rma_sync(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct event received = *event;
    enum ww_class class = reader->readings[lane].call->class;
    if (class == WW_RMA_FENCE || class == WW_RMA_COMPLETE)
        operations_complete(&reader->operations, reading_rank(reader, lane), event->window, TRACE_NONE);
    switch (class) {
    case WW_RMA_FENCE: {
        /* A fence ends for nobody before the last has come. */
        struct gather_call fence = {.comm = event->comm,
                                    .space = GATHER_FENCE,
                                    .class = WW_RMA_FENCE,
                                    .coll = WW_COLL_BARRIER,
                                    .root = TRACE_NONE};
        if (event->comm < reader->trace->n_comms)
            reading_join(reader, lane, fence, reading_point(reader, lane));
        break;
    }
    case WW_RMA_POST:
        read_epoch_send(reader, lane, *event, TAG_POST);
        break;
    case WW_RMA_START:
        read_epoch_start(reader, lane, *event);
        break;
    case WW_RMA_COMPLETE:
        read_epoch_send(reader, lane, *event, TAG_COMPLETE);
        read_epoch_complete(reader, lane, event->time_ns);
        break;
    case WW_RMA_WAIT:
        received.tag = TAG_COMPLETE;
        *vec_push(&reader->readings[lane].completions) = (struct completion){.event = received, .number = UINT64_MAX};
        break;
    case WW_RMA_LOCK:
    case WW_RMA_UNLOCK:
    case WW_RMA_FLUSH:
        reading_passive_sync(reader, lane, event);
        break;
    default:
        break;
    }
}

/*
 * One-sided communication that the target takes no part in: locks, flushes and unlocks, and requests. The waits of such
 * a call are asked for each target that it concerns:
 *   - MPI_Win_lock, MPI_Win_unlock, MPI_Win_flush and its local form name one; MPI_Win_lock_all concerns all;
 *   - a flush or unlock of all concerns those on which operations are pending;
 *   - MPI_Put and kin, which some libraries let wait themselves, MPI_Rput and kin, and MPI_Wait, MPI_Test and kin for
 *     what those began, the operation's. A call that completes other requests as well may have lasted for those, and
 *     is left alone.
 */

static bool class_may_wait(enum ww_class class)
{
    return class_is_passive(class) || (class >= WW_RMA_PUT && class <= WW_RMA_REQUEST);
}

void reading_passive_begin(struct reader *reader, uint32_t lane)
{
    struct reading *reading = &reader->readings[lane];
    const struct call *call = reading->call;
    uint32_t rank = reading_rank(reader, lane);
    reading->is_passive_known = false;
    reading->worked.n = 0;
    locks_add_work(reader->replay->locks, rank, &call->before);
    if (call->class == WW_LOCAL)
        return;
    bool is_awaited =
        reader->progress.n_waiting || reader->operations.n_requests || progress_has_begun(&reader->progress, rank);
    if (progress_enter(&reader->progress, rank, call->enter_ns) && is_awaited)
        progress_came(&reader->progress, rank, reading_point(reader, lane));
    reader->progress.n_waiting += class_may_wait(call->class);
    if (call->class == WW_RMA_UNLOCK)
        locks_unlock_begin(reader->replay->locks, rank, call->enter_ns);
}

void reading_operation(struct reader *reader, uint32_t lane, const struct event *event)
{
    uint32_t rank = reading_rank(reader, lane);
    struct reading *reading = &reader->readings[lane];
    struct operation operation = {.window = event->window,
                                  .target = messages_peer(reader->trace, event->comm, rank, event->peer),
                                  .kinds = event->tag        ? OPERATION_ATOMIC
                                           : event->bytes_in ? OPERATION_GET
                                                             : OPERATION_PUT};
    if (operation.target == TRACE_NONE)
        return;
    operations_add(&reader->operations, rank, operation);
    fetching_operation(
        &reader->fetching, lane, rank,
        (struct fetch){
            .site = reading->call->site, .target = operation.target, .window = event->window, .bytes = event->bytes_in},
        reading->call->enter_ns);
    if (reading->call->class == WW_RMA_REQUEST)
        operations_add_request(&reader->operations, rank, event->request, operation);
    *vec_push(&reading->worked) = operation;
}

void reading_operation_done(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct reading *reading = &reader->readings[lane];
    struct operation operation;
    if (!operations_finish_request(&reader->operations, reading_rank(reader, lane), event->request, &operation))
        return;
    reading->has_progress = true;
    *vec_push(&reading->worked) = operation;
}

void reading_passive_sync(struct reader *reader, uint32_t lane, const struct event *event)
{
    uint32_t rank = reading_rank(reader, lane);
    reader->readings[lane].is_passive_known = true;
    reader->readings[lane].passive =
        (struct passive_sync){.comm = event->comm,
                              .lock = {.window = event->window,
                                       .target = messages_peer(reader->trace, event->comm, rank, event->peer),
                                       .is_exclusive = event->tag == WW_LOCK_EXCLUSIVE}};
}

/* The targets that a lock, flush or unlock concerns. */
static void passive_targets(struct reader *reader, uint32_t rank, struct reading *reading)
{
    uint32_t window = (uint32_t)reading->passive.lock.window, target = reading->passive.lock.target;
    reading->worked.n = 0;
    if (target != TRACE_NONE) {
        uint32_t kinds = operations_kinds(&reader->operations, rank, window, target);
        *vec_push(&reading->worked) = (struct operation){.window = window, .target = target, .kinds = kinds};
        return;
    }
    if (reading->call->class == WW_RMA_LOCK) {
        /* Whom MPI_Win_lock_all locks. */
        uint32_t comm = reading->passive.comm;
        uint32_t n = comm < reader->trace->n_comms ? gather_comm_size(reader->trace, comm) : 0;
        for (uint32_t i = 0; i < n; i++)
            *vec_push(&reading->worked) = (struct operation){.window = (uint32_t)reading->passive.lock.window,
                                                             .target = gather_comm_rank(reader->trace, comm, i)};
        return;
    }
    struct operations_list list = operations_of(&reader->operations, rank);
    for (size_t i = 0; i < list.n; i++)
        if (list.at[i].window == window && list.at[i].kinds)
            *vec_push(&reading->worked) = list.at[i];
}

static void wait_for_lock(struct reader *reader, struct reading *reading, uint32_t rank, struct lock lock,
                          bool is_inferred)
{
    const struct call *call = reading->call;
    struct lock_wait *wait = locks_wait(reader->replay->locks, rank, lock, call->enter_ns, call->leave_ns);
    if (!wait)
        return;
    struct need *need = reading_need(reading, NEED_LOCK);
    need->lock_wait = wait;
    need->is_inferred = is_inferred;
}

/* If locks are deferred, whatever needs one may wait for it. */
static void wait_for_deferred_locks(struct reader *reader, struct reading *reading, uint32_t rank)
{
    struct locks *locks = reader->replay->locks;
    for (size_t i = 0; i < reading->worked.n; i++) {
        struct lock lock = {.window = reading->worked.at[i].window, .target = reading->worked.at[i].target};
        if (locks_are_deferred(locks, lock.window) && locks_find(locks, rank, &lock))
            wait_for_lock(reader, reading, rank, lock, true);
    }
}

static void wait_for_targets(struct reader *reader, struct reading *reading, uint32_t lane)
{
    struct comeback came =
        progress_find(&reader->progress, &(struct progress_call){.rank = reading_rank(reader, lane),
                                                                 .region = reader->readings[lane].region,
                                                                 .enter_ns = reading->call->enter_ns,
                                                                 .leave_ns = reading->call->leave_ns,
                                                                 .idle = &reading->call->idle,
                                                                 .targets = reading->worked.at,
                                                                 .n_targets = reading->worked.n});
    if (!came.point)
        return;
    struct need *need = reading_need(reading, NEED_TARGET);
    need->point = point_hold(came.point);
    need->from_ns = came.left_ns;
}

/* Locks come before targets: where a lock's holder is the target, the unlock is the return to MPI as well. */
static void passive_sync_end(struct reader *reader, uint32_t lane, struct reading *reading)
{
    struct locks *locks = reader->replay->locks;
    const struct call *call = reading->call;
    struct lock lock = reading->passive.lock;
    uint32_t rank = reading_rank(reader, lane);
    passive_targets(reader, rank, reading);
    if (call->class == WW_RMA_LOCK) {
        locks_take(locks, rank, lock);
        wait_for_lock(reader, reading, rank, lock, false);
    } else if (!locks_find(locks, rank, &lock)) {
        return;
    } else {
        wait_for_deferred_locks(reader, reading, rank);
    }
    wait_for_targets(reader, reading, lane);
    if (call->class == WW_RMA_UNLOCK)
        locks_give(locks, lock, reading_point(reader, lane), call->leave_ns);
}

static void passive_end(struct reader *reader, uint32_t lane, struct reading *reading)
{
    uint32_t rank = reading_rank(reader, lane);
    const struct lock *lock = &reading->passive.lock;
    if (reading->is_passive_known) {
        passive_sync_end(reader, lane, reading);
        const struct call *call = reader->readings[lane].call;
        uint32_t id = reader->trace->regions[reader->readings[lane].region].call;
        bool is_local = id == WW_ID_Win_flush_local || id == WW_ID_Win_flush_local_all;
        if (call->class == WW_RMA_UNLOCK || (call->class == WW_RMA_FLUSH && !is_local))
            operations_complete(&reader->operations, rank, (uint32_t)lock->window, lock->target);
    } else if (reading->worked.n && !reading->call->needs.n && !reading->sent.n) {
        wait_for_deferred_locks(reader, reading, rank);
        wait_for_targets(reader, reading, lane);
    }
}

void reading_passive_end(struct reader *reader, uint32_t lane)
{
    struct reading *reading = &reader->readings[lane];
    const struct call *call = reading->call;
    uint32_t rank = reading_rank(reader, lane);
    if (call->class == WW_LOCAL)
        return;
    passive_end(reader, lane, reading);
    for (size_t i = 0; i < reading->worked.n; i++)
        *vec_push(&reading->call->partners) = reading->worked.at[i].target;
    if (call->class == WW_RMA_UNLOCK)
        locks_unlock_end(reader->replay->locks, rank);
    reader->progress.n_waiting -= class_may_wait(call->class);
    progress_leave(&reader->progress, rank, call->leave_ns);
}
