/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication. The record's comm is the window's id (at creation: the communicator), peer the target.
 * MPI_Win_post and MPI_Win_start name a group, which follows as a WW_RANKS.
 */
#include "wrap/record/mpi/rma.h"
#include <stdlib.h>

MPI_ENTRY(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win))
{
    struct ww_call *call = record_enter(WW_ID_Win_create, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(Win_create)(base, size, unit, info, comm, win);
    win_created(call, err, comm, win);
    return err;
}

#define WIN_ALLOCATE(name, U)                                                                                          \
    MPI_ENTRY(name, (MPI_Aint size, U unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win))                   \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        coll_begin(call, comm, NO_ROOT);                                                                               \
        int err = NEXT(name)(size, unit, info, comm, base, win);                                                       \
        win_created(call, err, comm, win);                                                                             \
        return err;                                                                                                    \
    }

WIN_ALLOCATE(Win_allocate, int)
WIN_ALLOCATE(Win_allocate_shared, int)
WIN_ALLOCATE(Win_allocate_c, MPI_Aint)
WIN_ALLOCATE(Win_allocate_shared_c, MPI_Aint)

MPI_ENTRY(Win_create_c, (void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win))
{
    struct ww_call *call = record_enter(WW_ID_Win_create_c, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(Win_create_c)(base, size, unit, info, comm, win);
    win_created(call, err, comm, win);
    return err;
}

MPI_ENTRY(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
{
    struct ww_call *call = record_enter(WW_ID_Win_create_dynamic, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(Win_create_dynamic)(info, comm, win);
    win_created(call, err, comm, win);
    return err;
}

MPI_ENTRY(Win_free, (MPI_Win * win))
{
    struct ww_call *call = record_enter(WW_ID_Win_free, RECORD_HERE);
    MPI_Win before = win ? *win : mpi_handles.win_null;
    uint32_t id = win_forget(before);
    if (call)
        call->comm = id;
    int err = NEXT(Win_free)(win);
    if (err != MPI_SUCCESS)
        win_restore(before, id);
    record_leave(call, err);
    return err;
}

#define RMA_SYNC(name, parameters, arguments, begin, end)                                                              \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        begin;                                                                                                         \
        int err = NEXT(name) arguments;                                                                                \
        end;                                                                                                           \
        record_leave(call, err);                                                                                       \
        return err;                                                                                                    \
    }

RMA_SYNC(Win_fence, (int assertion, MPI_Win win), (assertion, win), rma_begin(call, win), rma_end(call, err, win))
RMA_SYNC(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win), rma_begin(call, win),
         rma_group(call, err, win, group))
RMA_SYNC(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win), rma_begin(call, win),
         rma_group(call, err, win, group))
RMA_SYNC(Win_complete, (MPI_Win win), (win), rma_begin(call, win), rma_end(call, err, win))
RMA_SYNC(Win_wait, (MPI_Win win), (win), rma_begin(call, win), rma_end(call, err, win))
RMA_SYNC(Win_lock, (int type, int rank, int assertion, MPI_Win win), (type, rank, assertion, win),
         (rma_begin_at(call, win, rank), rma_lock_type(call, type)), rma_end(call, err, win))
RMA_SYNC(Win_lock_all, (int assertion, MPI_Win win), (assertion, win),
         (rma_begin(call, win), rma_lock_type(call, MPI_LOCK_SHARED)), rma_end(call, err, win))
RMA_SYNC(Win_unlock, (int rank, MPI_Win win), (rank, win), rma_begin_at(call, win, rank), rma_end(call, err, win))
RMA_SYNC(Win_unlock_all, (MPI_Win win), (win), rma_begin(call, win), rma_end(call, err, win))
RMA_SYNC(Win_flush, (int rank, MPI_Win win), (rank, win), rma_begin_at(call, win, rank), rma_end(call, err, win))
RMA_SYNC(Win_flush_all, (MPI_Win win), (win), rma_begin(call, win), rma_end(call, err, win))
RMA_SYNC(Win_flush_local, (int rank, MPI_Win win), (rank, win), rma_begin_at(call, win, rank), rma_end(call, err, win))
RMA_SYNC(Win_flush_local_all, (MPI_Win win), (win), rma_begin(call, win), rma_end(call, err, win))

/* Programs call it in a loop until another process has written to the shared memory: polls that never say that they
 * have found it. */
MPI_ENTRY(Win_sync, (MPI_Win win))
{
    struct record_poll poll = record_poll_begin(WW_ID_Win_sync, RECORD_HERE);
    int err = NEXT(Win_sync)(win);
    if (!poll_folded(&poll, err, false))
        record_leave(record_poll_succeeded(&poll), err);
    return err;
}

MPI_ENTRY(Win_test, (MPI_Win win, int *flag))
{
    struct record_poll poll = record_poll_begin(WW_ID_Win_test, RECORD_HERE);
    int err = NEXT(Win_test)(win, flag);
    if (poll_folded(&poll, err, err || *flag))
        return err;
    struct ww_call *call = record_poll_succeeded(&poll);
    rma_begin(call, win);
    rma_end(call, err, win);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Win_set_name, (MPI_Win win, const char *name))
{
    struct ww_call *call = record_enter(WW_ID_Win_set_name, RECORD_HERE);
    rma_begin(call, win);
    int err = NEXT(Win_set_name)(win, name);
    rma_end(call, err, win);
    if (call && err == MPI_SUCCESS)
        name_write(WW_NAME_WIN, call->comm, name, strlen(name));
    record_leave(call, err);
    return err;
}

#define RMA(name, parameters, arguments, out, in)                                                                      \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        rma_begin_at(call, win, target);                                                                               \
        int err = NEXT(name) arguments;                                                                                \
        if (rma_end(call, err, win)) {                                                                                 \
            call->bytes_out = out;                                                                                     \
            call->bytes_in = in;                                                                                       \
        }                                                                                                              \
        record_leave(call, err);                                                                                       \
        return err;                                                                                                    \
    }

#define RMA_REQUEST(name, parameters, arguments, out, in)                                                              \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        rma_begin_at(call, win, target);                                                                               \
        int err = NEXT(name) arguments;                                                                                \
        if (rma_end(call, err, win)) {                                                                                 \
            call->request = HANDLE(*request);                                                                          \
            call->bytes_out = out;                                                                                     \
            call->bytes_in = in;                                                                                       \
        }                                                                                                              \
        record_leave(call, err);                                                                                       \
        return err;                                                                                                    \
    }

#define P_PUT(T)                                                                                                       \
    const void *origin, T n, MPI_Datatype type, int target, MPI_Aint displacement, T target_n, MPI_Datatype target_type
#define A_PUT origin, n, type, target, displacement, target_n, target_type
#define P_GET(T)                                                                                                       \
    void *origin, T n, MPI_Datatype type, int target, MPI_Aint displacement, T target_n, MPI_Datatype target_type
#define P_GET_ACCUMULATE(T)                                                                                            \
    const void *origin, T n, MPI_Datatype type, void *result, T result_n, MPI_Datatype result_type, int target,        \
        MPI_Aint displacement, T target_n, MPI_Datatype target_type, MPI_Op op, MPI_Win win
#define A_GET_ACCUMULATE                                                                                               \
    origin, n, type, result, result_n, result_type, target, displacement, target_n, target_type, op, win
#define ORIGIN_BYTES type_bytes(n, type)
#define RESULT_BYTES type_bytes(result_n, result_type)
/* The origin of a Get_accumulate with MPI_NO_OP need not be valid. The result has as many bytes. */

#define RMA_FAMILY(suffix, T)                                                                                          \
    RMA(Put##suffix, (P_PUT(T), MPI_Win win), (A_PUT, win), ORIGIN_BYTES, 0)                                           \
    RMA(Get##suffix, (P_GET(T), MPI_Win win), (A_PUT, win), 0, ORIGIN_BYTES)                                           \
    RMA(Accumulate##suffix, (P_PUT(T), MPI_Op op, MPI_Win win), (A_PUT, op, win), ORIGIN_BYTES, 0)                     \
    RMA(Get_accumulate##suffix, (P_GET_ACCUMULATE(T)), (A_GET_ACCUMULATE), RESULT_BYTES, RESULT_BYTES)                 \
    RMA_REQUEST(Rput##suffix, (P_PUT(T), MPI_Win win, MPI_Request * request), (A_PUT, win, request), ORIGIN_BYTES, 0)  \
    RMA_REQUEST(Rget##suffix, (P_GET(T), MPI_Win win, MPI_Request * request), (A_PUT, win, request), 0, ORIGIN_BYTES)  \
    RMA_REQUEST(Raccumulate##suffix, (P_PUT(T), MPI_Op op, MPI_Win win, MPI_Request * request),                        \
                (A_PUT, op, win, request), ORIGIN_BYTES, 0)                                                            \
    RMA_REQUEST(Rget_accumulate##suffix, (P_GET_ACCUMULATE(T), MPI_Request * request), (A_GET_ACCUMULATE, request),    \
                RESULT_BYTES, RESULT_BYTES)

RMA_FAMILY(, int)
RMA_FAMILY(_c, MPI_Count)

RMA(Fetch_and_op,
    (const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint displacement, MPI_Op op, MPI_Win win),
    (origin, result, type, target, displacement, op, win), type_bytes(1, type), type_bytes(1, type))
RMA(Compare_and_swap,
    (const void *origin, const void *compare, void *result, MPI_Datatype type, int target, MPI_Aint displacement,
     MPI_Win win),
    (origin, compare, result, type, target, displacement, win), type_bytes(1, type), type_bytes(1, type))

void rma_group(struct ww_call *call, int err, MPI_Win win, MPI_Group group)
{
    int n = 0;
    MPI_Group members;
    /* Open MPI accepts a null group, but not a question about it. */
    if (!rma_end(call, err, win) || group == mpi_handles.group_null || PMPI(Group_size)(group, &n) != MPI_SUCCESS ||
        n <= 0)
        return;
    size_t bytes = sizeof(struct ww_ranks) + (size_t)n * sizeof(int32_t);
    uint16_t units = record_units(bytes);
    int *rank = bytes <= (size_t)RECORD_UNITS_MOST * WW_UNIT ? malloc(2 * (size_t)n * sizeof *rank) : NULL;
    if (!rank || PMPI(Win_get_group)(win, &members) != MPI_SUCCESS)
        goto out;
    for (int i = 0; i < n; i++)
        rank[i] = i;
    struct ww_ranks *record = NULL;
    if (PMPI(Group_translate_ranks)(group, n, rank, members, rank + n) == MPI_SUCCESS)
        record = record_append(units);
    if (record) {
        record->n = (uint32_t)n;
        memcpy(record->rank, rank + n, (size_t)n * sizeof *rank);
        record_commit(record, WW_RANKS, units);
    }
    PMPI(Group_free)(&members);
out:
    free(rank);
}
