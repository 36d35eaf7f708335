/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields that the calls on files write into their record; shared with the Fortran entry points.
 *
 * A file gets an id when it is opened, and its WW_FILE, which tells its name, is written then: other calls on it only
 * look the id up. As with all objects, MPI is asked about a file only after a call on it has succeeded.
 */
#pragma once
#include "wrap/record/mpi/coll.h"

/* Ids of open files; 0 = unknown. */
uint32_t file_find(MPI_File file);
/* Around MPI_File_close: the handle may be given out again as soon as the real call has begun. */
uint32_t file_forget(MPI_File file);
void file_restore(MPI_File file, uint32_t id);
/* A file was opened on comm in this mode. The name need not end in a zero. call may be NULL. */
void file_made(struct ww_call *call, MPI_Comm comm, MPI_File file, int mode, const char *name, size_t bytes);
/* MPI_File_delete. */
void file_deleted(const char *name, size_t bytes);
/* A file that was opened where nobody saw it. Returns its new id. */
uint32_t file_found(MPI_File file);

static inline void io_begin(struct ww_call *call, MPI_File file)
{
    if (call)
        call->comm = file_find(file);
}

/* True: what was moved is to be written down. */
static inline bool io_end(struct ww_call *call, int err, MPI_File file)
{
    if (!call || err != MPI_SUCCESS)
        return false;
    if (!call->comm)
        call->comm = file_found(file);
    return true;
}

/* A call that starts to move data. */
static inline bool io_asked(struct ww_call *call, int err, MPI_File file, MPI_Count n, MPI_Datatype type)
{
    if (!io_end(call, err, file))
        return false;
    call->bytes_out = type_bytes(n, type);
    return true;
}

static inline void io_started(struct ww_call *call, int err, MPI_File file, MPI_Count n, MPI_Datatype type,
                              const MPI_Request *request)
{
    if (io_asked(call, err, file, n, type) && *request != mpi_handles.request_null)
        call->request = HANDLE(*request);
}

/* A call that has moved it. */
static inline void io_finished(struct ww_call *call, int err, MPI_File file, MPI_Status *status)
{
    if (io_end(call, err, file))
        call->bytes_in = status_bytes(status);
}

static inline void io_moved(struct ww_call *call, int err, MPI_File file, MPI_Count n, MPI_Datatype type,
                            MPI_Status *status)
{
    if (io_asked(call, err, file, n, type))
        call->bytes_in = status_bytes(status);
}

void io_sought(struct ww_call *call, int err, MPI_File file, MPI_Offset offset, int whence);
/* Of the pointer that all share, which is not asked where it came to: that may mean to lock it. */
void io_sought_shared(struct ww_call *call, int err, MPI_File file, MPI_Offset offset, int whence);
