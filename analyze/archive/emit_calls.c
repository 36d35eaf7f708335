/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO. The attributes of a call (WW_AS_) tell what it
 * does:
 *
 *   blocking IoOperationBegin at entry, IoOperationComplete at return non-blocking Begin at entry, IoOperationIssued at
 * return, Complete where its request is completed split collectives Begin and Issued in ..._begin, Complete in ..._end.
 * A file has one at a time
 *
 * MPI_File_sync is an operation of mode flush. Polls do not
 * say which requests they tried: there is no
 * IoOperationTest.
 */
#include "analyze/archive/archive.h"
#include "analyze/archive/comms.h"
#include "analyze/archive/emit_calls.h"
#include "analyze/archive/spool.h"
#include <string.h>

enum io_step { IO_NOTHING, IO_WHOLE, IO_START, IO_SPLIT_BEGIN, IO_SPLIT_END };

struct io_kind {
    enum io_step step;
    OTF2_IoOperationMode mode;
};

static struct io_kind kind_of(const struct ww_call *call)
{
    uint32_t as = call_info(call->call)->as;
    if (!(as & (WW_AS_READ | WW_AS_WRITE)))
        return (struct io_kind){as & WW_AS_SYNC ? IO_WHOLE : IO_NOTHING, OTF2_IO_OPERATION_MODE_FLUSH};
    return (struct io_kind){
        .step = as & WW_AS_ISSUE   ? IO_START
                : as & WW_AS_BEGIN ? IO_SPLIT_BEGIN
                : as & WW_AS_END   ? IO_SPLIT_END
                                   : IO_WHOLE,
        .mode = as & WW_AS_READ ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE,
    };
}

/* Its WW_FILE may be lost. */
static struct emit_file *file_entry(struct emitter *emitter, uint32_t id)
{
    uint64_t *index = map_put(&emitter->file_of, id, NULL);
    if (*index)
        return &emitter->files.at[*index - 1];
    if (emitter->free_file) {
        *index = emitter->free_file;
        emitter->free_file = emitter->files.at[*index - 1].handle;
    } else {
        (void)vec_push(&emitter->files);
        *index = emitter->files.n;
    }
    emitter->files.at[*index - 1] = (struct emit_file){.handle = id};
    return &emitter->files.at[*index - 1];
}

/* Programs open a file again and again, and all processes that share it do so in the same order: the handle that one
 * of them closed is in all of them the same. */
bool emit_define_file(struct emitter *emitter, const struct ww_file *record)
{
    size_t length = record->flags & WW_FILE_FOUND ? 0 : spool_text_length(record->name, record->bytes);
    struct emit_file *file = file_entry(emitter, record->id);
    *file = (struct emit_file){.comm = record->comm, .flags = record->flags, .handle = record->id, .has_name = length};
    if (!length)
        return true;
    uint32_t comm = record->flags & WW_FILE_DELETED ? UINT32_MAX : record->comm;
    file->key = key_pair(comm, intern_put(&emitter->io_names, record->name, length));
    uint64_t *closed = map_get(&emitter->free_handles, file->key);
    if (!closed || !*closed)
        return true;
    file->handle = (uint32_t)*closed;
    *closed = 0;
    return false;
}

static void forget_file(struct emitter *emitter, uint32_t id)
{
    const uint64_t *index = map_get(&emitter->file_of, id);
    if (!index)
        return;
    struct emit_file *file = &emitter->files.at[*index - 1];
    if (file->has_name)
        *map_put(&emitter->free_handles, file->key, NULL) = file->handle;
    *file = (struct emit_file){.handle = emitter->free_file};
    emitter->free_file = (uint32_t)*index;
    map_remove(&emitter->file_of, id);
}

/* Operations are collective on a communicator that is known. */
void emit_io_begin(struct emitter *emitter, struct emit_location *location, struct emit_call *emit,
                   const struct request *request, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    struct io_kind kind = kind_of(call);
    emit->io_id = OTF2_UNDEFINED_UINT64;
    if (kind.step == IO_NOTHING || kind.step == IO_SPLIT_END || !call->comm || call->flags & WW_F_ERROR)
        return;
    emit->io_id = request ? request->id : requests_new_id(&emitter->requests);
    const struct emit_file *file = emit_file(emitter, call->comm);
    OTF2_IoOperationFlag flags = OTF2_IO_OPERATION_FLAG_NONE;
    if (kind.step != IO_WHOLE)
        flags |= OTF2_IO_OPERATION_FLAG_NON_BLOCKING;
    if (call_info(call->call)->class == WW_IO_COLLECTIVE && file && file->comm)
        flags |= OTF2_IO_OPERATION_FLAG_COLLECTIVE;
    WRITE(location, IoOperationBegin, NULL, t, emit_file_ref(emitter, call->comm), kind.mode, flags, call->bytes_out,
          emit->io_id);
}

static void complete(struct emitter *emitter, struct emit_location *location, uint32_t file, uint64_t bytes,
                     uint64_t id, uint64_t t)
{
    WRITE(location, IoOperationComplete, NULL, t, emit_file_ref(emitter, file), bytes, id);
    requests_free_id(&emitter->requests, id);
}

/* In the call that completed the request of an operation; the caller gives the request's id free. Operations on files
 * cannot be cancelled, but the statuses that Open MPI 4.1 gives for them may say so. */
static void io_complete(struct emitter *emitter, struct emit_location *location, const struct request *request,
                        const struct ww_done *done, uint64_t t)
{
    WRITE(location, IoOperationComplete, NULL, t, emit_file_ref(emitter, request->comm), done->bytes, request->id);
}

static void leave_operation(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit,
                            uint64_t t)
{
    const struct ww_call *call = &emit->call;
    enum io_step step = kind_of(call).step;
    struct emit_file *file = step == IO_SPLIT_END ? emit_file(emitter, call->comm) : NULL;
    if (file && file->split && !(call->flags & WW_F_ERROR)) {
        complete(emitter, location, call->comm, call->bytes_in, file->split - 1, t);
        file->split = 0;
    }
    if (emit->io_id == OTF2_UNDEFINED_UINT64)
        return;
    if (step != IO_WHOLE)
        WRITE(location, IoOperationIssued, NULL, t, emit_file_ref(emitter, call->comm), emit->io_id);
    if (step == IO_SPLIT_BEGIN)
        file_entry(emitter, call->comm)->split = 1 + emit->io_id;
    else if (step == IO_WHOLE)
        complete(emitter, location, call->comm, call->bytes_in, emit->io_id, t);
    else if (!call->request) /* all was done at once */
        complete(emitter, location, call->comm, call->bytes_out, emit->io_id, t);
}

static void deleted(const struct emitter *emitter, struct emit_location *location, uint32_t id, uint32_t flag,
                    uint64_t t)
{
    const struct emit_file *file = emit_file(emitter, id);
    if (file && file->has_name && file->flags & flag)
        WRITE(location, IoDeleteFile, NULL, t, ARCHIVE_IO_PARADIGM, file->handle);
}

static void leave_file(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit,
                       uint64_t t)
{
    const struct ww_call *call = &emit->call;
    switch (call->call) {
    case WW_ID_File_delete:
        deleted(emitter, location, emit->new_file, WW_FILE_DELETED, t);
        forget_file(emitter, emit->new_file);
        break;
    case WW_ID_File_close:
        deleted(emitter, location, call->comm, WW_FILE_DELETED_ON_CLOSE, t);
        if (call->comm)
            WRITE(location, IoDestroyHandle, NULL, t, emit_file_ref(emitter, call->comm));
        forget_file(emitter, call->comm);
        break;
    case WW_ID_File_seek:
    case WW_ID_File_seek_shared:
        if (call->comm)
            WRITE(location, IoSeek, NULL, t, emit_file_ref(emitter, call->comm), (int64_t)call->bytes_out,
                  call->tag == WW_SEEK_SET   ? OTF2_IO_SEEK_FROM_START
                  : call->tag == WW_SEEK_CUR ? OTF2_IO_SEEK_FROM_CURRENT
                                             : OTF2_IO_SEEK_FROM_END,
                  call->bytes_in);
        break;
    default:
        break;
    }
}

void emit_io_leave(struct emitter *emitter, struct emit_location *location, struct emit_call *emit, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    if (call->call == WW_ID_File_open && emit->new_file && call->comm) {
        const struct emit_file *file = emit_file(emitter, emit->new_file); /* damage: closed by another thread */
        uint32_t flags = file ? file->flags : 0;
        WRITE(location, IoCreateHandle, NULL, t, emit_file_ref(emitter, emit->new_file), archive_access_mode(flags),
              (flags & WW_FILE_CREATE ? OTF2_IO_CREATION_FLAG_CREATE : 0u) |
                  (flags & WW_FILE_EXCLUSIVE ? OTF2_IO_CREATION_FLAG_EXCLUSIVE : 0u) |
                  (flags & WW_FILE_SEQUENTIAL ? OTF2_IO_CREATION_FLAG_NO_SEEK : 0u) |
                  (flags & WW_FILE_UNIQUE ? OTF2_IO_CREATION_FLAG_UNIQUE : 0u),
              archive_status_flags(flags));
    }
    if (!(emit->does & EMIT_ON_FILE))
        return;
    leave_operation(emitter, location, emit, t);
    if (!(call->flags & WW_F_ERROR))
        leave_file(emitter, location, emit, t);
}

/* Requests: of which kind a call starts one, and the records it begins and ends with. */

enum request_kind emit_request_kind(const struct call_info *info)
{
    switch (info->class) {
    case WW_ISEND:
    case WW_SEND_INIT:
        return REQUEST_SEND;
    case WW_IRECV:
    case WW_RECV_INIT:
        return REQUEST_RECV;
    case WW_ISENDRECV:
        return REQUEST_SENDRECV;
    case WW_ICOLLECTIVE:
    case WW_COLL_INIT:
        return REQUEST_COLL;
    case WW_RMA_REQUEST:
        return REQUEST_RMA;
    case WW_IO:
    case WW_IO_COLLECTIVE:
        return REQUEST_IO;
    case WW_PARTITIONED:
        return info->as & WW_AS_SEND ? REQUEST_SEND : info->as & WW_AS_RECV ? REQUEST_RECV : REQUEST_NOTHING;
    default:
        return REQUEST_NOTHING;
    }
}

bool emit_request_is_template(const struct call_info *info)
{
    return info->class == WW_SEND_INIT || info->class == WW_RECV_INIT || info->class == WW_COLL_INIT ||
           (info->class == WW_PARTITIONED && info->as & (WW_AS_SEND | WW_AS_RECV));
}

/* Of an operation on a communicator with processes outside of the run there is no record but that it awaits them. */
static enum request_kind kind_on(const struct emitter *emitter, uint32_t comm, enum request_kind kind)
{
    const uint64_t *outside = emitter->has_outsiders.n ? map_get(&emitter->has_outsiders, comm) : NULL;
    if (!outside || kind == REQUEST_RMA || kind == REQUEST_IO)
        return kind;
    int needed = kind == REQUEST_RECV || kind == REQUEST_SENDRECV ? COMM_RECEIVES_FROM_OUTSIDE
                 : kind == REQUEST_COLL                           ? COMM_ALONE_WITH_OUTSIDERS
                                                                  : 0;
    return *outside & (uint64_t)needed ? REQUEST_OUTSIDE : REQUEST_NOTHING;
}

struct request emit_request_of(const struct emitter *emitter, const struct ww_call *call, uint32_t comm)
{
    bool communicates = !(call->flags & WW_F_NULL) || call_info(call->call)->coll != WW_COLL_NONE;
    bool is_sendrecv = call_info(call->call)->class == WW_ISENDRECV;
    enum request_kind kind = communicates || is_sendrecv ? emit_request_kind(call_info(call->call)) : REQUEST_NOTHING;
    return (struct request){.kind = kind_on(emitter, comm, kind),
                            .call = call->call,
                            .comm = comm,
                            .peer = call->flags & WW_F_NULL && !is_sendrecv ? WW_NO_PEER : call->peer,
                            .tag = call->tag,
                            .bytes_out = call->bytes_out,
                            .bytes_in = call->bytes_in};
}

/* Who reads a part of the run has to know of it. */
static bool is_followed(enum request_kind kind)
{
    return kind == REQUEST_RECV || kind == REQUEST_SENDRECV || kind == REQUEST_COLL;
}

void emit_request_begin(struct emitter *emitter, struct emit_location *location, struct request *request, uint64_t t)
{
    request->id = requests_new_id(&emitter->requests);
    bool sends = request->kind == REQUEST_SEND || (request->kind == REQUEST_SENDRECV && request->peer >= 0);
    if (sends)
        WRITE(location, MpiIsend, NULL, t, emit_peer_ref(emitter, request->comm, request->peer),
              emit_comm_ref(emitter, request->comm), (uint32_t)request->tag, request->bytes_out, request->id);
    request->recv_id = request->kind == REQUEST_SENDRECV ? requests_new_id(&emitter->requests) : request->id;
    if (request->kind == REQUEST_RECV || request->kind == REQUEST_SENDRECV)
        WRITE(location, MpiIrecvRequest, NULL, t, request->recv_id);
    if (is_followed(request->kind))
        request->begun = starts_begin(&emitter->starts);
    if (request->kind == REQUEST_COLL) {
        starts_count_collective(&emitter->starts, request->comm, true);
        /* Calls that start persistent requests do not tell of which operation. */
        if (emit_request_is_template(call_info(request->call))) {
            OTF2_AttributeList_AddRegionRef(location->attributes, ARCHIVE_ATTR_OPERATION, request->call);
            emitter->region_used[request->call] = 1;
        }
        if (request->comm)
            OTF2_AttributeList_AddCommRef(location->attributes, ARCHIVE_ATTR_COMM,
                                          emit_comm_ref(emitter, request->comm));
        WRITE(location, NonBlockingCollectiveRequest, location->attributes, t, request->id);
    }
}

static void receive_complete(struct emitter *emitter, struct emit_location *location, const struct request *request,
                             const struct ww_done *done, uint64_t t)
{
    if (done->flags & WW_F_NULL || done->peer < 0)
        WRITE(location, MpiRequestCancelled, NULL, t, request->recv_id);
    else
        WRITE(location, MpiIrecv, NULL, t, emit_peer_ref(emitter, request->comm, done->peer),
              emit_comm_ref(emitter, request->comm), (uint32_t)done->tag, done->bytes, request->recv_id);
}

void emit_request_complete(struct emitter *emitter, struct emit_location *location, const struct request *request,
                           const struct ww_done *done, uint64_t t)
{
    bool cancelled = done->flags & WW_F_NULL;
    switch (request->kind) {
    case REQUEST_SEND:
        if (cancelled)
            WRITE(location, MpiRequestCancelled, NULL, t, request->id);
        else
            WRITE(location, MpiIsendComplete, NULL, t, request->id);
        break;
    case REQUEST_RECV:
        receive_complete(emitter, location, request, done, t);
        break;
    case REQUEST_SENDRECV:
        if (request->peer >= 0)
            WRITE(location, MpiIsendComplete, NULL, t, request->id);
        receive_complete(emitter, location, request, done, t);
        break;
    case REQUEST_COLL:
        WRITE(location, NonBlockingCollectiveComplete, NULL, t, archive_collective_op(request->call),
              emit_comm_ref(emitter, request->comm), emit_root_ref(emitter, request->comm, request->peer, 0),
              request->bytes_out, request->bytes_in, request->id);
        break;
    case REQUEST_RMA:
        WRITE(location, RmaOpCompleteNonBlocking, NULL, t, emit_win_ref(emitter, request->comm), request->id);
        break;
    case REQUEST_IO:
        io_complete(emitter, location, request, done, t);
        break;
    default:
        break;
    }
    if (is_followed(request->kind))
        starts_complete(&emitter->starts, request->begun, t);
    requests_free_id(&emitter->requests, request->id);
    if (request->recv_id != request->id)
        requests_free_id(&emitter->requests, request->recv_id);
}

/*
 * One-sided communication. An operation is complete when its request is, or with the next synchronisation that covers
 * its target; OTF2 wants a record of that for each.
 */

static struct rma_target *target_of(struct emitter *emitter, const struct ww_call *call)
{
    uint64_t *index = map_put(&emitter->rma_target_of, key_pair(call->comm, (uint32_t)call->peer), NULL);
    if (!*index) {
        *vec_push(&emitter->rma_targets) = (struct rma_target){.win = call->comm};
        *index = emitter->rma_targets.n;
    }
    return &emitter->rma_targets.at[*index - 1];
}

void emit_rma_operation(struct emitter *emitter, struct emit_location *location, const struct ww_call *call,
                        const struct request *request, uint64_t t)
{
    uint64_t id = request ? request->id : requests_new_id(&emitter->requests);
    uint32_t win = emit_win_ref(emitter, call->comm);
    uint32_t remote = emit_rank_ref(call->peer);
    uint32_t as = call_info(call->call)->as;
    if (as & WW_AS_PUT)
        WRITE(location, RmaPut, NULL, t, win, remote, call->bytes_out, id);
    else if (as & WW_AS_FETCH)
        WRITE(location, RmaAtomic, NULL, t, win, remote, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE, call->bytes_out,
              call->bytes_in, id);
    else if (as & WW_AS_GET)
        WRITE(location, RmaGet, NULL, t, win, remote, call->bytes_in, id);
    else
        WRITE(location, RmaAtomic, NULL, t, win, remote,
              as & WW_AS_SWAP ? OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP : OTF2_RMA_ATOMIC_TYPE_ACCUMULATE,
              call->bytes_out, call->bytes_in, id);
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
    bool is_local = call->call == WW_ID_Win_flush_local || call->call == WW_ID_Win_flush_local_all;
    if (call->peer >= 0) {
        complete_target(emitter, location, target_of(emitter, call), is_local, t);
        return;
    }
    for (size_t i = 0; i < emitter->rma_targets.n; i++)
        if (emitter->rma_targets.at[i].win == call->comm)
            complete_target(emitter, location, &emitter->rma_targets.at[i], is_local, t);
}

/* MPI_Win_start and MPI_Win_post name a group. The call that ends their epoch is about the same. */
static void rma_group_sync(struct emitter *emitter, struct emit_location *location, const struct emit_call *call,
                           uint64_t t)
{
    enum ww_class class = call_info(call->call.call)->class;
    bool is_access = class == WW_RMA_START || class == WW_RMA_COMPLETE;
    struct map *epochs = is_access ? &emitter->access_group : &emitter->exposure_group;
    uint64_t *group = map_put(epochs, call->call.comm, NULL);
    if (class == WW_RMA_START || class == WW_RMA_POST) {
        VEC(int32_t) key = {0};
        *vec_push(&key) = (int32_t)call->call.comm;
        for (size_t i = 0; i < call->ranks.n; i++)
            *vec_push(&key) = call->ranks.at[i];
        *group = intern_put(&emitter->groups, key.at, key.n * sizeof *key.at) + 1u;
        vec_release(&key);
    }
    if (*group)
        WRITE(location, RmaGroupSync, NULL, t, OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY,
              emit_win_ref(emitter, call->call.comm), (uint32_t)(*group - 1));
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
