/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of one call from Fortran, and access to its arguments as C values. The functions named in shapes.def run
 * only while the call is recorded: `begin` before the real call, `end` after one that succeeded, unless the shape says
 * otherwise.
 */
#pragma once
#include "wrap/record/fortran/row.h"
#include "wrap/record/mpi/complete.h"

struct fortran {
    const struct fortran_row *row;
    void **a; /* the arguments, passed on after `begin` */
    struct ww_call *call;
    int err;
    int comm_at; /* the argument that `comm` was made from; -1 = none yet */
    MPI_Comm comm;
    struct comm_info *freed; /* of `comm`, by a call that frees it; NULL = none */
    MPI_Status *status;      /* what the real call fills; Fortran's statuses have the layout of C's */
    MPI_Status own_status;
    MPI_Request before;
    struct complete list;
};

#define SHAPE(name, begin, found, end)                                                                                 \
    void begin(struct fortran *f);                                                                                     \
    bool found(struct fortran *f);                                                                                     \
    void end(struct fortran *f);
#include "wrap/record/fortran/shapes.def"
#undef SHAPE

/* Objects freed while nothing is recorded must be forgotten, too: their handles will come back. */
void f_free_unrecorded(struct fortran *f);
/* After a call that freed something, or failed to. Then it stays known. */
void f_free_settle(struct fortran *f);

static inline int f_int(const struct fortran *f, int i)
{
    return *(const int *)f->a[i];
}

static inline MPI_Count f_count(const struct fortran *f, int i)
{
    return f->row->entry & FORTRAN_LARGE ? *(const MPI_Count *)f->a[i] : *(const int *)f->a[i];
}

/* In MPICH a handle of C is Fortran's integer. Files are the exception. */
#if defined(ABI_OPEN_MPI)
#define F2C(kind, value) PMPI(kind##_f2c)(value)
#define F2C_FILE(value) F2C(File, value)
#else
#define F2C(kind, value) ((int)(value))
#define F2C_FILE(value) PMPI(File_f2c)(value)
#endif

/* A communicator argument, of which a call has one; results come from f_made. */
static inline MPI_Comm f_comm(struct fortran *f, int i)
{
    if (f->comm_at != i) {
        f->comm = F2C(Comm, f_int(f, i));
        f->comm_at = i;
    }
    return f->comm;
}

static inline MPI_Comm f_made(const struct fortran *f, int i)
{
    return F2C(Comm, f_int(f, i));
}

static inline MPI_Datatype f_type(const struct fortran *f, int i)
{
    return F2C(Type, f_int(f, i));
}

static inline MPI_Request f_request(const struct fortran *f, int i)
{
    return F2C(Request, f_int(f, i));
}

static inline MPI_Win f_win(const struct fortran *f, int i)
{
    return F2C(Win, f_int(f, i));
}

static inline MPI_File f_file(const struct fortran *f, int i)
{
    return F2C_FILE(f_int(f, i));
}

static inline MPI_Message f_message(const struct fortran *f, int i)
{
    return F2C(Message, f_int(f, i));
}

bool f_is_in_place(const struct fortran *f, int i);
/* Makes argument i a status of ours if the program wants none. */
void f_take_status(struct fortran *f, int i);
