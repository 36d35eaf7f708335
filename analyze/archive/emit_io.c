/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO. The name of a call tells what it does:
 *
 *   blocking            IoOperationBegin at entry, IoOperationComplete at return
 *   non-blocking        Begin at entry, IoOperationIssued at return, Complete where its request is completed
 *   split collectives   Begin and Issued in ..._begin, Complete in ..._end: a file has one at a time
 *
 * MPI_File_sync is an operation of mode flush. Polls do not say which requests they tried: there is no
 * IoOperationTest.
 */
#include "analyze/archive/emit_io.h"
#include "analyze/archive/spool.h"
#include <string.h>

enum io_step { IO_NOTHING, IO_WHOLE, IO_START, IO_SPLIT_BEGIN, IO_SPLIT_END };

struct io_kind {
    enum io_step step;
    OTF2_IoOperationMode mode;
};

static bool begins_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static struct io_kind kind_of(const struct ww_call *call)
{
    const char *name = call_info(call->call)->name + strlen("MPI_File_");
    struct io_kind kind = {IO_NOTHING, OTF2_IO_OPERATION_MODE_FLUSH};
    if (call->call == WW_ID_File_sync)
        kind.step = IO_WHOLE;
    bool is_non_blocking = begins_with(name, "iread") || begins_with(name, "iwrite");
    name += is_non_blocking;
    bool reads = begins_with(name, "read");
    if (!reads && !begins_with(name, "write"))
        return kind;
    kind.mode = reads ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE;
    kind.step = is_non_blocking          ? IO_START
                : strstr(name, "_begin") ? IO_SPLIT_BEGIN
                : strstr(name, "_end")   ? IO_SPLIT_END
                                         : IO_WHOLE;
    return kind;
}

static struct emit_file *new_entry(struct emitter *emitter, uint32_t id, uint64_t *index)
{
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

/* Its WW_FILE may be lost. */
static struct emit_file *file_entry(struct emitter *emitter, uint32_t id)
{
    uint64_t *index = map_put(&emitter->file_of, id, NULL);
    return *index ? &emitter->files.at[*index - 1] : new_entry(emitter, id, index);
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
    uint64_t comm = record->flags & WW_FILE_DELETED ? UINT32_MAX : record->comm;
    file->key = comm << 32 | intern_put(&emitter->io_names, record->name, length);
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

/* Collective operations are those on a communicator that is known. */
static OTF2_IoOperationFlag operation_flags(const struct emitter *emitter, const struct ww_call *call,
                                            enum io_step step)
{
    const struct emit_file *file = emit_file(emitter, call->comm);
    bool is_collective = call_info(call->call)->class == WW_IO_COLLECTIVE && file && file->comm;
    return (step == IO_WHOLE ? OTF2_IO_OPERATION_FLAG_NONE : OTF2_IO_OPERATION_FLAG_NON_BLOCKING) |
           (is_collective ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : OTF2_IO_OPERATION_FLAG_NONE);
}

void emit_io_begin(struct emitter *emitter, struct emit_location *location, struct emit_call *emit,
                   const struct request *request, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    struct io_kind kind = kind_of(call);
    emit->io_id = OTF2_UNDEFINED_UINT64;
    if (kind.step == IO_NOTHING || kind.step == IO_SPLIT_END || !call->comm || call->flags & WW_F_ERROR)
        return;
    emit->io_id = request ? request->id : requests_new_id(&emitter->requests);
    WRITE(location, IoOperationBegin, NULL, t, emit_file_ref(emitter, call->comm), kind.mode,
          operation_flags(emitter, call, kind.step), call->bytes_out, emit->io_id);
}

static void complete(struct emitter *emitter, struct emit_location *location, uint32_t file, uint64_t bytes,
                     uint64_t id, uint64_t t)
{
    WRITE(location, IoOperationComplete, NULL, t, emit_file_ref(emitter, file), bytes, id);
    requests_free_id(&emitter->requests, id);
}

/* The caller gives the request's id free. Operations on files cannot be cancelled, but the statuses that Open MPI 4.1
 * gives for them may say so. */
void emit_io_complete(struct emitter *emitter, struct emit_location *location, const struct request *request,
                      const struct ww_done *done, uint64_t t)
{
    WRITE(location, IoOperationComplete, NULL, t, emit_file_ref(emitter, request->comm), done->bytes, request->id);
}

static void leave_split(struct emitter *emitter, struct emit_location *location, const struct ww_call *call, uint64_t t)
{
    struct emit_file *file = emit_file(emitter, call->comm);
    if (!file || !file->split || call->flags & WW_F_ERROR)
        return;
    complete(emitter, location, call->comm, call->bytes_in, file->split - 1, t);
    file->split = 0;
}

static void leave_operation(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit,
                            uint64_t t)
{
    const struct ww_call *call = &emit->call;
    enum io_step step = kind_of(call).step;
    if (step == IO_SPLIT_END)
        leave_split(emitter, location, call, t);
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

static void leave_seek(struct emitter *emitter, struct emit_location *location, const struct ww_call *call, uint64_t t)
{
    OTF2_IoSeekOption from = call->tag == WW_SEEK_SET   ? OTF2_IO_SEEK_FROM_START
                             : call->tag == WW_SEEK_CUR ? OTF2_IO_SEEK_FROM_CURRENT
                                                        : OTF2_IO_SEEK_FROM_END;
    WRITE(location, IoSeek, NULL, t, emit_file_ref(emitter, call->comm), (int64_t)call->bytes_out, from,
          call->bytes_in);
}

static void opened(struct emitter *emitter, struct emit_location *location, uint32_t id, uint64_t t)
{
    uint32_t flags = emit_file(emitter, id)->flags;
    WRITE(location, IoCreateHandle, NULL, t, emit_file_ref(emitter, id), archive_access_mode(flags),
          (flags & WW_FILE_CREATE ? OTF2_IO_CREATION_FLAG_CREATE : 0u) |
              (flags & WW_FILE_EXCLUSIVE ? OTF2_IO_CREATION_FLAG_EXCLUSIVE : 0u) |
              (flags & WW_FILE_SEQUENTIAL ? OTF2_IO_CREATION_FLAG_NO_SEEK : 0u) |
              (flags & WW_FILE_UNIQUE ? OTF2_IO_CREATION_FLAG_UNIQUE : 0u),
          archive_status_flags(flags));
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
            leave_seek(emitter, location, call, t);
        break;
    default:
        break;
    }
}

void emit_io_leave(struct emitter *emitter, struct emit_location *location, struct emit_call *emit, uint64_t t)
{
    const struct ww_call *call = &emit->call;
    if (call->call == WW_ID_File_open && emit->new_file && call->comm)
        opened(emitter, location, emit->new_file, t);
    if (!emit_is_on_file(call))
        return;
    leave_operation(emitter, location, emit, t);
    if (!(call->flags & WW_F_ERROR))
        leave_file(emitter, location, emit, t);
}
