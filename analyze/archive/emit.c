/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which OTF2 records a call becomes follows from its class (mpi_calls.def):
 *
 *   at entry    Enter, and what the call starts: MpiSend, MpiIsend, MpiIrecvRequest, collective begin, RMA or I/O
 *               operation
 *   at return   what it completed: MpiRecv, MpiIsendComplete, MpiIrecv, collective end ..., and Leave
 *
 * The calling context of a call is an attribute of its Enter, left out when it is foreseen (prediction.h): a loop over
 * the same calls costs nothing after its first turn.
 */
#include "analyze/archive/emit.h"
#include "analyze/archive/comms.h"
#include "analyze/archive/emit_calls.h"
#include <string.h>

int emit_location_begin(struct emit_location *location, OTF2_Archive *archive, uint64_t id)
{
    *location = (struct emit_location){.writer = OTF2_Archive_GetEvtWriter(archive, id),
                                       .attributes = OTF2_AttributeList_New(),
                                       .thread = key_high(id)};
    return location->writer && location->attributes ? 0 : -1;
}

static uint64_t n_written(const struct emit_location *location)
{
    uint64_t n = 0;
    OTF2_EvtWriter_GetNumberOfEvents(location->writer, &n);
    return n;
}

enum { LEAVES_MORE = EMIT_FREES_COMM | EMIT_MAKES_WINDOW | EMIT_ON_WINDOW | EMIT_ON_FILE | EMIT_OPENS_FILE };

#define IS_COLLECTIVE(class)                                                                                           \
    ((class) == WW_COLLECTIVE || (class) == WW_COMM_CREATE || (class) == WW_COMM_FREE || (class) == WW_WIN_CREATE ||   \
     (class) == WW_WIN_FREE || (class) == WW_IO_COLLECTIVE)
#define MAKES_TEMPLATES(class)                                                                                         \
    ((class) == WW_SEND_INIT || (class) == WW_RECV_INIT || (class) == WW_COLL_INIT || (class) == WW_PARTITIONED ||     \
     (class) == WW_REQUEST_FREE)
#define IS_IO(class) ((class) == WW_IO || (class) == WW_IO_COLLECTIVE)

static const uint16_t call_does[WW_N_CALLS] = {
#define WW_MPI(name, class, coll)                                                                                      \
    [WW_ID_##name] =                                                                                                   \
        ((class) == WW_SEND || (class) == WW_SENDRECV ? EMIT_SENDS : 0) | ((class) == WW_RECV ? EMIT_RECEIVES : 0) |   \
        ((class) == WW_PROBE || (class) == WW_IPROBE ? EMIT_PROBES : 0) |                                              \
        (IS_COLLECTIVE(class) && (coll) != WW_COLL_NONE ? EMIT_GATHERS : 0) |                                          \
        (MAKES_TEMPLATES(class) ? EMIT_MAKES_REQUESTS : 0) | ((class) == WW_COMM_FREE ? EMIT_FREES_COMM : 0) |         \
        ((class) == WW_WIN_CREATE ? EMIT_MAKES_WINDOW : 0) |                                                           \
        ((class) >= WW_WIN_FREE && (class) <= WW_RMA_REQUEST ? EMIT_ON_WINDOW : 0) |                                   \
        (!IS_IO(class) && WW_ID_##name != WW_ID_File_seek ? 0                                                          \
         : WW_ID_##name == WW_ID_File_open                ? EMIT_OPENS_FILE                                            \
                                                          : EMIT_ON_FILE),
#include "wrap/mpi_calls.def"
#undef WW_MPI
};

static inline unsigned does_of(const struct emit_call *emit)
{
    const struct ww_call *call = &emit->call;
    unsigned does = call_does[call->call];
    bool failed = (call->flags & (WW_F_ERROR | WW_F_TRUNCATED)) == WW_F_ERROR;
    if (!call->comm || call->peer < 0 || call->flags & WW_F_NULL || failed)
        does &= ~(unsigned)(EMIT_SENDS | EMIT_RECEIVES | EMIT_PROBES);
    return does | (call->request || emit->is_followed ? EMIT_HAS_MORE : 0);
}

static __attribute__((noinline)) uint32_t comm_behind(const struct emitter *emitter, const struct ww_call *call)
{
    if (call_does[call->call] & EMIT_ON_WINDOW) {
        const uint64_t *comm = map_get(&emitter->win_comm, call->comm);
        return comm ? (uint32_t)*comm : 0;
    }
    const struct emit_file *file = emit_file(emitter, call->comm);
    return file ? file->comm : 0;
}

/* The communicator that a call is on, also by way of a window or file; 0 = unknown. */
static inline uint32_t comm_of(const struct emitter *emitter, const struct ww_call *call)
{
    return call_does[call->call] & (EMIT_ON_WINDOW | EMIT_ON_FILE) ? comm_behind(emitter, call) : call->comm;
}

bool emit_is_outside(const struct emitter *emitter, const struct ww_call *call)
{
    return map_get(&emitter->has_outsiders, comm_of(emitter, call));
}

void emit_define_comm(struct emitter *emitter, const struct ww_comm *comm)
{
    if (comm_has_outsiders(comm))
        *map_put(&emitter->has_outsiders, comm->id, NULL) = (uint64_t)comm_outside(comm);
    if (comm->remote_size && comm_has_members(comm))
        *map_put(&emitter->peers_from, comm->id, NULL) = comm_is_remote_first(comm) ? 0 : (uint64_t)comm->size;
}

static void used_release(struct emit_ids *ids)
{
    map_release(&ids->seen);
    vec_release(&ids->list);
}

void emitter_release(struct emitter *emitter)
{
    requests_release(&emitter->requests);
    starts_release(&emitter->starts);
    map_release(&emitter->win_comm);
    map_release(&emitter->peers_from);
    map_release(&emitter->has_outsiders);
    map_release(&emitter->access_group);
    map_release(&emitter->exposure_group);
    for (size_t i = 0; i < emitter->rma_targets.n; i++)
        vec_release(&emitter->rma_targets.at[i].ids);
    map_release(&emitter->rma_target_of);
    vec_release(&emitter->rma_targets);
    map_release(&emitter->file_of);
    vec_release(&emitter->files);
    intern_release(&emitter->io_names);
    map_release(&emitter->free_handles);
    used_release(&emitter->comms_used);
    used_release(&emitter->wins_used);
    used_release(&emitter->files_used);
    intern_release(&emitter->groups);
    intern_release(&emitter->counters);
}

/* Threads. Nobody recorded which thread made a worker: for OTF2 it is the main one, at its last event before. */

void emit_thread_begin(struct emit_location *main, struct emit_location *worker, uint64_t time_ns)
{
    uint64_t create_ns = emit_time(main, main->last_ns ? main->last_ns : time_ns);
    WRITE(main, ThreadCreate, NULL, create_ns, ARCHIVE_COMM_THREADS, worker->thread);
    WRITE(worker, ThreadBegin, NULL, emit_time(worker, time_ns), ARCHIVE_COMM_THREADS, worker->thread);
    worker->has_begun = true;
}

void emit_location_end(struct emit_location *location)
{
    if (location->has_begun)
        WRITE(location, ThreadEnd, NULL, location->last_ns, ARCHIVE_COMM_THREADS, location->thread);
    if (location->writer)
        location->n_events = n_written(location);
    if (location->attributes)
        OTF2_AttributeList_Delete(location->attributes);
    location->attributes = NULL;
    location->writer = NULL;
    prediction_release(&location->contexts);
}

/* Starts. */

/* No context: the first call after a start names its own. */
#define NOTHING_FORESEEN UINT64_MAX

/* May a reader begin with its next record, or with that by which it left the CPU? Then nothing was before it. */
static bool may_start(const struct emit_location *location, bool is_first)
{
    bool is_asleep = location->is_off && !is_first && location->n_calls == location->off_calls;
    return !location->is_in_call && !location->is_paused && (is_asleep || !location->is_off);
}

void emit_start(struct emitter *emitter, struct emit_location *locations, size_t n, uint64_t time_ns)
{
    struct starts *starts = &emitter->starts;
    uint64_t last_ns = time_ns;
    /* Windows are read from the first event on, since others tell where they begin. */
    bool may = !emitter->windows.n;
    for (size_t i = 0; may && i < n; i++) {
        may = may_start(&locations[i], !i);
        last_ns = locations[i].last_ns > last_ns ? locations[i].last_ns : last_ns;
    }
    if (!may)
        return;
    uint64_t *positions = starts_add(starts, last_ns, locations->n_calls, n);
    for (size_t i = 0; i < n; i++) {
        positions[i] = locations[i].is_off ? locations[i].off_at : n_written(&locations[i]);
        prediction_release(&locations[i].contexts);
        locations[i].contexts.foreseen = NOTHING_FORESEEN;
        locations[i].begins_anew = true;
    }
}

/* Entry. */

static inline void enter_region(struct emitter *emitter, struct emit_location *location, uint32_t region,
                                uint32_t context, uint64_t t)
{
    OTF2_AttributeList *attributes = NULL;
    if (context != location->contexts.foreseen) {
        attributes = location->attributes;
        OTF2_AttributeList_AddCallingContextRef(attributes,
                                                location->begins_anew ? ARCHIVE_ATTR_ANEW : ARCHIVE_ATTR_STACK,
                                                context ? context - 1 : OTF2_UNDEFINED_CALLING_CONTEXT);
        location->begins_anew = false;
    }
    prediction_move(&location->contexts, context);
    emitter->region_used[region] = 1;
    WRITE(location, Enter, attributes, t, region);
}

/* A window begins in this call: of what was posted before, receives matter to others. */
static void begin_pending(struct emitter *emitter, struct emit_location *location, const struct ww_call *call,
                          uint64_t t)
{
    struct request request = {.kind = REQUEST_NOTHING};
    if (call->call < WW_N_CALLS && call_info(call->call)->class != WW_START)
        request = emit_request_of(emitter, call, call->comm);
    else
        requests_kept(&emitter->requests, call->request, &request);
    if (request.kind != REQUEST_RECV && request.kind != REQUEST_OUTSIDE)
        return;
    emit_request_begin(emitter, location, &request, t);
    request.start_ns = call->enter_ns;
    requests_start(&emitter->requests, call->request, &request);
}

/* Operations it starts: requests, and operations on windows and files. Out of line, since most calls start nothing:
 * what is kept in registers here, each of them would have to save. */
static __attribute__((noinline)) void enter_operations(struct emitter *emitter, struct emit_location *location,
                                                       struct emit_call *emit, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    const struct call_info *info = call_info(call->call);
    bool communicates = call->comm && !(call->flags & (WW_F_NULL | WW_F_ERROR));
    if (info->class == WW_RMA_FENCE && communicates)
        WRITE(location, RmaCollectiveBegin, NULL, t);
    bool starts = call->request && !(call->flags & WW_F_POLL) && emit_request_kind(info) != REQUEST_NOTHING;
    struct request request;
    if (starts) {
        request = emit_request_of(emitter, call, emit->old_comm);
        starts = call->comm || request.kind == REQUEST_OUTSIDE;
    }
    if (starts && !emit_request_is_template(info)) {
        emit_request_begin(emitter, location, &request, t);
        request.start_ns = call->leave_ns;
        requests_start(&emitter->requests, call->request, &request);
    }
    if (info->class >= WW_RMA_PUT && info->class <= WW_RMA_REQUEST && communicates)
        emit_rma_operation(emitter, location, call, starts ? &request : NULL, t);
    if (emit->does & EMIT_ON_FILE)
        emit_io_begin(emitter, location, emit, starts ? &request : NULL, t);
    for (size_t i = 0; i < emit->pending.n; i++)
        begin_pending(emitter, location, &emit->pending.at[i], t);
    /* Persistent requests that this call started. */
    for (size_t i = 0; i < emit->attached.n; i++) {
        const struct emit_attached *attached = &emit->attached.at[i];
        struct request kept;
        if (attached->type != WW_STARTED || !requests_kept(&emitter->requests, attached->done.request, &kept))
            continue;
        emit_request_begin(emitter, location, &kept, t);
        kept.start_ns = emit->call.leave_ns;
        requests_start(&emitter->requests, attached->done.request, &kept);
    }
}

void emit_enter(struct emitter *emitter, struct emit_location *location, struct emit_call *emit, uint32_t context)
{
    const struct ww_call *call = &emit->call;
    uint64_t t = emit_time(location, call->enter_ns);
    emit->does = does_of(emit);
    emit->awaits_outsiders = false;
    location->n_calls++;
    location->is_in_call = true;
    if (!location->first_call_ns)
        location->first_call_ns = t;
    enter_region(emitter, location, call->call, context, t);
    if (emit->does & EMIT_SENDS)
        WRITE(location, MpiSend, NULL, t, emit_peer_ref(emitter, call->comm, call->peer),
              emit_comm_ref(emitter, call->comm), (uint32_t)call->tag, call->bytes_out);
    if (emit->does & EMIT_GATHERS && comm_of(emitter, call))
        WRITE(location, MpiCollectiveBegin, NULL, t);
    if (emit->does & (EMIT_ON_WINDOW | EMIT_ON_FILE | EMIT_HAS_MORE))
        enter_operations(emitter, location, emit, t);
}

void emit_callback(struct emitter *emitter, struct emit_location *location, uint32_t context, uint64_t time_ns)
{
    enter_region(emitter, location, ARCHIVE_REGION_CALLBACK, context, emit_time(location, time_ns));
}

void emit_return(struct emit_location *location, uint64_t time_ns)
{
    WRITE(location, Leave, NULL, emit_time(location, time_ns), ARCHIVE_REGION_CALLBACK);
}

/* Return. */

static __attribute__((noinline)) void complete_requests(struct emitter *emitter, struct emit_location *location,
                                                        struct emit_call *emit, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    for (size_t i = 0; i < emit->attached.n; i++) {
        const struct emit_attached *attached = &emit->attached.at[i];
        const struct ww_done *done = &attached->done;
        struct request request;
        if (attached->type != WW_DONE)
            continue;
        if (done->request) {
            if (!requests_finish(&emitter->requests, done->request, call->enter_ns, &request))
                continue;
            emit_request_complete(emitter, location, &request, done, t);
            emit->awaits_outsiders |= request.kind == REQUEST_OUTSIDE && !(done->flags & (WW_F_NULL | WW_F_ERROR));
        } else if (!(done->flags & (WW_F_NULL | WW_F_ERROR)) && done->peer >= 0 && call->comm)
            WRITE(location, MpiRecv, NULL, t, emit_peer_ref(emitter, call->comm, done->peer),
                  emit_comm_ref(emitter, call->comm), (uint32_t)done->tag, done->bytes);
    }
}

static void add_message(struct emitter *emitter, OTF2_AttributeList *attributes, uint32_t comm, int32_t peer,
                        int32_t tag)
{
    if (peer >= 0)
        OTF2_AttributeList_AddUint32(attributes, ARCHIVE_ATTR_PEER, emit_peer_ref(emitter, comm, peer));
    if (comm)
        OTF2_AttributeList_AddCommRef(attributes, ARCHIVE_ATTR_COMM, emit_comm_ref(emitter, comm));
    OTF2_AttributeList_AddInt32(attributes, ARCHIVE_ATTR_TAG, tag);
}

/* A receive that is freed while it is pending still receives its message, which no record will tell: the next one from
 * there, if it asked for one source and tag. */
static void free_request(struct emitter *emitter, struct emit_location *location, const struct ww_call *call,
                         uint64_t t)
{
    const struct request *pending = requests_find(&emitter->requests, call->request);
    struct request request;
    if (pending && pending->kind == REQUEST_RECV &&
        requests_finish(&emitter->requests, call->request, call->enter_ns, &request)) {
        if (request.peer >= 0 && request.tag >= 0)
            add_message(emitter, location->attributes, request.comm, request.peer, request.tag);
        WRITE(location, MpiRequestCancelled, location->attributes, t, request.id);
        starts_complete(&emitter->starts, request.begun, t);
        requests_free_id(&emitter->requests, request.id);
    }
    requests_forget(&emitter->requests, call->request);
}

/* A persistent request was made, or a request freed. */
static __attribute__((noinline)) void leave_request(struct emitter *emitter, struct emit_location *location,
                                                    const struct emit_call *emit, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    const struct call_info *info = call_info(call->call);
    struct request request = emit_request_of(emitter, call, emit->old_comm);
    if (info->class == WW_REQUEST_FREE)
        free_request(emitter, location, call, t);
    else if (emit_request_is_template(info))
        requests_keep(&emitter->requests, call->request, &request);
}

/* Objects it made or ended: communicators, windows, operations on windows and files. */
static __attribute__((noinline)) void leave_operations(struct emitter *emitter, struct emit_location *location,
                                                       struct emit_call *emit, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    for (size_t i = 0; i < emit->new_comms.n; i++)
        WRITE(location, CommCreate, NULL, t, emit_comm_ref(emitter, emit->new_comms.at[i]));
    if (emit->does & EMIT_FREES_COMM && emit->old_comm > COMM_SELF_ID && !(call->flags & WW_F_ERROR))
        WRITE(location, CommDestroy, NULL, t, emit_comm_ref(emitter, emit->old_comm));
    if (emit->does & (EMIT_MAKES_WINDOW | EMIT_ON_WINDOW))
        emit_rma_leave(emitter, location, emit, t);
    if (emit->does & (EMIT_OPENS_FILE | EMIT_ON_FILE))
        emit_io_leave(emitter, location, emit, t);
}

static void leave_finished(struct emitter *emitter, struct emit_location *location, struct emit_call *emit, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    unsigned does = emit->does;
    if (does & EMIT_PROBES)
        add_message(emitter, location->attributes, call->comm, call->peer, call->tag);
    if (does & EMIT_RECEIVES)
        WRITE(location, MpiRecv, NULL, t, emit_peer_ref(emitter, call->comm, call->peer),
              emit_comm_ref(emitter, call->comm), (uint32_t)call->tag, call->bytes_in);
    if (does & EMIT_HAS_MORE)
        complete_requests(emitter, location, emit, t);
    if (does & EMIT_MAKES_REQUESTS && call->request)
        leave_request(emitter, location, emit, t);
    uint32_t comm = does & EMIT_GATHERS ? comm_of(emitter, call) : 0;
    if (comm) {
        WRITE(location, MpiCollectiveEnd, NULL, t, archive_collective_op(call->call), emit_comm_ref(emitter, comm),
              emit_root_ref(emitter, comm, call->peer, call->flags), call->bytes_out, call->bytes_in);
        starts_count_collective(&emitter->starts, comm, false);
    }
    if (does & (LEAVES_MORE | EMIT_HAS_MORE))
        leave_operations(emitter, location, emit, t);
}

/* Operations pending when the process ends: non-blocking collectives, and receives if they are asked for, the oldest
 * first. The oldest receive, or nothing, is left in `receive`. True if processes outside of the run are awaited. */
static bool write_pending(struct emitter *emitter, struct emit_location *location, bool with_receives, uint64_t t,
                          struct request *receive)
{
    struct request_list pending = {0};
    bool awaits_outsiders = false;
    requests_pending(&emitter->requests, &pending);
    for (size_t i = 0; i < pending.all.n; i++) {
        const struct request *request = &pending.all.at[i];
        bool is_receive = request->kind == REQUEST_RECV;
        awaits_outsiders |= request->kind == REQUEST_OUTSIDE;
        if (request->kind == REQUEST_OUTSIDE || (is_receive && !with_receives))
            continue;
        if (is_receive && receive->kind == REQUEST_NOTHING)
            *receive = *request;
        add_message(emitter, location->attributes, request->comm, is_receive ? request->peer : WW_NO_PEER,
                    request->tag);
        WRITE(location, ParameterUnsignedInt, location->attributes, t, ARCHIVE_PARAM_PENDING, is_receive);
    }
    vec_release(&pending.all);
    return awaits_outsiders;
}

/* For whom does a call wait that never returned? Completion calls do not say: it is one of what is pending, which
 * depends on what others did; at the Leave stands the oldest receive. */
static void leave_unfinished(struct emitter *emitter, struct emit_location *location, struct emit_call *emit,
                             uint64_t t)
{
    const struct ww_call *call = &emit->call;
    enum ww_class class = call_info(call->call)->class;
    struct request awaited = {.kind = REQUEST_NOTHING};
    bool completes = class == WW_WAIT || class == WW_TEST;
    bool awaits_outsiders = write_pending(emitter, location, completes, t, &awaited);
    emit->awaits_outsiders = completes && awaits_outsiders && awaited.kind == REQUEST_NOTHING;
    if (awaited.kind == REQUEST_NOTHING)
        awaited = (struct request){.peer = call->peer, .comm = comm_of(emitter, call), .tag = call->tag};
    OTF2_AttributeList_AddUint8(location->attributes, ARCHIVE_ATTR_UNFINISHED, 1);
    add_message(emitter, location->attributes, awaited.comm, awaited.peer, awaited.tag);
}

void emit_polls_to_the_end(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit)
{
    struct request receive = {.kind = REQUEST_NOTHING};
    write_pending(emitter, location, call_info(emit->call.call)->class == WW_TEST,
                  emit_time(location, emit->call.leave_ns), &receive);
}

/* A nap parts an interval in two, of which one is no call. */
static int32_t more_calls(const struct ww_call *call)
{
    int64_t n_more = (int64_t)call->n_polls + (call->flags & WW_F_FOUND ? 1 : 0) - 1;
    return n_more < INT32_MAX ? (int32_t)n_more : INT32_MAX;
}

/* Does it end only once processes outside of the run have come? Its communicator has some, so it has no other record.
 */
static bool needs_outsiders(const struct emitter *emitter, const struct emit_call *emit)
{
    const struct ww_call *call = &emit->call;
    if (emit->awaits_outsiders)
        return true;
    const uint64_t *outside = emit->old_comm == call->comm ? NULL : map_get(&emitter->has_outsiders, emit->old_comm);
    if (!outside || call->flags & WW_F_ERROR)
        return false;
    switch (call_info(call->call)->class) {
    case WW_IPROBE:
        return call->flags & WW_F_FOUND && *outside & COMM_RECEIVES_FROM_OUTSIDE;
    case WW_RECV:
    case WW_PROBE:
    case WW_SENDRECV:
        return *outside & COMM_RECEIVES_FROM_OUTSIDE;
    case WW_COLLECTIVE:
    case WW_COMM_CREATE:
    case WW_COMM_FREE:
        return *outside & COMM_ALONE_WITH_OUTSIDERS;
    default:
        return false;
    }
}

/* Of calls that polled or failed. */
static void add_flags(OTF2_AttributeList *attributes, const struct emit_call *emit)
{
    const struct ww_call *call = &emit->call;
    if (call->flags & WW_F_POLL && (call->n_polls || call->flags & WW_F_AFTER_NAP))
        OTF2_AttributeList_AddUint64(attributes, ARCHIVE_ATTR_POLLS, call->n_polls);
    if (call->flags & WW_F_POLL && !emit->is_unfinished && more_calls(call))
        OTF2_AttributeList_AddInt32(attributes, ARCHIVE_ATTR_CALLS, more_calls(call));
    if (call->flags & WW_F_ERROR)
        OTF2_AttributeList_AddUint8(attributes, ARCHIVE_ATTR_ERROR, 1);
}

void emit_leave(struct emitter *emitter, struct emit_location *location, struct emit_call *emit)
{
    const struct ww_call *call = &emit->call;
    uint64_t t = emit_time(location, call->leave_ns);
    location->is_in_call = emit->is_unfinished;
    if (emit->is_unfinished)
        leave_unfinished(emitter, location, emit, t);
    else if (emit->does)
        leave_finished(emitter, location, emit, t);
    if (call->flags & (WW_F_POLL | WW_F_ERROR))
        add_flags(location->attributes, emit);
    if (needs_outsiders(emitter, emit))
        OTF2_AttributeList_AddUint8(location->attributes, ARCHIVE_ATTR_OUTSIDE, 1);
    WRITE(location, Leave, location->attributes, t, call->call);
}

/* Samples, the scheduler, exact counts: what lies between calls. */

void emit_sample(struct emit_location *location, const struct ww_sample *sample, uint32_t context,
                 uint32_t unwind_distance)
{
    OTF2_AttributeList *attributes = NULL;
    uint32_t generator = sample->flags & WW_S_SYNC      ? ARCHIVE_GEN_SYNC
                         : sample->flags & WW_S_PIPE    ? ARCHIVE_GEN_PIPE
                         : sample->flags & WW_S_NETWORK ? ARCHIVE_GEN_NETWORK
                         : sample->flags & WW_S_TIME    ? ARCHIVE_GEN_TIME
                         : sample->flags & WW_S_BLOCKED ? ARCHIVE_GEN_BLOCKED
                         : sample->flags & WW_S_KERNEL  ? ARCHIVE_GEN_KERNEL
                                                        : ARCHIVE_GEN_USER;
    if (sample->weight_ns != location->sample_period_ns) {
        attributes = location->attributes;
        OTF2_AttributeList_AddUint64(attributes, ARCHIVE_ATTR_WEIGHT, sample->weight_ns);
    }
    WRITE(location, CallingContextSample, attributes, emit_time(location, sample->time_ns), context - 1,
          unwind_distance, generator);
}

void emit_switch(struct emit_location *location, const struct ww_switch *record)
{
    OTF2_Type type = OTF2_TYPE_UINT64;
    OTF2_MetricValue value = {.unsigned_int = !(record->flags & WW_SW_OUT)      ? ARCHIVE_SCHED_ON
                                              : record->flags & WW_SW_STOPPED   ? ARCHIVE_SCHED_STOPPED
                                              : record->flags & WW_SW_PREEMPTED ? ARCHIVE_SCHED_PREEMPTED
                                                                                : ARCHIVE_SCHED_OFF};
    location->is_off = record->flags & WW_SW_OUT;
    if (location->is_off) {
        location->off_at = n_written(location);
        location->off_calls = location->n_calls;
    }
    WRITE(location, Metric, NULL, emit_time(location, record->time_ns), ARCHIVE_METRIC_SCHED, 1, &type, &value);
}

void emit_control(struct emitter *emitter, struct emit_location *location, const struct ww_control *record)
{
    OTF2_AttributeList *attributes = record->window ? location->attributes : NULL;
    struct emit_windows *windows = &emitter->windows;
    if (record->window) {
        OTF2_AttributeList_AddUint32(attributes, ARCHIVE_ATTR_WINDOW, record->window);
        windows->n = record->window;
        /* Of requests that were pending before, what completed meanwhile was not recorded. */
        if (record->level)
            emitter->requests.from_ns = windows->since_ns = record->time_ns;
        else if (record->time_ns > windows->since_ns)
            windows->took_ns += record->time_ns - windows->since_ns;
        windows->n_ended += !record->level;
    }
    location->is_paused = !record->level;
    WRITE(location, MeasurementOnOff, attributes, emit_time(location, record->time_ns),
          record->level ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF);
}

/* OTF2's attribute lists are linear: a record carries few attributes and says how many are still to come. */
void emit_bins(struct emitter *emitter, struct emit_location *location, const struct ww_bins *bins, uint64_t time_ns)
{
    enum { BINS_A_RECORD = 32 };
    uint64_t t = emit_time(location, time_ns);
    if (!bins->n)
        WRITE(location, ParameterUnsignedInt, NULL, t, ARCHIVE_PARAM_COUNTS, 0);
    for (uint32_t i = 0; i < bins->n; i++) {
        struct emit_counter counter = {.counters = bins->module, .what = bins->what};
        uint64_t value;
        const uint8_t *bin = bins->bins + (size_t)i * (sizeof counter.point + sizeof value);
        memcpy(&counter.point, bin, sizeof counter.point);
        memcpy(&value, bin + sizeof counter.point, sizeof value);
        uint32_t id = intern_put(&emitter->counters, &counter, sizeof counter);
        OTF2_AttributeList_AddUint64(location->attributes, ARCHIVE_ATTR_COUNTERS + id, value);
        if ((i + 1) % BINS_A_RECORD == 0 || i + 1 == bins->n)
            WRITE(location, ParameterUnsignedInt, location->attributes, t, ARCHIVE_PARAM_COUNTS, bins->n - 1 - i);
    }
}
