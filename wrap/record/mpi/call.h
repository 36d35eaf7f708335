/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields that the wrappers write into their call record, by class of call.
 *
 * X_begin runs before the real call. It looks at values only, never into an object that the program named, since that
 * may be invalid (programs test errors). X_end runs after it and asks MPI about the program's handles only if the call
 * succeeded. Both accept call == NULL. All take C handles, so that the Fortran entry points share them.
 */
#pragma once
#include "wrap/record/mpi/comms.h"
#include "wrap/record/mpi/partitioned.h"

static inline int call_error_class(int err)
{
    int class;
    if (__builtin_expect(err == MPI_SUCCESS, 1))
        return MPI_SUCCESS;
    return PMPI(Error_class)(err, &class) == MPI_SUCCESS ? class : err;
}

/* Has the call done its work? A message that was too long for its receive has been received all the same. */
static inline bool call_worked(struct ww_call *call, int err)
{
    if (__builtin_expect(err == MPI_SUCCESS, 1))
        return true;
    if (call_error_class(err) != MPI_ERR_TRUNCATE)
        return false;
    call->flags |= WW_F_TRUNCATED;
    return true;
}

static inline void call_comm_begin(struct ww_call *call, MPI_Comm comm)
{
    const struct comm_info *info = comm_find(comm);
    call->comm = info && __atomic_load_n(&info->written, __ATOMIC_ACQUIRE) ? info->id : 0;
    call->peer = WW_NO_PEER;
}

/* The id of the communicator of a call that succeeded; 0 only when recording cannot go on. */
static inline uint32_t call_comm_end(struct ww_call *call, MPI_Comm comm)
{
    if (__builtin_expect(!call->comm, 0)) {
        const struct comm_info *info = comm_learn(comm);
        call->comm = info ? info->id : 0;
    }
    return call->comm;
}

/* The same of a call that may not be recorded; 0 = nothing is known of it. */
static inline uint32_t call_parent(struct ww_call *call, MPI_Comm comm)
{
    const struct comm_info *info = call ? NULL : comm_find(comm);
    return call ? call_comm_end(call, comm) : info ? info->id : 0;
}

static inline void call_peer(struct ww_call *call, int peer, int tag)
{
    call->tag = tag;
    call->peer = peer;
    if (peer >= 0)
        return;
    call->peer = WW_NO_PEER;
    call->flags |= peer == MPI_PROC_NULL ? WW_F_NULL : peer == MPI_ANY_SOURCE ? WW_F_ANY : 0;
}

/* Only for a type that a successful call has just used with this count. A null one can be among its arguments where
 * nothing is moved, and MPI must not be asked about it. */
static inline uint64_t type_bytes(MPI_Count count, MPI_Datatype type)
{
    int size = 0;
    MPI_Count size_x = 0;
    if (count <= 0 || type == mpi_handles.type_null)
        return 0;
    if (__builtin_expect(PMPI(Type_size)(type, &size) == MPI_SUCCESS && size >= 0, 1))
        return (uint64_t)count * (uint64_t)size;
    return PMPI(Type_size_x)(type, &size_x) == MPI_SUCCESS && size_x > 0 ? (uint64_t)(count * size_x) : 0;
}

static inline uint64_t status_bytes(MPI_Status *status)
{
    int count = 0;
    MPI_Count count_x = 0;
    if (__builtin_expect(PMPI(Get_count)(status, mpi_handles.byte, &count) == MPI_SUCCESS && count >= 0, 1))
        return (uint64_t)count;
    return PMPI(Get_elements_x)(status, mpi_handles.byte, &count_x) == MPI_SUCCESS && count_x > 0 ? (uint64_t)count_x
                                                                                                  : 0;
}

/* The receive side of a call, from the status it left. */
static inline void call_received(struct ww_call *call, MPI_Status *status)
{
    if (status->MPI_SOURCE == MPI_PROC_NULL) {
        call->flags |= WW_F_NULL;
        call->peer = WW_NO_PEER;
        return;
    }
    call->peer = status->MPI_SOURCE;
    call->tag = status->MPI_TAG;
    call->bytes_in = status_bytes(status);
}

static inline void send_begin(struct ww_call *call, MPI_Comm comm, int dest, int tag)
{
    if (!call)
        return;
    call_comm_begin(call, comm);
    call_peer(call, dest, tag);
}

/* X_done writes what only a call that succeeded can tell; call is not NULL. */
static inline void send_done(struct ww_call *call, MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
    call_comm_end(call, comm);
    if (!(call->flags & WW_F_NULL))
        call->bytes_out = type_bytes(count, type);
}

static inline void send_end(struct ww_call *call, int err, MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
    if (call && err == MPI_SUCCESS)
        send_done(call, comm, count, type);
    record_leave(call, err);
}

static inline void isend_end(struct ww_call *call, int err, MPI_Comm comm, MPI_Count count, MPI_Datatype type,
                             const MPI_Request *request)
{
    if (call && err == MPI_SUCCESS)
        call->request = HANDLE(*request);
    send_end(call, err, comm, count, type);
}

/* The posted size: what really arrives is in the WW_DONE. */
static inline void imrecv_done(struct ww_call *call, MPI_Count count, MPI_Datatype type, MPI_Request request)
{
    call->request = HANDLE(request);
    if (!(call->flags & WW_F_NULL))
        call->bytes_in = type_bytes(count, type);
}

static inline void irecv_done(struct ww_call *call, MPI_Comm comm, MPI_Count count, MPI_Datatype type,
                              MPI_Request request)
{
    call_comm_end(call, comm);
    imrecv_done(call, count, type, request);
}

static inline void irecv_end(struct ww_call *call, int err, MPI_Comm comm, MPI_Count count, MPI_Datatype type,
                             const MPI_Request *request)
{
    if (call && err == MPI_SUCCESS)
        irecv_done(call, comm, count, type, *request);
    record_leave(call, err);
}

static inline void recv_done(struct ww_call *call, MPI_Comm comm, MPI_Status *status)
{
    call_comm_end(call, comm);
    call_received(call, status);
}

static inline void recv_end(struct ww_call *call, int err, MPI_Comm comm, MPI_Status *status)
{
    if (call && call_worked(call, err))
        recv_done(call, comm, status);
    record_leave(call, err);
}

/* Flags say what the two halves have in common: nothing is communicated only if both are MPI_PROC_NULL. */
static inline void sendrecv_begin(struct ww_call *call, MPI_Comm comm, int dest, int tag, int source)
{
    if (!call)
        return;
    send_begin(call, comm, dest, tag);
    if (source != MPI_PROC_NULL)
        call->flags &= (uint16_t)~WW_F_NULL;
    if (source == MPI_ANY_SOURCE)
        call->flags |= WW_F_ANY;
}

static inline struct ww_done done_of(uint64_t request, MPI_Status *status)
{
    struct ww_done done = {.request = request, .peer = status->MPI_SOURCE, .tag = status->MPI_TAG};
    if (status->MPI_SOURCE == MPI_PROC_NULL)
        done.peer = WW_NO_PEER;
    else
        done.bytes = status_bytes(status);
    return done;
}

/* The receive half follows as a WW_DONE. */
static inline void sendrecv_done(struct ww_call *call, MPI_Comm comm, MPI_Count count, MPI_Datatype type,
                                 MPI_Status *status)
{
    struct ww_done done = done_of(0, status);
    call_comm_end(call, comm);
    call->bytes_out = call->peer == WW_NO_PEER ? 0 : type_bytes(count, type);
    call->bytes_in = done.bytes;
    done.flags = done.peer == WW_NO_PEER ? WW_F_NULL : 0;
    record_done(call, WW_DONE, done);
}

static inline void sendrecv_end(struct ww_call *call, int err, MPI_Comm comm, MPI_Count count, MPI_Datatype type,
                                MPI_Status *status)
{
    if (call && call_worked(call, err))
        sendrecv_done(call, comm, count, type, status);
    record_leave(call, err);
}

/* A matched message knows its communicator; MPI does not tell. */
static inline void mrecv_begin(struct ww_call *call, const MPI_Message *message)
{
    if (!call)
        return;
    call->peer = WW_NO_PEER;
    call->comm = message ? message_find(*message) : 0;
    if (message && *message == mpi_handles.message_no_proc)
        call->flags |= WW_F_NULL;
}

static inline void mprobe_end(struct ww_call *call, int err, MPI_Comm comm, const MPI_Message *message)
{
    if (!call || err != MPI_SUCCESS || *message == mpi_handles.message_no_proc)
        return;
    call_comm_end(call, comm);
    message_set(*message, call->comm);
}

static inline void mrecv_end(struct ww_call *call, int err, MPI_Status *status)
{
    if (call && call_worked(call, err))
        call_received(call, status);
    record_leave(call, err);
}

static inline void imrecv_end(struct ww_call *call, int err, MPI_Count count, MPI_Datatype type,
                              const MPI_Request *request)
{
    if (call && err == MPI_SUCCESS)
        imrecv_done(call, count, type, *request);
    record_leave(call, err);
}

/* Calls on one request. */
static inline void request_begin(struct ww_call *call, const MPI_Request *request)
{
    if (!call)
        return;
    call->peer = WW_NO_PEER;
    call->request = request ? HANDLE(*request) : 0;
    if (request && *request == mpi_handles.request_null)
        call->flags |= WW_F_NULL;
}

static inline void request_started(struct ww_call *call, MPI_Request request)
{
    record_done(call, WW_STARTED, (struct ww_done){.request = HANDLE(request), .peer = WW_NO_PEER});
}

static inline void started(struct ww_call *call, int err, int n, const MPI_Request *requests)
{
    for (int i = 0; call && err == MPI_SUCCESS && i < n; i++)
        if (!partitioned_started(requests[i]))
            request_started(call, requests[i]);
}

/* So many parts of a partitioned send are ready. */
static inline void parts_ready(struct ww_call *call, int err, MPI_Request request, int n)
{
    if (call && err == MPI_SUCCESS && partitioned_ready(request, n))
        request_started(call, request);
}

/* A status to pass to MPI: the program's, or ours when it gave none and we want to know. */
#define STATUS_OR_OWN(call, status, own) ((call) && (status) == MPI_STATUS_IGNORE ? &(own) : (status))
