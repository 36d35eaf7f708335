/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The course of a call from Fortran, and the sentinels: named objects whose addresses stand for MPI_IN_PLACE and
 * MPI_STATUS(ES)_IGNORE. They exist only in programs with Fortran code, under names that depend on library and
 * compiler.
 */
#include "wrap/record/fortran/fortran.h"
#include "wrap/record/count/workers.h"
#include "wrap/record/fortran/arguments.h"
#include "wrap/record/life/life.h"
#include "wrap/record/mpi/init.h"
#include "wrap/record/process/aside.h"

struct shape {
    void (*begin)(struct fortran *f);
    bool (*found)(struct fortran *f);
    void (*end)(struct fortran *f);
};

static const struct shape shapes[] = {
#define SHAPE(name, begin, found, end) {begin, found, end},
#include "wrap/record/fortran/shapes.def"
#undef SHAPE
};

enum sentinel { IN_PLACE, STATUS_IGNORE, STATUSES_IGNORE, N_SENTINELS };

#ifdef ABI_OPEN_MPI
enum { N_SPELLINGS = 4 };
static const char *const spelling[N_SENTINELS][N_SPELLINGS] = {
    {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"},
    {"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore", "mpi_fortran_status_ignore__",
     "MPI_FORTRAN_STATUS_IGNORE"},
    {"mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore", "mpi_fortran_statuses_ignore__",
     "MPI_FORTRAN_STATUSES_IGNORE"},
};
/* No variables that hold addresses. */
enum { FIRST_INDIRECT = N_SPELLINGS };
#else
enum { N_SPELLINGS = 2 };
static const char *const spelling[N_SENTINELS][N_SPELLINGS] = {
    {"MPIR_F08_MPI_IN_PLACE", "MPIR_F_MPI_IN_PLACE"},
    {"MPIR_F08_MPI_STATUS_IGNORE_OBJ", "MPI_F_STATUS_IGNORE"},
    {"MPIR_F08_MPI_STATUSES_IGNORE_OBJ", "MPI_F_STATUSES_IGNORE"},
};
/* From here on, variables that hold the address once the binding has been used. */
enum { FIRST_INDIRECT = 1 };
#endif

/* If a name is not there, something that no argument can be. */
static const void *nothing;
static const void *sentinels[N_SENTINELS][N_SPELLINGS];

static bool are_loaded;

/* A name that is missing is looked for in every object, which takes some stack. */
static void load_aside(void *unused)
{
    (void)unused;
    for (int s = 0; s < N_SENTINELS; s++)
        for (int i = 0; i < N_SPELLINGS; i++) {
            const void *found = next_find_data(spelling[s][i]);
            __atomic_store_n(&sentinels[s][i], found ? found : &nothing, __ATOMIC_RELAXED);
        }
    __atomic_store_n(&are_loaded, true, __ATOMIC_RELEASE);
}

static void load_sentinels(void)
{
    if (__builtin_expect(!__atomic_load_n(&are_loaded, __ATOMIC_ACQUIRE), 0))
        aside_run(load_aside, NULL);
}

static inline bool is_sentinel(enum sentinel s, const void *address)
{
    bool is = false;
    for (int i = 0; i < N_SPELLINGS; i++) {
        const void *known = __atomic_load_n(&sentinels[s][i], __ATOMIC_RELAXED);
        is |= address == (i < FIRST_INDIRECT ? known : *(const void *const *)known);
    }
    return is && address;
}

/* A C descriptor (ISO_Fortran_binding.h) begins with the address of the data. */
bool f_is_in_place(const struct fortran *f, int i)
{
    const void *address = f->a[i];
    return is_sentinel(IN_PLACE, f->row->entry & FORTRAN_TS && address ? *(const void *const *)address : address);
}

void f_take_status(struct fortran *f, int i)
{
    if (is_sentinel(STATUS_IGNORE, f->a[i])) {
        memset(&f->own_status, 0, sizeof f->own_status);
        f->a[i] = &f->own_status;
    }
    f->status = f->a[i];
}

/* As complete_begin: copies the n handles at argument 1 and takes the statuses at argument s. */
static void take_list(struct fortran *f, int n, int s)
{
    const int *handle = f->a[1];
    /* `use mpi_f08` code may leave a list of statuses out under either name. */
    bool is_ignored = is_sentinel(STATUSES_IGNORE, f->a[s]) || is_sentinel(STATUS_IGNORE, f->a[s]);
    MPI_Status *given = is_ignored ? MPI_STATUSES_IGNORE : f->a[s];
    f->list.before = f->list.few_requests;
    f->list.statuses = complete_own_statuses();
    if (n <= 0 || (n > COMPLETE_FEW && !complete_many(&f->list, n))) {
        f->list.before = NULL;
        return;
    }
    for (int i = 0; i < n; i++)
        f->list.before[i] = F2C(Request, handle[i]);
    if (given != MPI_STATUSES_IGNORE) {
        f->list.statuses = given;
        return;
    }
    f->a[s] = f->list.statuses;
}

static bool is_poll(const struct shape *shape)
{
    return shape->found != f_always;
}

/* Start and end of MPI itself. True: this was one, and is done. */
static bool life_call(struct fortran *f, fortran_next *next, void *function, const void *return_address,
                      const void *frame_address)
{
    const struct fortran_row *row = f->row;
    if (row->shape > FORTRAN_FINALIZE)
        return false;
    if (row->shape == FORTRAN_FINALIZE) {
        mpi_ends(row->id, return_address, frame_address);
        next(row, function, f->a);
        mpi_ended();
        return true;
    }
    mpi_begins();
    next(row, function, f->a);
    workers_resume();
    if (*(int *)f->a[row->ierror] == MPI_SUCCESS)
        mpi_began(row->id, return_address, frame_address);
    return true;
}

/* Sessions as the recorder sees them, before the real call and after it. */
static void session_before(const struct fortran *f, const void *return_address, const void *frame_address)
{
    if (f->row->shape == FORTRAN_SESSION_FINALIZE)
        session_ends(return_address, frame_address);
}

static void session_after(const struct fortran *f, const void *return_address, const void *frame_address)
{
    if (f->row->shape == FORTRAN_SESSION_INIT)
        session_began(F2C(Session, *(const int *)f->a[2]));
    else if (f->row->shape == FORTRAN_SESSION_FINALIZE)
        session_ended();
    else
        session_made(F2C(Comm, *(const int *)f->a[4]), return_address, frame_address);
}

static bool is_of_sessions(const struct fortran_row *row)
{
    return row->shape <= FORTRAN_FROM_GROUP;
}

static void call_begins(struct fortran *f, const struct shape *shape)
{
    if (!f->call) {
        if (f->row->shape == FORTRAN_FREE)
            f_free_unrecorded(f);
        return;
    }
    load_sentinels();
    f->call->flags |= WW_F_FORTRAN;
    shape->begin(f);
}

static void call_ends(struct fortran *f, const struct shape *shape)
{
    f_free_settle(f);
    if (f->call && (call_worked(f->call, f->err) || call_error_class(f->err) == MPI_ERR_IN_STATUS)) {
        shape->end(f);
        if (f->row->request >= 0)
            f->call->request = HANDLE(f_request(f, f->row->request));
    }
    record_leave(f->call, f->err);
}

/* Takes the error code that a mpi_f08 program does not ask for. */
static __thread int unwanted_ierror;

void fortran_call(const struct fortran_row *row, void **arguments, fortran_next *next, void *function,
                  const void *return_address, const void *frame_address)
{
    const struct shape *shape = &shapes[row->shape];
    struct record_poll poll = {NULL};
    struct fortran f;
    f.row = row;
    f.a = arguments;
    f.comm_at = -1;
    f.freed = NULL;
    f.list.before = NULL;
    if (row->ierror >= 0 && !arguments[row->ierror])
        arguments[row->ierror] = &unwanted_ierror;
    if (life_call(&f, next, function, return_address, frame_address))
        return;
    if (is_of_sessions(row))
        session_before(&f, return_address, frame_address);
    if (is_poll(shape)) {
        poll = record_poll_begin(row->id, return_address, frame_address);
        f.call = poll.call;
    } else {
        f.call = record_enter(row->id, return_address, frame_address);
    }
    fortran_depth++;
    call_begins(&f, shape);
    next(row, function, arguments);
    fortran_depth--;
    f.err = row->ierror >= 0 ? *(int *)arguments[row->ierror] : MPI_SUCCESS;
    if (is_of_sessions(row) && f.err == MPI_SUCCESS)
        session_after(&f, return_address, frame_address);
    if (is_poll(shape)) {
        if (poll_folded(&poll, f.err, f.err != MPI_SUCCESS || shape->found(&f)))
            return;
        f.call = record_poll_succeeded(&poll);
    }
    call_ends(&f, shape);
}

void f_nothing(struct fortran *f)
{
    (void)f;
}

bool f_always(struct fortran *f)
{
    (void)f;
    return true;
}

bool f_never(struct fortran *f)
{
    (void)f;
    return false;
}

bool f_flag_1(struct fortran *f)
{
    return f_int(f, 1) != 0;
}

bool f_flag_2(struct fortran *f)
{
    return f_int(f, 2) != 0;
}

bool f_flag_3(struct fortran *f)
{
    return f_int(f, 3) != 0;
}

void f_abort_begin(struct fortran *f)
{
    call_comm_begin(f->call, f_comm(f, 0));
    life_abort(f_int(f, 1));
}

void f_wait_begin(struct fortran *f)
{
    f->before = f_request(f, 0);
    f_take_status(f, 1);
}

void f_wait_end(struct fortran *f)
{
    complete_request(f->call, f->before, f->status, 0);
}

void f_waitall_begin(struct fortran *f)
{
    take_list(f, f_int(f, 0), 2);
}

void f_waitall_end(struct fortran *f)
{
    complete_all(f->call, f->err, &f->list, f_int(f, 0), f->list.before);
}

void f_waitany_begin(struct fortran *f)
{
    take_list(f, f_int(f, 0), 3);
}

/* Argument 2 counts from 1; but from 0 in the mpi_f08 binding of MPICH 4.0, where the request that became null tells.
 */
void f_waitany_end(struct fortran *f)
{
    const int *handle = f->a[1];
    int n = f_int(f, 0), index = f_int(f, 2) - 1;
    bool is_off = f->list.before && index + 1 >= 0 && index + 1 < n &&
                  f->list.before[index + 1] != mpi_handles.request_null &&
                  F2C(Request, handle[index + 1]) == mpi_handles.request_null;
    index += is_off;
    complete_any(f->call, f->err, &f->list, n, &index);
}

void f_waitsome_begin(struct fortran *f)
{
    take_list(f, f_int(f, 0), 4);
}

void f_waitsome_end(struct fortran *f)
{
    const int *index = f->a[3];
    for (int i = 0; i < f_int(f, 2); i++)
        complete_at(f->call, &f->list, f_int(f, 0), index[i] - 1, i);
}

bool f_testsome_found(struct fortran *f)
{
    return f_int(f, 2) > 0;
}

void f_test_begin(struct fortran *f)
{
    f->before = f_request(f, 0);
    f_take_status(f, 2);
}

bool f_test_found(struct fortran *f)
{
    return f_int(f, 1) && !(f->call && f->before == mpi_handles.request_null);
}

void f_test_end(struct fortran *f)
{
    f_wait_end(f);
}

void f_testall_begin(struct fortran *f)
{
    take_list(f, f_int(f, 0), 3);
}

bool f_testall_found(struct fortran *f)
{
    return f_int(f, 2) && !(f->call && !complete_has_any(&f->list, f_int(f, 0)));
}

void f_testall_end(struct fortran *f)
{
    f_waitall_end(f);
}

void f_testany_begin(struct fortran *f)
{
    take_list(f, f_int(f, 0), 4);
}

bool f_testany_found(struct fortran *f)
{
    return f_int(f, 3) && f_int(f, 2) >= 0; /* MPICH 4.0 has MPI_UNDEFINED + 1 for none */
}

void f_testany_end(struct fortran *f)
{
    f_waitany_end(f);
}

static void f_request_begin(struct fortran *f)
{
    MPI_Request request = f_request(f, 0);
    request_begin(f->call, &request);
}

void f_request_free_begin(struct fortran *f)
{
    partitioned_freed(f_request(f, 0));
    f_request_begin(f);
}

void f_cancel_begin(struct fortran *f)
{
    complete_expect_cancelled();
    f_request_begin(f);
}

void f_start_end(struct fortran *f)
{
    MPI_Request request = f_request(f, 0);
    started(f->call, f->err, 1, &request);
}

void f_startall_end(struct fortran *f)
{
    const int *handle = f->a[1];
    for (int i = 0; i < f_int(f, 0); i++, handle++) {
        MPI_Request request = F2C(Request, *handle);
        started(f->call, f->err, 1, &request);
    }
}
