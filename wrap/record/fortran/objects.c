/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran calls on communicators, windows and files. */
#include "wrap/record/fortran/arguments.h"
#include "wrap/record/mpi/callback.h"
#include "wrap/record/mpi/coll.h"
#include "wrap/record/mpi/io.h"
#include "wrap/record/mpi/rma.h"

/* The new communicator is the last argument before ierror (or before the request, if there is one). */
static MPI_Comm made_by(const struct fortran *f)
{
    return f_made(f, f->row->ierror - 1 - (f->row->request >= 0));
}

void f_create_end(struct fortran *f)
{
    comm_made(f->call, f_comm(f, 0), made_by(f), false);
}

void f_idup_end(struct fortran *f)
{
    comm_made(f->call, f_comm(f, 0), made_by(f), true);
}

/* Argument i is a function of the program's. */
static void take_function(struct fortran *f, int i)
{
    union {
        void *argument;
        callback_function *function;
    } given = {.argument = f->a[i]};
    given.function = callback_of(given.function);
    f->a[i] = given.argument;
}

/* Of a reduction or an error handler: function, ... */
void f_function_begin(struct fortran *f)
{
    take_function(f, 0);
}

/* copy_fn (which has seven parameters), delete_fn, ... */
void f_keyval_begin(struct fortran *f)
{
    take_function(f, 1);
}

/* ..., root, comm, intercomm, errcodes */
static int spawn_root(const struct fortran *f)
{
    return f->row->ierror - 4;
}

void f_spawn_begin(struct fortran *f)
{
    int root = spawn_root(f);
    coll_begin(f->call, f_comm(f, root + 1), f_int(f, root));
}

void f_spawn_end(struct fortran *f)
{
    int root = spawn_root(f);
    comm_made(f->call, f_comm(f, root + 1), f_made(f, root + 2), false);
}

/* port, info, root, comm, newcomm */
void f_connect_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 3), f_int(f, 2));
}

void f_connect_end(struct fortran *f)
{
    comm_made(f->call, f_comm(f, 3), f_made(f, 4), false);
}

void f_orphan_end(struct fortran *f)
{
    comm_made_alone(f->call, made_by(f));
}

/* The handle may be given out again as soon as the real call has begun, but not before this call is over. */
void f_free_begin(struct fortran *f)
{
    call_comm_begin(f->call, f_comm(f, 0));
    f->freed = comm_forget(f->comm);
}

void f_free_unrecorded(struct fortran *f)
{
    if (comms_are_started())
        f->freed = comm_forget(f_comm(f, 0));
}

void f_free_settle(struct fortran *f)
{
    if (f->err == MPI_SUCCESS)
        comm_drop(f->freed);
    else if (f->freed)
        comm_restore(f->comm, f->freed);
    else if (f->call && f->row->shape == FORTRAN_WIN_FREE)
        win_restore(f_win(f, 0), f->call->comm);
    else if (f->call && f->row->shape == FORTRAN_FILE_CLOSE)
        file_restore(f_file(f, 0), f->call->comm);
}

void f_free_end(struct fortran *f)
{
    (void)f;
}

static size_t trimmed(const char *text, size_t bytes)
{
    while (bytes > 0 && text[bytes - 1] == ' ')
        bytes--;
    return bytes;
}

/* comm, name, ierror, length of name */
void f_comm_name_end(struct fortran *f)
{
    call_comm_end(f->call, f_comm(f, 0));
    name_write(WW_NAME_COMM, f->call->comm, f->a[1], trimmed(f->a[1], (size_t)(uintptr_t)f->a[3]));
}

void f_win_name_begin(struct fortran *f)
{
    rma_begin(f->call, f_win(f, 0));
}

void f_win_name_end(struct fortran *f)
{
    rma_end(f->call, f->err, f_win(f, 0));
    name_write(WW_NAME_WIN, f->call->comm, f->a[1], trimmed(f->a[1], (size_t)(uintptr_t)f->a[3]));
}

/* ..., comm, [baseptr,] win: only MPI_Win_allocate and kin have a base behind the communicator. */
static int win_comm(const struct fortran *f)
{
    bool has_base = f->row->id == WW_ID_Win_allocate || f->row->id == WW_ID_Win_allocate_shared ||
                    f->row->id == WW_ID_Win_allocate_c || f->row->id == WW_ID_Win_allocate_shared_c;
    return f->row->ierror - 2 - has_base;
}

void f_win_create_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, win_comm(f)), NO_ROOT);
}

void f_win_create_end(struct fortran *f)
{
    win_made(f->call, f_comm(f, win_comm(f)), f_win(f, f->row->ierror - 1));
}

void f_win_free_begin(struct fortran *f)
{
    f->call->comm = win_forget(f_win(f, 0));
}

void f_win_free_end(struct fortran *f)
{
    (void)f;
}

/* The window is the last argument. */
static MPI_Win last_win(const struct fortran *f)
{
    return f_win(f, f->row->ierror - 1);
}

void f_win_all_begin(struct fortran *f)
{
    rma_begin(f->call, last_win(f));
}

void f_win_all_end(struct fortran *f)
{
    rma_end(f->call, f->err, last_win(f));
}

void f_win_rank_begin(struct fortran *f)
{
    rma_begin_at(f->call, last_win(f), f_int(f, 0));
}

void f_win_lock_begin(struct fortran *f)
{
    rma_begin_at(f->call, last_win(f), f_int(f, 1));
    rma_lock_type(f->call, f_int(f, 0));
}

void f_win_group_end(struct fortran *f)
{
    rma_group(f->call, f->err, last_win(f), F2C(Group, f_int(f, 0)));
}

void f_win_test_begin(struct fortran *f)
{
    (void)f;
}

void f_win_test_end(struct fortran *f)
{
    rma_begin(f->call, f_win(f, 0));
    rma_end(f->call, f->err, f_win(f, 0));
}

/* origin, n, type, target, displacement, n, type, [op,] win, [request] */
static MPI_Win rma_win(const struct fortran *f)
{
    return f_win(f, f->row->ierror - 1 - (f->row->request >= 0));
}

void f_put_begin(struct fortran *f)
{
    rma_begin_at(f->call, rma_win(f), f_int(f, 3));
}

void f_put_end(struct fortran *f)
{
    if (rma_end(f->call, f->err, rma_win(f)))
        f->call->bytes_out = type_bytes(f_count(f, 1), f_type(f, 2));
}

void f_get_end(struct fortran *f)
{
    if (rma_end(f->call, f->err, rma_win(f)))
        f->call->bytes_in = type_bytes(f_count(f, 1), f_type(f, 2));
}

/* origin, n, type, result, n, type, target, ... */
void f_get_accumulate_begin(struct fortran *f)
{
    rma_begin_at(f->call, rma_win(f), f_int(f, 6));
}

void f_get_accumulate_end(struct fortran *f)
{
    if (rma_end(f->call, f->err, rma_win(f)))
        f->call->bytes_in = f->call->bytes_out = type_bytes(f_count(f, 4), f_type(f, 5));
}

/* origin, result, type, target, displacement, op, win */
void f_fetch_begin(struct fortran *f)
{
    rma_begin_at(f->call, rma_win(f), f_int(f, 3));
}

void f_fetch_end(struct fortran *f)
{
    if (rma_end(f->call, f->err, rma_win(f)))
        f->call->bytes_in = f->call->bytes_out = type_bytes(1, f_type(f, 2));
}

/* origin, compare, result, type, target, displacement, win */
void f_swap_begin(struct fortran *f)
{
    rma_begin_at(f->call, rma_win(f), f_int(f, 4));
}

void f_swap_end(struct fortran *f)
{
    if (rma_end(f->call, f->err, rma_win(f)))
        f->call->bytes_in = f->call->bytes_out = type_bytes(1, f_type(f, 3));
}

/* comm, path, mode, info, file, ierror, length of path */
void f_file_open_end(struct fortran *f)
{
    const char *path = f->a[1];
    file_made(f->call, f_comm(f, 0), f_file(f, 4), f_int(f, 2), path, trimmed(path, (size_t)(uintptr_t)f->a[6]));
}

/* path, info, ierror, length of path */
void f_file_delete_end(struct fortran *f)
{
    file_deleted(f->a[0], trimmed(f->a[0], (size_t)(uintptr_t)f->a[3]));
}

void f_file_close_begin(struct fortran *f)
{
    f->call->comm = file_forget(f_file(f, 0));
}

void f_file_begin(struct fortran *f)
{
    io_begin(f->call, f_file(f, 0));
}

void f_file_end(struct fortran *f)
{
    io_end(f->call, f->err, f_file(f, 0));
}

/* file, offset, whence */
void f_seek_end(struct fortran *f)
{
    io_sought(f->call, f->err, f_file(f, 0), *(const MPI_Offset *)f->a[1], f_int(f, 2));
}

void f_seek_shared_end(struct fortran *f)
{
    io_sought_shared(f->call, f->err, f_file(f, 0), *(const MPI_Offset *)f->a[1], f_int(f, 2));
}

/* Reading and writing: file, [offset,] buf, n, type, status or request. The status is the last argument. */
void f_move_begin(struct fortran *f)
{
    io_begin(f->call, f_file(f, 0));
    f_take_status(f, f->row->ierror - 1);
}

void f_move_end(struct fortran *f)
{
    io_moved(f->call, f->err, f_file(f, 0), f_count(f, 2), f_type(f, 3), f->status);
}

void f_move_at_end(struct fortran *f)
{
    io_moved(f->call, f->err, f_file(f, 0), f_count(f, 3), f_type(f, 4), f->status);
}

void f_move_start_end(struct fortran *f)
{
    io_asked(f->call, f->err, f_file(f, 0), f_count(f, 2), f_type(f, 3));
}

void f_move_at_start_end(struct fortran *f)
{
    io_asked(f->call, f->err, f_file(f, 0), f_count(f, 3), f_type(f, 4));
}

/* file, buf, status */
void f_move_finish_end(struct fortran *f)
{
    io_finished(f->call, f->err, f_file(f, 0), f->status);
}
