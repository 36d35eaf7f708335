/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of messages and collectives, blocking and non-blocking. */
#include "analyze/trace/otf2_events.h"

uint32_t events_comm(const struct location_reader *location, OTF2_CommRef id)
{
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t comm = id == OTF2_UNDEFINED_COMM ? TRACE_NONE : ids_get(&tables->comms, id);
    if (comm == tables->self_comm && comm != TRACE_NONE)
        return tables->self_first + location->archive->trace->locations[location->loc].rank;
    return comm;
}

/* A rank of the remote group, where the archive counts through both. */
uint32_t events_peer(const struct location_reader *location, OTF2_CommRef id, uint32_t peer)
{
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t comm = id == OTF2_UNDEFINED_COMM ? TRACE_NONE : ids_get(&tables->comms, id);
    uint32_t n_first = comm == TRACE_NONE ? 0 : tables->comm_n_first.at[comm];
    return peer >= n_first && peer != TRACE_NONE ? peer - n_first : peer;
}

const struct trace_region *events_mpi_region(const struct location_reader *location)
{
    return location->region == TRACE_NONE ? NULL : &location->archive->trace->regions[location->region];
}

static uint16_t coll_of(const struct location_reader *location, OTF2_CollectiveOp op, bool is_blocking)
{
    static const enum ww_coll colls[] = {
        [OTF2_COLLECTIVE_OP_BARRIER] = WW_COLL_BARRIER,
        [OTF2_COLLECTIVE_OP_BCAST] = WW_COLL_BCAST,
        [OTF2_COLLECTIVE_OP_GATHER] = WW_COLL_GATHER,
        [OTF2_COLLECTIVE_OP_GATHERV] = WW_COLL_GATHERV,
        [OTF2_COLLECTIVE_OP_SCATTER] = WW_COLL_SCATTER,
        [OTF2_COLLECTIVE_OP_SCATTERV] = WW_COLL_SCATTERV,
        [OTF2_COLLECTIVE_OP_ALLGATHER] = WW_COLL_ALLGATHER,
        [OTF2_COLLECTIVE_OP_ALLGATHERV] = WW_COLL_ALLGATHERV,
        [OTF2_COLLECTIVE_OP_ALLTOALL] = WW_COLL_ALLTOALL,
        [OTF2_COLLECTIVE_OP_ALLTOALLV] = WW_COLL_ALLTOALLV,
        [OTF2_COLLECTIVE_OP_ALLTOALLW] = WW_COLL_ALLTOALLW,
        [OTF2_COLLECTIVE_OP_ALLREDUCE] = WW_COLL_ALLREDUCE,
        [OTF2_COLLECTIVE_OP_REDUCE] = WW_COLL_REDUCE,
        [OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = WW_COLL_REDUCE_SCATTER,
        [OTF2_COLLECTIVE_OP_SCAN] = WW_COLL_SCAN,
        [OTF2_COLLECTIVE_OP_EXSCAN] = WW_COLL_EXSCAN,
        [OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = WW_COLL_REDUCE_SCATTER_BLOCK,
    };
    const struct trace_region *region = is_blocking ? events_mpi_region(location) : NULL;
    if (region && region->coll != WW_COLL_NONE)
        return (uint16_t)region->coll; /* tells neighbourhoods apart */
    return op < sizeof colls / sizeof *colls ? (uint16_t)colls[op] : (uint16_t)WW_COLL_CREATE;
}

/* Roots that are no rank (intercommunicators) are not told apart. */
static uint32_t root_of(const struct location_reader *location, OTF2_CommRef comm, uint32_t root)
{
    return root >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? TRACE_NONE : events_peer(location, comm, root);
}

/* Messages. */

static void append_message(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind, uint32_t peer,
                           OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    struct event *event = events_append(location, time, kind);
    event->peer = events_peer(location, comm, peer);
    event->comm = events_comm(location, comm);
    event->tag = (int32_t)tag;
    event->bytes = bytes;
    event->request = request;
}

CALLBACK(on_send, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    BEGIN;
    append_message(location, time, EV_SEND, receiver, comm, tag, bytes, 0);
    return OK;
}

CALLBACK(on_recv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    BEGIN;
    append_message(location, time, EV_RECV, sender, comm, tag, bytes, 0);
    return OK;
}

CALLBACK(on_isend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    BEGIN;
    append_message(location, time, EV_ISEND, receiver, comm, tag, bytes, request);
    return OK;
}

CALLBACK(on_irecv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    BEGIN;
    append_message(location, time, EV_IRECV_DONE, sender, comm, tag, bytes, request);
    return OK;
}

CALLBACK(on_isend_complete, uint64_t request)
{
    BEGIN;
    events_append(location, time, EV_ISEND_DONE)->request = request;
    return OK;
}

CALLBACK(on_irecv_request, uint64_t request)
{
    BEGIN;
    events_append(location, time, EV_IRECV)->request = request;
    return OK;
}

CALLBACK(on_cancelled, uint64_t request)
{
    BEGIN;
    events_append(location, time, EV_CANCELLED)->request = request;
    return OK;
}

/* Collectives. */

static OTF2_CallbackCode on_collective_begin(OTF2_LocationRef id, OTF2_TimeStamp time, uint64_t position, void *user,
                                             OTF2_AttributeList *attributes)
{
    BEGIN;
    events_append(location, time, EV_COLL_BEGIN)->coll = coll_of(location, OTF2_COLLECTIVE_OP_CREATE_HANDLE, true);
    return OK;
}

static void append_coll(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind,
                        OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t bytes, uint64_t bytes_in,
                        uint64_t request)
{
    struct event *event = events_append(location, time, kind);
    event->coll = coll_of(location, op, kind == EV_COLL_END);
    event->comm = events_comm(location, comm);
    event->peer = root_of(location, comm, root);
    event->bytes = bytes;
    event->bytes_in = bytes_in;
    event->request = request;
}

CALLBACK(on_collective_end, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t bytes, uint64_t bytes_in)
{
    BEGIN;
    append_coll(location, time, EV_COLL_END, op, comm, root, bytes, bytes_in, 0);
    return OK;
}

/* The call that says what is done: the one that starts it, or that made a persistent request. */
static const struct trace_region *operation_of(const struct location_reader *location,
                                               const OTF2_AttributeList *attributes)
{
    const struct trace *trace = location->archive->trace;
    OTF2_RegionRef made_by;
    if (!trace->is_ours ||
        OTF2_AttributeList_GetRegionRef(attributes, ARCHIVE_ATTR_OPERATION, &made_by) != OTF2_SUCCESS)
        return events_mpi_region(location);
    uint32_t region = events_region(location, made_by);
    return region == TRACE_NONE ? NULL : &trace->regions[region];
}

CALLBACK(on_icoll_request, uint64_t request)
{
    BEGIN;
    const struct trace_region *region = operation_of(location, attributes);
    struct event *event = events_append(location, time, EV_ICOLL);
    event->request = request;
    event->coll = region ? (uint16_t)region->coll : (uint16_t)WW_COLL_NONE;
    return OK;
}

CALLBACK(on_icoll_complete, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t bytes, uint64_t bytes_in,
         uint64_t request)
{
    BEGIN;
    append_coll(location, time, EV_ICOLL_DONE, op, comm, root, bytes, bytes_in, request);
    return OK;
}

void events_set_messages(OTF2_EvtReaderCallbacks *callbacks)
{
    SET(MpiSend, on_send);
    SET(MpiRecv, on_recv);
    SET(MpiIsend, on_isend);
    SET(MpiIrecv, on_irecv);
    SET(MpiIsendComplete, on_isend_complete);
    SET(MpiIrecvRequest, on_irecv_request);
    SET(MpiRequestCancelled, on_cancelled);
    SET(MpiCollectiveBegin, on_collective_begin);
    SET(MpiCollectiveEnd, on_collective_end);
    SET(NonBlockingCollectiveRequest, on_icoll_request);
    SET(NonBlockingCollectiveComplete, on_icoll_complete);
}

/* Records of one-sided communication: operations, and what synchronises them. */

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
