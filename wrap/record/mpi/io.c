/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO. The record's comm is the communicator that the file was opened on; bytes are those asked for.
 */
#include "wrap/record/mpi/io.h"

MPI_ENTRY(File_open, (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file))
{
    struct ww_call *call = record_enter(WW_ID_File_open, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(File_open)(comm, path, mode, info, file);
    file_opened(call, err, comm, file);
    return err;
}

MPI_ENTRY(File_close, (MPI_File * file))
{
    struct ww_call *call = record_enter(WW_ID_File_close, RECORD_HERE);
    MPI_File before = file ? *file : mpi_handles.file_null;
    io_begin(call, before);
    int err = NEXT(File_close)(file);
    record_leave(call, err);
    return err;
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

ON_FILE(File_preallocate, (MPI_File file, MPI_Offset size), (file, size), (void)0)
ON_FILE(File_set_size, (MPI_File file, MPI_Offset size), (file, size), (void)0)
ON_FILE(File_sync, (MPI_File file), (file), (void)0)
ON_FILE(File_set_atomicity, (MPI_File file, int flag), (file, flag), (void)0)
ON_FILE(File_seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence), (void)0)
ON_FILE(File_get_position_shared, (MPI_File file, MPI_Offset *offset), (file, offset), (void)0)
ON_FILE(File_get_size, (MPI_File file, MPI_Offset *size), (file, size), (void)0)
ON_FILE(File_set_view,
        (MPI_File file, MPI_Offset displacement, MPI_Datatype element, MPI_Datatype type, const char *representation,
         MPI_Info info),
        (file, displacement, element, type, representation, info), (void)0)

MPI_ENTRY(File_delete, (const char *path, MPI_Info info))
{
    struct ww_call *call = record_enter(WW_ID_File_delete, RECORD_HERE);
    int err = NEXT(File_delete)(path, info);
    record_leave(call, err);
    return err;
}

#define READ_END io_read(call, err, n, type)
#define WRITE_END io_write(call, err, n, type)
#define READ_START io_read(call, err, n, type), io_started(call, err, request)
#define WRITE_START io_write(call, err, n, type), io_started(call, err, request)

#define READ(name, T)                                                                                                  \
    ON_FILE(name, (MPI_File file, void *buf, T n, MPI_Datatype type, MPI_Status *status),                              \
            (file, buf, n, type, status), READ_END)
#define READ_AT(name, T)                                                                                               \
    ON_FILE(name, (MPI_File file, MPI_Offset at, void *buf, T n, MPI_Datatype type, MPI_Status *status),               \
            (file, at, buf, n, type, status), READ_END)
#define IREAD(name, T)                                                                                                 \
    ON_FILE(name, (MPI_File file, void *buf, T n, MPI_Datatype type, MPI_Request *request),                            \
            (file, buf, n, type, request), READ_START)
#define IREAD_AT(name, T)                                                                                              \
    ON_FILE(name, (MPI_File file, MPI_Offset at, void *buf, T n, MPI_Datatype type, MPI_Request *request),             \
            (file, at, buf, n, type, request), READ_START)
#define READ_BEGIN(name, T)                                                                                            \
    ON_FILE(name, (MPI_File file, void *buf, T n, MPI_Datatype type), (file, buf, n, type), READ_END)
#define READ_AT_BEGIN(name, T)                                                                                         \
    ON_FILE(name, (MPI_File file, MPI_Offset at, void *buf, T n, MPI_Datatype type), (file, at, buf, n, type), READ_END)
#define READ_FINISH(name) ON_FILE(name, (MPI_File file, void *buf, MPI_Status *status), (file, buf, status), (void)0)

#define WRITE(name, T)                                                                                                 \
    ON_FILE(name, (MPI_File file, const void *buf, T n, MPI_Datatype type, MPI_Status *status),                        \
            (file, buf, n, type, status), WRITE_END)
#define WRITE_AT(name, T)                                                                                              \
    ON_FILE(name, (MPI_File file, MPI_Offset at, const void *buf, T n, MPI_Datatype type, MPI_Status *status),         \
            (file, at, buf, n, type, status), WRITE_END)
#define IWRITE(name, T)                                                                                                \
    ON_FILE(name, (MPI_File file, const void *buf, T n, MPI_Datatype type, MPI_Request *request),                      \
            (file, buf, n, type, request), WRITE_START)
#define IWRITE_AT(name, T)                                                                                             \
    ON_FILE(name, (MPI_File file, MPI_Offset at, const void *buf, T n, MPI_Datatype type, MPI_Request *request),       \
            (file, at, buf, n, type, request), WRITE_START)
#define WRITE_BEGIN(name, T)                                                                                           \
    ON_FILE(name, (MPI_File file, const void *buf, T n, MPI_Datatype type), (file, buf, n, type), WRITE_END)
#define WRITE_AT_BEGIN(name, T)                                                                                        \
    ON_FILE(name, (MPI_File file, MPI_Offset at, const void *buf, T n, MPI_Datatype type), (file, at, buf, n, type),   \
            WRITE_END)
#define WRITE_FINISH(name)                                                                                             \
    ON_FILE(name, (MPI_File file, const void *buf, MPI_Status *status), (file, buf, status), (void)0)

#define DATA_ACCESS(suffix, T)                                                                                         \
    READ(File_read##suffix, T)                                                                                         \
    READ(File_read_all##suffix, T)                                                                                     \
    READ(File_read_shared##suffix, T)                                                                                  \
    READ(File_read_ordered##suffix, T)                                                                                 \
    READ_AT(File_read_at##suffix, T)                                                                                   \
    READ_AT(File_read_at_all##suffix, T)                                                                               \
    IREAD(File_iread##suffix, T)                                                                                       \
    IREAD(File_iread_all##suffix, T)                                                                                   \
    IREAD(File_iread_shared##suffix, T)                                                                                \
    IREAD_AT(File_iread_at##suffix, T)                                                                                 \
    IREAD_AT(File_iread_at_all##suffix, T)                                                                             \
    READ_BEGIN(File_read_all_begin##suffix, T)                                                                         \
    READ_BEGIN(File_read_ordered_begin##suffix, T)                                                                     \
    READ_AT_BEGIN(File_read_at_all_begin##suffix, T)                                                                   \
    WRITE(File_write##suffix, T)                                                                                       \
    WRITE(File_write_all##suffix, T)                                                                                   \
    WRITE(File_write_shared##suffix, T)                                                                                \
    WRITE(File_write_ordered##suffix, T)                                                                               \
    WRITE_AT(File_write_at##suffix, T)                                                                                 \
    WRITE_AT(File_write_at_all##suffix, T)                                                                             \
    IWRITE(File_iwrite##suffix, T)                                                                                     \
    IWRITE(File_iwrite_all##suffix, T)                                                                                 \
    IWRITE(File_iwrite_shared##suffix, T)                                                                              \
    IWRITE_AT(File_iwrite_at##suffix, T)                                                                               \
    IWRITE_AT(File_iwrite_at_all##suffix, T)                                                                           \
    WRITE_BEGIN(File_write_all_begin##suffix, T)                                                                       \
    WRITE_BEGIN(File_write_ordered_begin##suffix, T)                                                                   \
    WRITE_AT_BEGIN(File_write_at_all_begin##suffix, T)

DATA_ACCESS(, int)
#if MPI_HAS_4
DATA_ACCESS(_c, MPI_Count)
#endif

READ_FINISH(File_read_all_end)
READ_FINISH(File_read_at_all_end)
READ_FINISH(File_read_ordered_end)
WRITE_FINISH(File_write_all_end)
WRITE_FINISH(File_write_at_all_end)
WRITE_FINISH(File_write_ordered_end)
