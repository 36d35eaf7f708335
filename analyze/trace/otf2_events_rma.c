/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of one-sided communication: operations, and what synchronises them. */
#include "analyze/trace/otf2_events.h"

static struct event *append_rma(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind,
                                OTF2_RmaWinRef win, uint32_t remote)
{
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t index = ids_get(&tables->wins, win);
    struct event *event = events_append(location, time, kind);
    event->comm = index == TRACE_NONE ? TRACE_NONE : tables->comm_of_win.at[index];
    event->peer = remote;
    event->window = index;
    return event;
}

static struct event *append_operation(struct location_reader *location, OTF2_TimeStamp time, OTF2_RmaWinRef win,
                                      uint32_t remote, uint64_t bytes, uint64_t bytes_in, uint64_t matching)
{
    struct event *event = append_rma(location, time, EV_RMA, win, remote);
    event->bytes = bytes;
    event->bytes_in = bytes_in;
    event->request = matching;
    return event;
}

CALLBACK(on_put, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t matching)
{
    BEGIN;
    append_operation(location, time, win, remote, bytes, 0, matching);
    return OK;
}

CALLBACK(on_get, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t matching)
{
    BEGIN;
    append_operation(location, time, win, remote, 0, bytes, matching);
    return OK;
}

CALLBACK(on_atomic, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t bytes, uint64_t bytes_in,
         uint64_t matching)
{
    BEGIN;
    (void)type;
    append_operation(location, time, win, remote, bytes, bytes_in, matching)->tag = 1;
    return OK;
}

CALLBACK(on_rma_collective_end, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win, uint32_t root,
         uint64_t bytes, uint64_t bytes_in)
{
    BEGIN;
    (void)op, (void)level, (void)root, (void)bytes, (void)bytes_in;
    append_rma(location, time, EV_RMA_SYNC, win, TRACE_NONE);
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
        struct event *event = append_rma(location, time, EV_RMA_SYNC, win, TRACE_NONE);
        event->peer = rank_in_comm(location->archive->trace, event->comm, tables->group_members.at[index].members[i]);
    }
    return OK;
}

CALLBACK(on_rma_lock, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock, OTF2_LockType type)
{
    BEGIN;
    (void)lock;
    append_rma(location, time, EV_RMA_SYNC, win, remote)->tag =
        type == OTF2_LOCK_EXCLUSIVE ? WW_LOCK_EXCLUSIVE : WW_LOCK_SHARED;
    return OK;
}

CALLBACK(on_rma_unlock, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock)
{
    BEGIN;
    (void)lock;
    append_rma(location, time, EV_RMA_SYNC, win, remote);
    return OK;
}

CALLBACK(on_rma_flush, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaSyncType type)
{
    BEGIN;
    (void)type;
    append_rma(location, time, EV_RMA_SYNC, win, remote);
    return OK;
}

CALLBACK(on_rma_done, OTF2_RmaWinRef win, uint64_t matching)
{
    BEGIN;
    append_rma(location, time, EV_RMA_DONE, win, TRACE_NONE)->request = matching;
    return OK;
}

void events_set_rma(OTF2_EvtReaderCallbacks *callbacks)
{
    SET(RmaPut, on_put);
    SET(RmaGet, on_get);
    SET(RmaAtomic, on_atomic);
    SET(RmaOpCompleteNonBlocking, on_rma_done);
    SET(RmaCollectiveEnd, on_rma_collective_end);
    SET(RmaGroupSync, on_rma_group_sync);
    SET(RmaRequestLock, on_rma_lock);
    SET(RmaAcquireLock, on_rma_lock);
    SET(RmaReleaseLock, on_rma_unlock);
    SET(RmaSync, on_rma_flush);
}
