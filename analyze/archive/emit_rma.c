/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication. An operation is complete when its request is, or with the next synchronisation that covers
 * its target; OTF2 wants a record of that for each.
 */
#include "analyze/archive/emit_rma.h"
#include "analyze/archive/calls.h"
#include <string.h>
#include <strings.h>

static struct rma_target *target_of(struct emitter *emitter, const struct ww_call *call)
{
    uint64_t *index = map_put(&emitter->rma_target_of, (uint64_t)call->comm << 32 | (uint32_t)call->peer, NULL);
    if (!*index) {
        *vec_push(&emitter->rma_targets) = (struct rma_target){.win = call->comm, .rank = call->peer};
        *index = emitter->rma_targets.n;
    }
    return &emitter->rma_targets.at[*index - 1];
}

static void write_operation(struct emit_location *location, const struct ww_call *call, uint32_t win, uint64_t id,
                            uint64_t t)
{
    uint32_t remote = emit_rank_ref(call->peer);
    const char *name = call_info(call->call)->name + strlen("MPI_");
    if (*name == 'R')
        name++;
    if (!strncasecmp(name, "put", 3))
        WRITE(location, RmaPut, NULL, t, win, remote, call->bytes_out, id);
    else if (!strncasecmp(name, "get_acc", 7) || !strncmp(name, "Fetch", 5))
        WRITE(location, RmaAtomic, NULL, t, win, remote, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE, call->bytes_out,
              call->bytes_in, id);
    else if (!strncasecmp(name, "get", 3))
        WRITE(location, RmaGet, NULL, t, win, remote, call->bytes_in, id);
    else
        WRITE(location, RmaAtomic, NULL, t, win, remote,
              *name == 'C' ? OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP : OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, call->bytes_out,
              call->bytes_in, id);
}

void emit_rma_operation(struct emitter *emitter, struct emit_location *location, const struct ww_call *call,
                        const struct request *request, uint64_t t)
{
    uint64_t id = request ? request->id : requests_new_id(&emitter->requests);
    write_operation(location, call, emit_win_ref(emitter, call->comm), id, t);
    if (request)
        return;
    struct rma_target *target = target_of(emitter, call);
    *vec_push(&target->ids) = id;
}

static void complete_target(struct emitter *emitter, struct emit_location *location, struct rma_target *target,
                            bool is_local, uint64_t t)
{
    for (size_t i = 0; i < target->ids.n; i++) {
        uint32_t win = emit_win_ref(emitter, target->win);
        if (is_local)
            WRITE(location, RmaOpCompleteNonBlocking, NULL, t, win, target->ids.at[i]);
        else
            WRITE(location, RmaOpCompleteRemote, NULL, t, win, target->ids.at[i]);
        requests_free_id(&emitter->requests, target->ids.at[i]);
    }
    target->ids.n = 0;
}

/* Fences, and calls that name no target, complete what was done in the window, others what was done to their target. */
static void complete_operations(struct emitter *emitter, struct emit_location *location, const struct ww_call *call,
                                uint64_t t)
{
    bool is_local = strstr(call_info(call->call)->name, "_local") != NULL;
    if (call->peer >= 0) {
        complete_target(emitter, location, target_of(emitter, call), is_local, t);
        return;
    }
    for (size_t i = 0; i < emitter->rma_targets.n; i++)
        if (emitter->rma_targets.at[i].win == call->comm)
            complete_target(emitter, location, &emitter->rma_targets.at[i], is_local, t);
}

/* The group that MPI_Win_start or MPI_Win_post names, as 1 + local id. */
static uint64_t group_of(struct emitter *emitter, const struct emit_call *call)
{
    VEC(int32_t) key = {0};
    *vec_push(&key) = (int32_t)call->call.comm;
    for (size_t i = 0; i < call->ranks.n; i++)
        *vec_push(&key) = call->ranks.at[i];
    uint64_t group = intern_put(&emitter->groups, key.at, key.n * sizeof *key.at) + 1u;
    vec_release(&key);
    return group;
}

static void rma_group_sync(struct emitter *emitter, struct emit_location *location, const struct emit_call *call,
                           uint64_t t)
{
    enum ww_class class = call_info(call->call.call)->class;
    bool is_access = class == WW_RMA_START || class == WW_RMA_COMPLETE;
    struct map *epochs = is_access ? &emitter->access_group : &emitter->exposure_group;
    uint64_t *group = map_put(epochs, call->call.comm, NULL);
    if (class == WW_RMA_START || class == WW_RMA_POST)
        *group = group_of(emitter, call);
    if (*group)
        WRITE(location, RmaGroupSync, NULL, t, OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY,
              emit_win_ref(emitter, call->call.comm), (uint32_t)(*group - 1));
}

static void write_sync(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit,
                       uint64_t t)
{
    const struct ww_call *call = &emit->call;
    uint32_t win = emit_win_ref(emitter, call->comm), remote = emit_rank_ref(call->peer);
    switch (call_info(call->call)->class) {
    case WW_RMA_FENCE:
        WRITE(location, RmaCollectiveEnd, NULL, t, OTF2_COLLECTIVE_OP_BARRIER,
              OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY, win, OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
        break;
    case WW_RMA_LOCK:
        WRITE(location, RmaAcquireLock, NULL, t, win, remote, 0,
              call->tag == WW_LOCK_EXCLUSIVE ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED);
        break;
    case WW_RMA_UNLOCK:
        WRITE(location, RmaReleaseLock, NULL, t, win, remote, 0);
        break;
    case WW_RMA_FLUSH:
        WRITE(location, RmaSync, NULL, t, win, remote, OTF2_RMA_SYNC_TYPE_MEMORY);
        break;
    case WW_WIN_FREE:
        WRITE(location, RmaWinDestroy, NULL, t, win);
        break;
    default:
        rma_group_sync(emitter, location, emit, t);
        break;
    }
}

void emit_rma_leave(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    enum ww_class class = call_info(call->call)->class;
    if (class == WW_WIN_CREATE && emit->new_win)
        WRITE(location, RmaWinCreate, NULL, t, emit_win_ref(emitter, emit->new_win));
    /* A call that failed synchronises nothing, and its target may be what was wrong. */
    if (class < WW_WIN_FREE || class > WW_RMA_FLUSH || !call->comm || call->flags & WW_F_ERROR)
        return;
    if (class == WW_WIN_FREE || class == WW_RMA_FENCE || class == WW_RMA_COMPLETE || class == WW_RMA_UNLOCK ||
        class == WW_RMA_FLUSH)
        complete_operations(emitter, location, call, t);
    write_sync(emitter, location, emit, t);
}
