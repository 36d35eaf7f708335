/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls on files write into their record; shared with the Fortran entry points. */
#pragma once
#include "wrap/record/mpi/coll.h"

static inline void io_begin(struct ww_call *call, MPI_File file)
{
    if (call)
        call->comm = file_find(file);
}

static inline void file_made(struct ww_call *call, MPI_Comm comm, MPI_File file)
{
    const struct comm_info *info = call ? call_comm_end(call, comm) : comm_find(comm);
    file_set(file, info ? info->id : 0);
}

static inline void file_opened(struct ww_call *call, int err, MPI_Comm comm, const MPI_File *file)
{
    if (err == MPI_SUCCESS)
        file_made(call, comm, *file);
    record_leave(call, err);
}

static inline void io_read(struct ww_call *call, int err, MPI_Count n, MPI_Datatype type)
{
    if (call && err == MPI_SUCCESS)
        call->bytes_in = type_bytes(n, type);
}

static inline void io_write(struct ww_call *call, int err, MPI_Count n, MPI_Datatype type)
{
    if (call && err == MPI_SUCCESS)
        call->bytes_out = type_bytes(n, type);
}

static inline void io_started(struct ww_call *call, int err, const MPI_Request *request)
{
    if (call && err == MPI_SUCCESS)
        call->request = HANDLE(*request);
}
