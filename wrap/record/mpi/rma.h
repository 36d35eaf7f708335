/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields that the calls on windows write into their record; shared with the Fortran entry points. */
#pragma once
#include "wrap/record/mpi/coll.h"
#include "wrap/record/mpi/complete.h"

/* A call that names no target. */
static inline void rma_begin(struct ww_call *call, MPI_Win win)
{
    if (call)
        call->comm = win_find(win);
}

static inline void rma_begin_at(struct ww_call *call, MPI_Win win, int target)
{
    rma_begin(call, win);
    if (!call)
        return;
    call->peer = target >= 0 ? target : WW_NO_PEER;
    if (target == MPI_PROC_NULL)
        call->flags |= WW_F_NULL;
}

static inline void rma_lock_type(struct ww_call *call, int type)
{
    if (call)
        call->tag = type == MPI_LOCK_EXCLUSIVE ? WW_LOCK_EXCLUSIVE : WW_LOCK_SHARED;
}

/* A window made where nobody saw it gets its id at its first use. True: bytes are to be counted. */
static inline bool rma_end(struct ww_call *call, int err, MPI_Win win)
{
    if (!call || err != MPI_SUCCESS)
        return false;
    if (!call->comm)
        call->comm = win_learn(win, 0);
    return !(call->flags & WW_F_NULL);
}

/* As rma_end, for a call that names a group. */
void rma_group(struct ww_call *call, int err, MPI_Win win, MPI_Group group);

static inline void win_made(struct ww_call *call, MPI_Comm comm, MPI_Win win)
{
    win_learn(win, call_parent(call, comm));
}

static inline void win_created(struct ww_call *call, int err, MPI_Comm comm, const MPI_Win *win)
{
    if (err == MPI_SUCCESS && !fortran_depth)
        win_made(call, comm, *win);
    record_leave(call, err);
}
