/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of one-sided communication: operations, and what synchronises them. */
#include "analyze/trace/otf2_events.h"

static void append_rma(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind, OTF2_RmaWinRef win,
                       uint32_t remote, uint64_t bytes, uint64_t bytes_in)
{
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t index = ids_get(&tables->wins, win);
    struct event *event = events_append(location, time, kind);
    event->comm = index == TRACE_NONE ? TRACE_NONE : tables->comm_of_win.at[index];
    event->peer = remote;
    event->window = index;
    event->bytes = bytes;
    event->bytes_in = bytes_in;
}

CALLBACK(on_put, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t matching)
{
    BEGIN;
    (void)matching;
    append_rma(location, time, EV_RMA, win, remote, bytes, 0);
    return OK;
}

CALLBACK(on_get, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t matching)
{
    BEGIN;
    (void)matching;
    append_rma(location, time, EV_RMA, win, remote, 0, bytes);
    return OK;
}

CALLBACK(on_atomic, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t bytes, uint64_t bytes_in,
         uint64_t matching)
{
    BEGIN;
    (void)type, (void)matching;
    append_rma(location, time, EV_RMA, win, remote, bytes, bytes_in);
    return OK;
}

CALLBACK(on_rma_collective_end, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win, uint32_t root,
         uint64_t bytes, uint64_t bytes_in)
{
    BEGIN;
    (void)op, (void)level, (void)root, (void)bytes, (void)bytes_in;
    append_rma(location, time, EV_RMA_SYNC, win, TRACE_NONE, 0, 0);
    return OK;
}

static uint32_t rank_in_comm(const struct trace *trace, uint32_t comm, uint64_t world_rank)
{
    for (uint32_t i = 0; comm != TRACE_NONE && i < trace->comms[comm].n; i++)
        if (trace->comms[comm].ranks[i] == world_rank)
            return i;
    return TRACE_NONE;
}

CALLBACK(on_rma_group_sync, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win, OTF2_GroupRef group)
{
    BEGIN;
    (void)level;
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t index = ids_get(&tables->groups, group);
    uint32_t n = index == TRACE_NONE ? 0 : tables->group_members.at[index].n;
    for (uint32_t i = 0; i < n; i++) {
        append_rma(location, time, EV_RMA_SYNC, win, TRACE_NONE, 0, 0);
        struct event *event = &location->batch.at[location->batch.n - 1].event;
        event->peer = rank_in_comm(location->archive->trace, event->comm, tables->group_members.at[index].members[i]);
    }
    return OK;
}

CALLBACK(on_rma_lock, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock, OTF2_LockType type)
{
    BEGIN;
    (void)lock;
    append_rma(location, time, EV_RMA_SYNC, win, remote, 0, 0);
    location->batch.at[location->batch.n - 1].event.tag =
        type == OTF2_LOCK_EXCLUSIVE ? WW_LOCK_EXCLUSIVE : WW_LOCK_SHARED;
    return OK;
}

CALLBACK(on_rma_unlock, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock)
{
    BEGIN;
    (void)lock;
    append_rma(location, time, EV_RMA_SYNC, win, remote, 0, 0);
    return OK;
}

CALLBACK(on_rma_flush, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaSyncType type)
{
    BEGIN;
    (void)type;
    append_rma(location, time, EV_RMA_SYNC, win, remote, 0, 0);
    return OK;
}

void events_set_rma(OTF2_EvtReaderCallbacks *callbacks)
{
    SET(RmaPut, on_put);
    SET(RmaGet, on_get);
    SET(RmaAtomic, on_atomic);
    SET(RmaCollectiveEnd, on_rma_collective_end);
    SET(RmaGroupSync, on_rma_group_sync);
    SET(RmaRequestLock, on_rma_lock);
    SET(RmaAcquireLock, on_rma_lock);
    SET(RmaReleaseLock, on_rma_unlock);
    SET(RmaSync, on_rma_flush);
}
