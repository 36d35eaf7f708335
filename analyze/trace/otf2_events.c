/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OTF2 event records to struct event, appended to the batch of their location with the time as recorded. Records that
 * the analysis has no use for leave nothing.
 */
#include "analyze/trace/otf2_events.h"
#include "wrap/base/err.h"

uint64_t events_time_ns(const struct archive_reader *archive, uint64_t ticks)
{
    unsigned __int128 ns = ticks;
    if (archive->resolution != 1000000000)
        ns = ns * 1000000000u / archive->resolution;
    return ns > CLOCK_LATEST_NS ? CLOCK_LATEST_NS : (uint64_t)ns;
}

struct event *events_append(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind)
{
    struct event *event = &vec_push(&location->batch)->event;
    struct batch_event *last = &location->batch.at[location->batch.n - 1];
    last->raw_ns = event->time_ns = location->last_raw_ns = events_time_ns(location->archive, time);
    event->loc = location->loc;
    event->kind = (uint16_t)kind;
    event->region = event->frame = event->comm = event->peer = TRACE_NONE;
    return event;
}

static uint32_t frame_of(const struct location_reader *location, OTF2_CallingContextRef id)
{
    return id == OTF2_UNDEFINED_CALLING_CONTEXT ? TRACE_NONE : ids_get(&location->archive->tables.frames, id);
}

static bool is_synthetic(const struct location_reader *location)
{
    const struct trace_region *region = events_mpi_region(location);
    return location->archive->synthesise && region && region->class == WW_COLLECTIVE;
}

static void append_collective(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind)
{
    struct event *event = events_append(location, time, kind);
    event->coll = (uint16_t)events_mpi_region(location)->coll;
    event->comm = 0;
}

/* Regions. */

/* The call stack of an Enter: given, or foreseen. */
static uint32_t stack_of(struct location_reader *location, const OTF2_AttributeList *attributes)
{
    uint64_t *foreseen = prediction_next(&location->stacks);
    OTF2_Type type;
    OTF2_AttributeValue value;
    if (OTF2_AttributeList_GetNumberOfElements(attributes) &&
        OTF2_AttributeList_GetAttributeByID(attributes, ARCHIVE_ATTR_STACK, &type, &value) == OTF2_SUCCESS &&
        type == OTF2_TYPE_CALLING_CONTEXT) {
        uint32_t frame = frame_of(location, value.callingContextRef);
        *foreseen = frame == TRACE_NONE ? 0 : 1 + (uint64_t)frame;
    }
    uint64_t stack = *foreseen;
    prediction_move(&location->stacks, stack);
    return stack ? (uint32_t)(stack - 1) : TRACE_NONE;
}

uint32_t events_region(const struct location_reader *location, OTF2_RegionRef id)
{
    uint32_t index = ids_get(&location->archive->tables.regions, id);
    return index == TRACE_NONE ? TRACE_NONE : location->archive->tables.region_of.at[index];
}

static void enter(struct location_reader *location, OTF2_TimeStamp time, uint32_t region, uint32_t frame)
{
    struct event *event = events_append(location, time, EV_ENTER);
    event->region = region;
    event->frame = frame;
    location->depth++;
    if (location->region != TRACE_NONE || !location->archive->trace->regions[region].is_mpi)
        return;
    location->region = region;
    location->region_depth = location->depth;
    if (is_synthetic(location))
        append_collective(location, time, EV_COLL_BEGIN);
}

static void leave(struct location_reader *location, OTF2_TimeStamp time, uint32_t region)
{
    bool is_outermost = location->region != TRACE_NONE && location->depth <= location->region_depth;
    if (is_outermost && is_synthetic(location))
        append_collective(location, time, EV_COLL_END);
    events_append(location, time, EV_LEAVE)->region = region;
    if (is_outermost)
        location->region = TRACE_NONE;
    if (location->depth)
        location->depth--;
}

CALLBACK(on_enter, OTF2_RegionRef region)
{
    BEGIN;
    uint32_t index = events_region(location, region);
    uint32_t frame = location->archive->trace->is_ours ? stack_of(location, attributes) : TRACE_NONE;
    if (index != TRACE_NONE)
        enter(location, time, index, frame);
    return OK;
}

/* The message that a call waited for or has found. */
static struct event *append_message(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind,
                                    const OTF2_AttributeList *attributes)
{
    struct event *event = events_append(location, time, kind);
    OTF2_CommRef comm = OTF2_UNDEFINED_COMM;
    OTF2_AttributeList_GetCommRef(attributes, ARCHIVE_ATTR_COMM, &comm);
    OTF2_AttributeList_GetUint32(attributes, ARCHIVE_ATTR_PEER, &event->peer);
    OTF2_AttributeList_GetInt32(attributes, ARCHIVE_ATTR_TAG, &event->tag);
    event->comm = events_comm(location, comm);
    event->peer = events_peer(location, comm, event->peer);
    return event;
}

/* A call that never returned has no leave: the location ends in it. */
static void break_off(struct location_reader *location, OTF2_TimeStamp time, uint32_t region,
                      const OTF2_AttributeList *attributes)
{
    append_message(location, time, EV_UNFINISHED, attributes)->region = region;
    location->is_broken_off = true;
}

CALLBACK(on_leave, OTF2_RegionRef region)
{
    BEGIN;
    uint32_t index = events_region(location, region);
    if (location->archive->trace->is_ours && OTF2_AttributeList_GetNumberOfElements(attributes)) {
        uint64_t n_polls = 0;
        uint8_t is_unfinished = 0;
        if (OTF2_AttributeList_GetUint64(attributes, ARCHIVE_ATTR_POLLS, &n_polls) == OTF2_SUCCESS)
            events_append(location, time, EV_POLLS)->bytes = n_polls;
        OTF2_AttributeList_GetUint8(attributes, ARCHIVE_ATTR_UNFINISHED, &is_unfinished);
        if (is_unfinished) {
            break_off(location, time, index, attributes);
            return OK;
        }
        if (OTF2_AttributeList_TestAttributeByID(attributes, ARCHIVE_ATTR_PEER))
            append_message(location, time, EV_PROBED, attributes);
    }
    if (index != TRACE_NONE)
        leave(location, time, index);
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
    struct event *event = events_append(location, time, EV_SAMPLE);
    const struct trace *trace = location->archive->trace;
    event->frame = frame_of(location, context);
    event->weight_ns = trace->locations[location->loc].sample_period_ns;
    if (trace->is_ours) {
        OTF2_AttributeList_GetUint64(attributes, ARCHIVE_ATTR_WEIGHT, &event->weight_ns);
        event->flags = generator == ARCHIVE_GEN_KERNEL    ? WW_S_KERNEL
                       : generator == ARCHIVE_GEN_BLOCKED ? WW_S_BLOCKED
                       : generator == ARCHIVE_GEN_SYNC    ? WW_S_BLOCKED | WW_S_SYNC
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
    struct event *event = events_append(location, time, state == ARCHIVE_SCHED_ON ? EV_ON : EV_OFF);
    event->flags = state == ARCHIVE_SCHED_PREEMPTED ? WW_SW_PREEMPTED : 0;
    return OK;
}

CALLBACK(on_control, OTF2_MeasurementMode mode)
{
    BEGIN;
    events_append(location, time, EV_CONTROL)->flags = mode == OTF2_MEASUREMENT_ON;
    return OK;
}

static void append_bins(struct location_reader *location, const OTF2_AttributeList *attributes)
{
    const struct trace *trace = location->archive->trace;
    uint32_t n = OTF2_AttributeList_GetNumberOfElements(attributes);
    for (uint32_t i = 0; i < n; i++) {
        OTF2_AttributeRef id;
        OTF2_Type type;
        OTF2_AttributeValue value;
        if (OTF2_AttributeList_GetAttributeByIndex(attributes, i, &id, &type, &value) == OTF2_SUCCESS &&
            type == OTF2_TYPE_UINT64 && id - trace->first_counter < trace->n_points)
            *vec_push(&location->bins) = (struct trace_bin){id - trace->first_counter, value.uint64};
    }
}

/* One set of counts may stand in several records of the same time; `left` says how many counts are still to come. */
CALLBACK(on_counts, OTF2_ParameterRef parameter, uint64_t left)
{
    BEGIN;
    (void)left;
    if (!location->archive->trace->is_ours || parameter != ARCHIVE_PARAM_COUNTS)
        return OK;
    struct batch_event *last = location->batch.n ? &location->batch.at[location->batch.n - 1] : NULL;
    if (!location->counts_follow || !last || last->event.kind != EV_BINS) {
        events_append(location, time, EV_BINS);
        last = &location->batch.at[location->batch.n - 1];
        last->first_bin = location->bins.n;
    }
    append_bins(location, attributes);
    last->event.n_bins = (uint32_t)(location->bins.n - last->first_bin);
    location->counts_follow = left > 0;
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
    events_set_messages(callbacks);
    events_set_rma(callbacks);
    events_set_io(callbacks);
    SET(CallingContextSample, on_sample);
    SET(Metric, on_metric);
    SET(MeasurementOnOff, on_control);
    SET(ParameterUnsignedInt, on_counts);
    return callbacks;
}

/*
 * Records of I/O. The analysis wants to know which call worked on which file, and how much it moved: the end of an
 * operation tells, also of a non-blocking one. What an MPI library does to the file system below (other paradigms, in
 * archives of other tools) is the same data once more.
 */

static void append_io(struct location_reader *location, OTF2_TimeStamp time, OTF2_IoHandleRef handle, uint64_t bytes)
{
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t index = ids_get(&tables->io_handles, handle);
    uint32_t file = index == TRACE_NONE ? TRACE_NONE : tables->file_of_handle.at[index];
    if (file == TRACE_NONE)
        return;
    struct event *event = events_append(location, time, EV_IO);
    event->file = file;
    event->bytes = bytes;
}

CALLBACK(on_io_complete, OTF2_IoHandleRef handle, uint64_t bytes, uint64_t matching)
{
    BEGIN;
    (void)matching;
    append_io(location, time, handle, bytes);
    return OK;
}

CALLBACK(on_io_create, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode, OTF2_IoCreationFlag how,
         OTF2_IoStatusFlag status)
{
    BEGIN;
    (void)mode, (void)how, (void)status;
    append_io(location, time, handle, 0);
    return OK;
}

CALLBACK(on_io_destroy, OTF2_IoHandleRef handle)
{
    BEGIN;
    append_io(location, time, handle, 0);
    return OK;
}

void events_set_io(OTF2_EvtReaderCallbacks *callbacks)
{
    SET(IoOperationComplete, on_io_complete);
    SET(IoCreateHandle, on_io_create);
    SET(IoDestroyHandle, on_io_destroy);
}
