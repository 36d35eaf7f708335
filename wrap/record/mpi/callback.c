/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/mpi/callback.h"
#include <stdatomic.h>

static _Atomic(callback_function *) functions[CALLBACK_MOST];

static RECORD_CALLBACK uintptr_t pass_on(unsigned number, CALLBACK_WORDS)
{
    record_callback_begin();
    uintptr_t result = atomic_load_explicit(&functions[number], memory_order_relaxed)(a, b, c, d, e, f);
    record_callback_end();
    return result;
}

#define CALL(n)                                                                                                        \
    static uintptr_t call_##n(CALLBACK_WORDS)                                                                          \
    {                                                                                                                  \
        return pass_on(0x##n, a, b, c, d, e, f);                                                                       \
    }
#define NAME(n) call_##n,
#define SIXTEEN(X, n)                                                                                                  \
    X(n##0)                                                                                                            \
    X(n##1)                                                                                                            \
    X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9) X(n##a) X(n##b) X(n##c) X(n##d) X(n##e) X(n##f)
#define ALL(X)                                                                                                         \
    SIXTEEN(X, 0)                                                                                                      \
    SIXTEEN(X, 1)                                                                                                      \
    SIXTEEN(X, 2)                                                                                                      \
    SIXTEEN(X, 3)                                                                                                      \
    SIXTEEN(X, 4)                                                                                                      \
    SIXTEEN(X, 5)                                                                                                      \
    SIXTEEN(X, 6)                                                                                                      \
    SIXTEEN(X, 7)                                                                                                      \
    SIXTEEN(X, 8)                                                                                                      \
    SIXTEEN(X, 9)                                                                                                      \
    SIXTEEN(X, a)                                                                                                      \
    SIXTEEN(X, b)                                                                                                      \
    SIXTEEN(X, c)                                                                                                      \
    SIXTEEN(X, d)                                                                                                      \
    SIXTEEN(X, e)                                                                                                      \
    SIXTEEN(X, f)
ALL(CALL)
static callback_function *const ours[] = {ALL(NAME)};
_Static_assert(sizeof ours / sizeof *ours == CALLBACK_MOST, "one for each");

callback_function *callback_of(callback_function *function)
{
    for (unsigned i = 0; function && i < CALLBACK_MOST; i++) {
        callback_function *known = NULL;
        if (atomic_compare_exchange_strong(&functions[i], &known, function) || known == function)
            return ours[i];
    }
    return function;
}

/* Of a function given to a recorded call. */
#define OURS(function)                                                                                                 \
    ((__typeof__(function))(void *)(call ? callback_of((callback_function *)(void *)(function))                        \
                                         : (callback_function *)(void *)(function)))
/* GIVES(name, (parameters), (arguments)): a call that gives MPI functions of the program. */
#define GIVES(name, parameters, arguments)                                                                             \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        int err = NEXT(name) arguments;                                                                                \
        record_leave(call, err);                                                                                       \
        return err;                                                                                                    \
    }

GIVES(Op_create, (MPI_User_function * user_fn, int commute, MPI_Op *op), (OURS(user_fn), commute, op))
GIVES(Comm_create_keyval,
      (MPI_Comm_copy_attr_function * copy_fn, MPI_Comm_delete_attr_function *delete_fn, int *keyval, void *extra_state),
      (OURS(copy_fn), OURS(delete_fn), keyval, extra_state))
GIVES(Type_create_keyval,
      (MPI_Type_copy_attr_function * copy_fn, MPI_Type_delete_attr_function *delete_fn, int *keyval, void *extra_state),
      (OURS(copy_fn), OURS(delete_fn), keyval, extra_state))
GIVES(Win_create_keyval,
      (MPI_Win_copy_attr_function * copy_fn, MPI_Win_delete_attr_function *delete_fn, int *keyval, void *extra_state),
      (OURS(copy_fn), OURS(delete_fn), keyval, extra_state))
GIVES(Keyval_create, (MPI_Copy_function * copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state),
      (OURS(copy_fn), OURS(delete_fn), keyval, extra_state))
GIVES(Comm_create_errhandler, (MPI_Comm_errhandler_function * function, MPI_Errhandler *errhandler),
      (OURS(function), errhandler))
GIVES(File_create_errhandler, (MPI_File_errhandler_function * function, MPI_Errhandler *errhandler),
      (OURS(function), errhandler))
GIVES(Win_create_errhandler, (MPI_Win_errhandler_function * function, MPI_Errhandler *errhandler),
      (OURS(function), errhandler))
GIVES(Grequest_start,
      (MPI_Grequest_query_function * query_fn, MPI_Grequest_free_function *free_fn,
       MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request),
      (OURS(query_fn), OURS(free_fn), OURS(cancel_fn), extra_state, request))
GIVES(Op_create_c, (MPI_User_function_c * user_fn, int commute, MPI_Op *op), (OURS(user_fn), commute, op))
GIVES(Session_create_errhandler, (MPI_Session_errhandler_function * function, MPI_Errhandler *errhandler),
      (OURS(function), errhandler))

GIVES(Errhandler_create, (MPI_Comm_errhandler_function * function, MPI_Errhandler *errhandler),
      (OURS(function), errhandler))
