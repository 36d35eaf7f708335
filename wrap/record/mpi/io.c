/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO. The record's comm is the id of the file (at MPI_File_open: the communicator); bytes_out is what was asked
 * for, bytes_in what was moved.
 */
#include "wrap/record/mpi/io.h"
#include <string.h>

/* Files. */

enum { LONGEST_NAME = 4096 };

static struct {
    struct handle_map ids;
    uint32_t n;
} files = {.ids = HANDLE_MAP_INIT};

uint32_t file_find(MPI_File file)
{
    return (uint32_t)handle_map_get(&files.ids, HANDLE(file));
}

uint32_t file_forget(MPI_File file)
{
    return (uint32_t)handle_map_set(&files.ids, HANDLE(file), 0);
}

void file_restore(MPI_File file, uint32_t id)
{
    if (id)
        handle_map_set(&files.ids, HANDLE(file), id);
}

static uint32_t write_file(uint32_t comm, uint32_t flags, const char *name, size_t bytes)
{
    uint32_t id = __atomic_add_fetch(&files.n, 1, __ATOMIC_RELAXED);
    if (bytes > LONGEST_NAME)
        bytes = LONGEST_NAME;
    uint16_t units = record_units(sizeof(struct ww_file) + bytes + 1);
    struct ww_file *record = record_define(units);
    if (!record)
        return id;
    record->id = id;
    record->comm = comm;
    record->flags = flags;
    record->bytes = (uint32_t)bytes;
    if (bytes)
        memcpy(record->name, name, bytes);
    record_commit(record, WW_FILE, units);
    return id;
}

static uint32_t mode_flags(int mode)
{
    static const struct {
        int mode;
        uint32_t flags;
    } modes[] = {{MPI_MODE_RDONLY, WW_FILE_READ},
                 {MPI_MODE_WRONLY, WW_FILE_WRITE},
                 {MPI_MODE_RDWR, WW_FILE_READ | WW_FILE_WRITE},
                 {MPI_MODE_CREATE, WW_FILE_CREATE},
                 {MPI_MODE_EXCL, WW_FILE_EXCLUSIVE},
                 {MPI_MODE_APPEND, WW_FILE_APPEND},
                 {MPI_MODE_SEQUENTIAL, WW_FILE_SEQUENTIAL},
                 {MPI_MODE_UNIQUE_OPEN, WW_FILE_UNIQUE},
                 {MPI_MODE_DELETE_ON_CLOSE, WW_FILE_DELETED_ON_CLOSE}};
    uint32_t flags = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (mode & modes[i].mode)
            flags |= modes[i].flags;
    return flags;
}

void file_made(struct ww_call *call, MPI_Comm comm, MPI_File file, int mode, const char *name, size_t bytes)
{
    file_restore(file, write_file(call_parent(call, comm), mode_flags(mode), name, bytes));
}

void file_deleted(const char *name, size_t bytes)
{
    write_file(0, WW_FILE_DELETED, name, bytes);
}

uint32_t file_found(MPI_File file)
{
    int mode = 0;
    if (PMPI(File_get_amode)(file, &mode) != MPI_SUCCESS)
        return 0;
    uint32_t id = write_file(0, mode_flags(mode) | WW_FILE_FOUND, NULL, 0);
    file_restore(file, id);
    return id;
}

MPI_ENTRY(File_open, (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file))
{
    struct ww_call *call = record_enter(WW_ID_File_open, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(File_open)(comm, path, mode, info, file);
    if (err == MPI_SUCCESS && !fortran_depth)
        file_made(call, comm, *file, mode, path, strlen(path));
    record_leave(call, err);
    return err;
}

MPI_ENTRY(File_close, (MPI_File * file))
{
    struct ww_call *call = record_enter(WW_ID_File_close, RECORD_HERE);
    MPI_File before = file ? *file : mpi_handles.file_null;
    uint32_t id = file_forget(before);
    if (call)
        call->comm = id;
    int err = NEXT(File_close)(file);
    if (err != MPI_SUCCESS)
        file_restore(before, id);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(File_delete, (const char *path, MPI_Info info))
{
    struct ww_call *call = record_enter(WW_ID_File_delete, RECORD_HERE);
    int err = NEXT(File_delete)(path, info);
    if (call && err == MPI_SUCCESS)
        file_deleted(path, strlen(path));
    record_leave(call, err);
    return err;
}

/* Calls. */

static bool sought(struct ww_call *call, int err, MPI_File file, MPI_Offset offset, int whence)
{
    if (!io_end(call, err, file))
        return false;
    call->tag = whence == MPI_SEEK_SET ? WW_SEEK_SET : whence == MPI_SEEK_CUR ? WW_SEEK_CUR : WW_SEEK_END;
    call->bytes_out = (uint64_t)offset;
    return true;
}

void io_sought(struct ww_call *call, int err, MPI_File file, MPI_Offset offset, int whence)
{
    MPI_Offset reached = -1;
    if (!sought(call, err, file, offset, whence))
        return;
    call->bytes_in = PMPI(File_get_position)(file, &reached) == MPI_SUCCESS ? (uint64_t)reached : UINT64_MAX;
}

void io_sought_shared(struct ww_call *call, int err, MPI_File file, MPI_Offset offset, int whence)
{
    if (sought(call, err, file, offset, whence))
        call->bytes_in = whence == MPI_SEEK_SET ? (uint64_t)offset : UINT64_MAX;
}

#define ON_FILE(name, parameters, arguments, end)                                                                      \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        io_begin(call, file);                                                                                          \
        int err = NEXT(name) arguments;                                                                                \
        end;                                                                                                           \
        record_leave(call, err);                                                                                       \
        return err;                                                                                                    \
    }

ON_FILE(File_preallocate, (MPI_File file, MPI_Offset size), (file, size), io_end(call, err, file))
ON_FILE(File_set_size, (MPI_File file, MPI_Offset size), (file, size), io_end(call, err, file))
ON_FILE(File_sync, (MPI_File file), (file), io_end(call, err, file))
ON_FILE(File_set_atomicity, (MPI_File file, int flag), (file, flag), io_end(call, err, file))
ON_FILE(File_get_position_shared, (MPI_File file, MPI_Offset *offset), (file, offset), io_end(call, err, file))
ON_FILE(File_get_size, (MPI_File file, MPI_Offset *size), (file, size), io_end(call, err, file))
ON_FILE(File_seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence),
        io_sought(call, err, file, offset, whence))
ON_FILE(File_seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence),
        io_sought_shared(call, err, file, offset, whence))
ON_FILE(File_set_view,
        (MPI_File file, MPI_Offset displacement, MPI_Datatype element, MPI_Datatype type, const char *representation,
         MPI_Info info),
        (file, displacement, element, type, representation, info), io_end(call, err, file))

/* With a status of ours where the program wants none. It tells how much was moved. */
#define ON_FILE_WITH_STATUS(name, parameters, arguments, end)                                                          \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        MPI_Status own = {0};                                                                                          \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        io_begin(call, file);                                                                                          \
        status = STATUS_OR_OWN(call, status, own);                                                                     \
        int err = NEXT(name) arguments;                                                                                \
        end;                                                                                                           \
        record_leave(call, err);                                                                                       \
        return err;                                                                                                    \
    }

#define READS void *
#define WRITES const void *
#define MOVE(name, B, T)                                                                                               \
    ON_FILE_WITH_STATUS(name, (MPI_File file, B buf, T n, MPI_Datatype type, MPI_Status * status),                     \
                        (file, buf, n, type, status), io_moved(call, err, file, n, type, status))
#define MOVE_AT(name, B, T)                                                                                            \
    ON_FILE_WITH_STATUS(name, (MPI_File file, MPI_Offset at, B buf, T n, MPI_Datatype type, MPI_Status * status),      \
                        (file, at, buf, n, type, status), io_moved(call, err, file, n, type, status))
#define START(name, B, T)                                                                                              \
    ON_FILE(name, (MPI_File file, B buf, T n, MPI_Datatype type, MPI_Request * request),                               \
            (file, buf, n, type, request), io_started(call, err, file, n, type, request))
#define START_AT(name, B, T)                                                                                           \
    ON_FILE(name, (MPI_File file, MPI_Offset at, B buf, T n, MPI_Datatype type, MPI_Request * request),                \
            (file, at, buf, n, type, request), io_started(call, err, file, n, type, request))
#define BEGIN(name, B, T)                                                                                              \
    ON_FILE(name, (MPI_File file, B buf, T n, MPI_Datatype type), (file, buf, n, type),                                \
            io_asked(call, err, file, n, type))
#define BEGIN_AT(name, B, T)                                                                                           \
    ON_FILE(name, (MPI_File file, MPI_Offset at, B buf, T n, MPI_Datatype type), (file, at, buf, n, type),             \
            io_asked(call, err, file, n, type))
#define FINISH(name, B)                                                                                                \
    ON_FILE_WITH_STATUS(name, (MPI_File file, B buf, MPI_Status * status), (file, buf, status),                        \
                        io_finished(call, err, file, status))

#define DATA_ACCESS(read, B, suffix, T)                                                                                \
    MOVE(File_##read##suffix, B, T)                                                                                    \
    MOVE(File_##read##_all##suffix, B, T)                                                                              \
    MOVE(File_##read##_shared##suffix, B, T)                                                                           \
    MOVE(File_##read##_ordered##suffix, B, T)                                                                          \
    MOVE_AT(File_##read##_at##suffix, B, T)                                                                            \
    MOVE_AT(File_##read##_at_all##suffix, B, T)                                                                        \
    START(File_i##read##suffix, B, T)                                                                                  \
    START(File_i##read##_all##suffix, B, T)                                                                            \
    START(File_i##read##_shared##suffix, B, T)                                                                         \
    START_AT(File_i##read##_at##suffix, B, T)                                                                          \
    START_AT(File_i##read##_at_all##suffix, B, T)                                                                      \
    BEGIN(File_##read##_all_begin##suffix, B, T)                                                                       \
    BEGIN(File_##read##_ordered_begin##suffix, B, T)                                                                   \
    BEGIN_AT(File_##read##_at_all_begin##suffix, B, T)

DATA_ACCESS(read, READS, , int)
DATA_ACCESS(write, WRITES, , int)
DATA_ACCESS(read, READS, _c, MPI_Count)
DATA_ACCESS(write, WRITES, _c, MPI_Count)

FINISH(File_read_all_end, READS)
FINISH(File_read_at_all_end, READS)
FINISH(File_read_ordered_end, READS)
FINISH(File_write_all_end, WRITES)
FINISH(File_write_at_all_end, WRITES)
FINISH(File_write_ordered_end, WRITES)
