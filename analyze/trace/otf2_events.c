/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OTF2 event records to struct event, appended to the batch of their location with the time as recorded. Records that
 * the analysis has no use for leave nothing.
 */
#include "analyze/trace/locations.h"
#include "wrap/base/err.h"

#define OK OTF2_CALLBACK_SUCCESS

#define CALLBACK(name, ...)                                                                                            \
    static OTF2_CallbackCode name(OTF2_LocationRef id, OTF2_TimeStamp time, uint64_t position, void *user,             \
                                  OTF2_AttributeList *attributes, __VA_ARGS__)
#define BEGIN                                                                                                          \
    struct location_reader *location = user;                                                                           \
    (void)id, (void)position, (void)attributes;                                                                        \
    if (location->now.is_broken_off)                                                                                   \
    return OK

#define SET(name, function) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, function)

uint64_t events_time_ns(const struct archive_reader *archive, uint64_t ticks)
{
    unsigned __int128 ns = ticks;
    if (archive->resolution != 1000000000)
        ns = ns * 1000000000u / archive->resolution;
    return ns > CLOCK_LATEST_NS ? CLOCK_LATEST_NS : (uint64_t)ns;
}

/* A new event, of which nothing but kind, time and location is known. Valid until the next one. */
static struct event *append_event(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind)
{
    struct event *event = vec_push(&location->batch);
    event->time_ns = location->now.last_raw_ns = events_time_ns(location->archive, time);
    event->loc = location->loc;
    event->kind = (uint16_t)kind;
    event->region = event->frame = event->comm = event->peer = TRACE_NONE;
    return event;
}

uint32_t events_comm(const struct archive_reader *archive, uint32_t rank, OTF2_CommRef id)
{
    const struct defs_tables *tables = &archive->tables;
    uint32_t comm = id == OTF2_UNDEFINED_COMM ? TRACE_NONE : ids_get(&tables->comms, id);
    return comm == tables->self_comm && comm != TRACE_NONE ? tables->self_first + rank : comm;
}

static uint32_t comm_of(const struct location_reader *location, OTF2_CommRef id)
{
    return events_comm(location->archive, location->archive->trace->locations[location->loc].rank, id);
}

/* A rank of the remote group, where the archive counts through both. */
static uint32_t peer_of(const struct location_reader *location, OTF2_CommRef id, uint32_t peer)
{
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t comm = id == OTF2_UNDEFINED_COMM ? TRACE_NONE : ids_get(&tables->comms, id);
    uint32_t n_first = comm == TRACE_NONE ? 0 : tables->comm_n_first.at[comm];
    return peer >= n_first && peer != TRACE_NONE ? peer - n_first : peer;
}

static const struct trace_region *mpi_region(const struct location_reader *location)
{
    return location->now.region == TRACE_NONE ? NULL : &location->archive->trace->regions[location->now.region];
}

static uint32_t frame_of(const struct location_reader *location, OTF2_CallingContextRef id)
{
    return id == OTF2_UNDEFINED_CALLING_CONTEXT ? TRACE_NONE : ids_get(&location->archive->tables.frames, id);
}

static bool is_synthetic(const struct location_reader *location)
{
    const struct trace_region *region = mpi_region(location);
    return location->archive->synthesise && region && region->class == WW_COLLECTIVE;
}

static void append_collective(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind)
{
    struct event *event = append_event(location, time, kind);
    event->coll = (uint16_t)mpi_region(location)->coll;
    event->comm = 0;
}

/* Regions. */

/* The call stack of an Enter: given, or foreseen. */
static uint32_t stack_of(struct location_reader *location, const OTF2_AttributeList *attributes)
{
    uint64_t stack = location->stacks.foreseen;
    OTF2_CallingContextRef context;
    if (OTF2_AttributeList_GetNumberOfElements(attributes)) {
        bool is_anew = OTF2_AttributeList_GetCallingContextRef(attributes, ARCHIVE_ATTR_ANEW, &context) == OTF2_SUCCESS;
        if (is_anew)
            prediction_release(&location->stacks);
        if (is_anew ||
            OTF2_AttributeList_GetCallingContextRef(attributes, ARCHIVE_ATTR_STACK, &context) == OTF2_SUCCESS) {
            uint32_t frame = frame_of(location, context);
            stack = frame == TRACE_NONE ? 0 : 1 + (uint64_t)frame;
        }
    }
    prediction_move(&location->stacks, stack);
    return stack ? (uint32_t)(stack - 1) : TRACE_NONE;
}

/* Index in the trace; TRACE_NONE. */
static uint32_t region_index(const struct location_reader *location, OTF2_RegionRef id)
{
    uint32_t index = ids_get(&location->archive->tables.regions, id);
    return index == TRACE_NONE ? TRACE_NONE : location->archive->tables.region_of.at[index];
}

static void enter(struct location_reader *location, OTF2_TimeStamp time, uint32_t region, uint32_t frame)
{
    struct event *event = append_event(location, time, EV_ENTER);
    event->region = region;
    event->frame = frame;
    location->now.depth++;
    if (location->now.region != TRACE_NONE || !location->archive->trace->regions[region].is_mpi)
        return;
    location->now.region = region;
    location->now.region_depth = location->now.depth;
    if (is_synthetic(location))
        append_collective(location, time, EV_COLL_BEGIN);
}

static struct event *leave(struct location_reader *location, OTF2_TimeStamp time, uint32_t region)
{
    bool is_outermost = location->now.region != TRACE_NONE && location->now.depth <= location->now.region_depth;
    if (is_outermost && is_synthetic(location))
        append_collective(location, time, EV_COLL_END);
    struct event *event = append_event(location, time, EV_LEAVE);
    event->region = region;
    if (is_outermost)
        location->now.region = TRACE_NONE;
    if (location->now.depth)
        location->now.depth--;
    return event;
}

CALLBACK(on_enter, OTF2_RegionRef region)
{
    BEGIN;
    uint32_t index = region_index(location, region);
    uint32_t frame = location->archive->trace->is_ours ? stack_of(location, attributes) : TRACE_NONE;
    if (index != TRACE_NONE)
        enter(location, time, index, frame);
    return OK;
}

/* The message that a call waited for or has found. */
static struct event *append_awaited(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind,
                                    const OTF2_AttributeList *attributes)
{
    struct event *event = append_event(location, time, kind);
    OTF2_CommRef comm = OTF2_UNDEFINED_COMM;
    OTF2_AttributeList_GetCommRef(attributes, ARCHIVE_ATTR_COMM, &comm);
    OTF2_AttributeList_GetUint32(attributes, ARCHIVE_ATTR_PEER, &event->peer);
    OTF2_AttributeList_GetInt32(attributes, ARCHIVE_ATTR_TAG, &event->tag);
    event->comm = comm_of(location, comm);
    event->peer = peer_of(location, comm, event->peer);
    return event;
}

CALLBACK(on_leave, OTF2_RegionRef region)
{
    BEGIN;
    uint32_t index = region_index(location, region);
    int32_t n_more = 0;
    if (location->archive->trace->is_ours && OTF2_AttributeList_GetNumberOfElements(attributes)) {
        uint64_t n_polls = 0;
        uint8_t is_unfinished = 0;
        if (OTF2_AttributeList_GetUint64(attributes, ARCHIVE_ATTR_POLLS, &n_polls) == OTF2_SUCCESS)
            append_event(location, time, EV_POLLS)->bytes = n_polls;
        if (OTF2_AttributeList_TestAttributeByID(attributes, ARCHIVE_ATTR_OUTSIDE))
            append_event(location, time, EV_OUTSIDE);
        OTF2_AttributeList_GetInt32(attributes, ARCHIVE_ATTR_CALLS, &n_more);
        OTF2_AttributeList_GetUint8(attributes, ARCHIVE_ATTR_UNFINISHED, &is_unfinished);
        if (is_unfinished) {
            /* A call that never returned has no leave: the location ends in it. */
            append_awaited(location, time, EV_UNFINISHED, attributes)->region = index;
            location->now.is_broken_off = true;
            return OK;
        }
        if (OTF2_AttributeList_TestAttributeByID(attributes, ARCHIVE_ATTR_PEER))
            append_awaited(location, time, EV_PROBED, attributes);
    }
    if (index != TRACE_NONE)
        leave(location, time, index)->tag = n_more;
    return OK;
}

static uint32_t context_region(const struct location_reader *location, OTF2_CallingContextRef context)
{
    uint32_t frame = frame_of(location, context);
    return frame == TRACE_NONE ? TRACE_NONE : location->archive->trace->frames[frame].region;
}

CALLBACK(on_context_enter, OTF2_CallingContextRef context, uint32_t unwind_distance)
{
    BEGIN;
    (void)unwind_distance;
    uint32_t region = context_region(location, context);
    if (region != TRACE_NONE)
        enter(location, time, region, location->archive->trace->frames[frame_of(location, context)].parent);
    return OK;
}

CALLBACK(on_context_leave, OTF2_CallingContextRef context)
{
    BEGIN;
    uint32_t region = context_region(location, context);
    if (region != TRACE_NONE)
        leave(location, time, region);
    return OK;
}

/* Samples and what only our archives have. */

CALLBACK(on_sample, OTF2_CallingContextRef context, uint32_t unwind_distance, OTF2_InterruptGeneratorRef generator)
{
    BEGIN;
    (void)unwind_distance;
    struct event *event = append_event(location, time, EV_SAMPLE);
    const struct trace *trace = location->archive->trace;
    event->frame = frame_of(location, context);
    event->weight_ns = trace->locations[location->loc].sample_period_ns;
    if (trace->is_ours) {
        OTF2_AttributeList_GetUint64(attributes, ARCHIVE_ATTR_WEIGHT, &event->weight_ns);
        event->flags = generator == ARCHIVE_GEN_KERNEL    ? WW_S_KERNEL
                       : generator == ARCHIVE_GEN_BLOCKED ? WW_S_BLOCKED
                       : generator == ARCHIVE_GEN_SYNC    ? WW_S_BLOCKED | WW_S_SYNC
                       : generator == ARCHIVE_GEN_PIPE    ? WW_S_BLOCKED | WW_S_PIPE
                       : generator == ARCHIVE_GEN_NETWORK ? WW_S_BLOCKED | WW_S_NETWORK
                       : generator == ARCHIVE_GEN_TIME    ? WW_S_BLOCKED | WW_S_TIME
                                                          : 0;
    }
    return OK;
}

CALLBACK(on_metric, OTF2_MetricRef metric, uint8_t n, const OTF2_Type *types, const OTF2_MetricValue *values)
{
    BEGIN;
    if (!location->archive->trace->is_ours || metric != ARCHIVE_METRIC_SCHED || n != 1 || types[0] != OTF2_TYPE_UINT64)
        return OK;
    uint64_t state = values[0].unsigned_int;
    struct event *event = append_event(location, time, state == ARCHIVE_SCHED_ON ? EV_ON : EV_OFF);
    event->flags = state == ARCHIVE_SCHED_PREEMPTED ? WW_SW_PREEMPTED
                   : state == ARCHIVE_SCHED_STOPPED ? WW_SW_PREEMPTED | WW_SW_STOPPED
                                                    : 0;
    return OK;
}

CALLBACK(on_control, OTF2_MeasurementMode mode)
{
    BEGIN;
    uint32_t window = 0;
    struct event *event = append_event(location, time, EV_CONTROL);
    event->flags = mode == OTF2_MEASUREMENT_ON;
    OTF2_AttributeList_GetUint32(attributes, ARCHIVE_ATTR_WINDOW, &window);
    event->request = location->archive->trace->is_ours ? window : 0;
    return OK;
}

/* One set of counts may stand in several records of the same time; `left` says how many counts are still to come. */
CALLBACK(on_parameter, OTF2_ParameterRef parameter, uint64_t left)
{
    BEGIN;
    if (location->archive->trace->is_ours && parameter == ARCHIVE_PARAM_PENDING)
        append_awaited(location, time, EV_PENDING, attributes)->flags = left != 0;
    if (!location->archive->trace->is_ours || parameter != ARCHIVE_PARAM_COUNTS)
        return OK;
    struct event *last = location->batch.n ? &location->batch.at[location->batch.n - 1] : NULL;
    if (!location->now.counts_follow || !last || last->kind != EV_BINS)
        last = append_event(location, time, EV_BINS);
    size_t n_before = location->bins.n;
    const struct trace *trace = location->archive->trace;
    uint32_t n = OTF2_AttributeList_GetNumberOfElements(attributes);
    for (uint32_t i = 0; i < n; i++) {
        OTF2_AttributeRef attribute;
        OTF2_Type type;
        OTF2_AttributeValue value;
        if (OTF2_AttributeList_GetAttributeByIndex(attributes, i, &attribute, &type, &value) == OTF2_SUCCESS &&
            type == OTF2_TYPE_UINT64 && attribute - trace->first_counter < trace->n_points)
            *vec_push(&location->bins) = (struct trace_bin){attribute - trace->first_counter, value.uint64};
    }
    last->n_bins += (uint32_t)(location->bins.n - n_before);
    location->now.counts_follow = left > 0;
    return OK;
}

/* Messages and collectives, blocking and non-blocking. */

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
    const struct trace_region *region = is_blocking ? mpi_region(location) : NULL;
    if (region && region->coll != WW_COLL_NONE)
        return (uint16_t)region->coll; /* tells neighbourhoods apart */
    return op < sizeof colls / sizeof *colls ? (uint16_t)colls[op] : (uint16_t)WW_COLL_CREATE;
}

/* Messages. */

static void append_message(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind, uint32_t peer,
                           OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    struct event *event = append_event(location, time, kind);
    event->peer = peer_of(location, comm, peer);
    event->comm = comm_of(location, comm);
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
    append_event(location, time, EV_ISEND_DONE)->request = request;
    return OK;
}

CALLBACK(on_irecv_request, uint64_t request)
{
    BEGIN;
    append_event(location, time, EV_IRECV)->request = request;
    return OK;
}

CALLBACK(on_cancelled, uint64_t request)
{
    BEGIN;
    bool is_freed =
        location->archive->trace->is_ours && OTF2_AttributeList_TestAttributeByID(attributes, ARCHIVE_ATTR_PEER);
    (is_freed ? append_awaited(location, time, EV_CANCELLED, attributes) : append_event(location, time, EV_CANCELLED))
        ->request = request;
    return OK;
}

/* Collectives. */

static OTF2_CallbackCode on_collective_begin(OTF2_LocationRef id, OTF2_TimeStamp time, uint64_t position, void *user,
                                             OTF2_AttributeList *attributes)
{
    BEGIN;
    append_event(location, time, EV_COLL_BEGIN)->coll = coll_of(location, OTF2_COLLECTIVE_OP_CREATE_HANDLE, true);
    return OK;
}

static void append_coll(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind,
                        OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t bytes, uint64_t bytes_in,
                        uint64_t request)
{
    struct event *event = append_event(location, time, kind);
    event->coll = coll_of(location, op, kind == EV_COLL_END);
    event->comm = comm_of(location, comm);
    event->peer = root >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? TRACE_NONE : peer_of(location, comm, root);
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
CALLBACK(on_icoll_request, uint64_t request)
{
    BEGIN;
    const struct trace *trace = location->archive->trace;
    const struct trace_region *region = mpi_region(location);
    OTF2_RegionRef made_by;
    if (trace->is_ours &&
        OTF2_AttributeList_GetRegionRef(attributes, ARCHIVE_ATTR_OPERATION, &made_by) == OTF2_SUCCESS) {
        uint32_t index = region_index(location, made_by);
        region = index == TRACE_NONE ? NULL : &trace->regions[index];
    }
    struct event *event = append_event(location, time, EV_ICOLL);
    event->request = request;
    OTF2_CommRef comm = OTF2_UNDEFINED_COMM;
    if (trace->is_ours && OTF2_AttributeList_GetCommRef(attributes, ARCHIVE_ATTR_COMM, &comm) == OTF2_SUCCESS)
        event->comm = comm_of(location, comm);
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

/* Records of one-sided communication: operations, and what synchronises them. */

static struct event *append_rma(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind,
                                OTF2_RmaWinRef win, uint32_t remote)
{
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t index = ids_get(&tables->wins, win);
    struct event *event = append_event(location, time, kind);
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

CALLBACK(on_rma_group_sync, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win, OTF2_GroupRef group)
{
    BEGIN;
    (void)level;
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t index = ids_get(&tables->groups, group);
    uint32_t n = index == TRACE_NONE ? 0 : tables->group_members.at[index].n;
    for (uint32_t i = 0; i < n; i++) {
        struct event *event = append_rma(location, time, EV_RMA_SYNC, win, TRACE_NONE);
        uint64_t world_rank = tables->group_members.at[index].members[i];
        const struct trace_comm *comm =
            event->comm == TRACE_NONE ? NULL : &location->archive->trace->comms[event->comm];
        for (uint32_t k = 0; comm && k < comm->n && event->peer == TRACE_NONE; k++)
            if (comm->ranks[k] == world_rank)
                event->peer = k;
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

/*
 * Records of I/O. The analysis wants to know which call worked on which file, and how much it moved: the end of an
 * operation tells, also of a non-blocking one. An MPI library's calls of the file system below (other paradigms, in
 * archives of other tools) are the same data once more.
 */

static void append_io(struct location_reader *location, OTF2_TimeStamp time, OTF2_IoHandleRef handle, uint64_t bytes,
                      bool is_collective)
{
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t index = ids_get(&tables->io_handles, handle);
    uint32_t file = index == TRACE_NONE ? TRACE_NONE : tables->file_of_handle.at[index];
    if (file == TRACE_NONE)
        return;
    struct event *event = append_event(location, time, EV_IO);
    event->file = file;
    event->bytes = bytes;
    if (is_collective)
        event->comm = comm_of(location, tables->comm_of_handle.at[index]);
}

CALLBACK(on_io_begin, OTF2_IoHandleRef handle, OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags, uint64_t bytes,
         uint64_t matching)
{
    BEGIN;
    (void)time, (void)handle, (void)mode, (void)bytes, (void)matching;
    location->now.is_in_collective_io =
        flags & OTF2_IO_OPERATION_FLAG_COLLECTIVE && !(flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING);
    return OK;
}

CALLBACK(on_io_complete, OTF2_IoHandleRef handle, uint64_t bytes, uint64_t matching)
{
    BEGIN;
    (void)matching;
    append_io(location, time, handle, bytes, location->now.is_in_collective_io);
    location->now.is_in_collective_io = false;
    return OK;
}

CALLBACK(on_io_create, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode, OTF2_IoCreationFlag how,
         OTF2_IoStatusFlag status)
{
    BEGIN;
    (void)mode, (void)how, (void)status;
    append_io(location, time, handle, 0, false);
    return OK;
}

CALLBACK(on_io_destroy, OTF2_IoHandleRef handle)
{
    BEGIN;
    append_io(location, time, handle, 0, false);
    return OK;
}

OTF2_EvtReaderCallbacks *events_callbacks(void)
{
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    if (!callbacks)
        err_out_of_memory(0);
    SET(Enter, on_enter);
    SET(Leave, on_leave);
    SET(CallingContextEnter, on_context_enter);
    SET(CallingContextLeave, on_context_leave);
    SET(CallingContextSample, on_sample);
    SET(Metric, on_metric);
    SET(MeasurementOnOff, on_control);
    SET(ParameterUnsignedInt, on_parameter);
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
    SET(IoOperationBegin, on_io_begin);
    SET(IoOperationComplete, on_io_complete);
    SET(IoCreateHandle, on_io_create);
    SET(IoDestroyHandle, on_io_destroy);
    return callbacks;
}
