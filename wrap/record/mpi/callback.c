/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/mpi/callback.h"
#include <stdatomic.h>

static _Atomic(callback_reduce *) reductions[CALLBACK_MOST];

static RECORD_CALLBACK void reduce(unsigned number, void *in, void *in_out, void *length, void *type)
{
    record_callback_begin();
    atomic_load_explicit(&reductions[number], memory_order_relaxed)(in, in_out, length, type);
    record_callback_end();
}

#define REDUCE(n)                                                                                                      \
    static void reduce_##n(void *in, void *in_out, void *length, void *type)                                           \
    {                                                                                                                  \
        reduce(0x##n, in, in_out, length, type);                                                                       \
    }
#define NAME(n) reduce_##n,
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
ALL(REDUCE)
static callback_reduce *const ours[] = {ALL(NAME)};
_Static_assert(sizeof ours / sizeof *ours == CALLBACK_MOST, "one for each");

callback_reduce *callback_of_reduction(callback_reduce *function)
{
    for (unsigned i = 0; function && i < CALLBACK_MOST; i++) {
        callback_reduce *known = NULL;
        if (atomic_compare_exchange_strong(&reductions[i], &known, function) || known == function)
            return ours[i];
    }
    return function;
}

MPI_ENTRY(Op_create, (MPI_User_function * user_fn, int commute, MPI_Op *op))
{
    struct ww_call *call = record_enter(WW_ID_Op_create, RECORD_HERE);
    callback_reduce *function = (callback_reduce *)(void *)user_fn;
    int err =
        NEXT(Op_create)((MPI_User_function *)(void *)(call ? callback_of_reduction(function) : function), commute, op);
    record_leave(call, err);
    return err;
}

#if MPI_HAS_4
MPI_ENTRY(Op_create_c, (MPI_User_function_c * user_fn, int commute, MPI_Op *op))
{
    struct ww_call *call = record_enter(WW_ID_Op_create_c, RECORD_HERE);
    callback_reduce *function = (callback_reduce *)(void *)user_fn;
    int err = NEXT(Op_create_c)((MPI_User_function_c *)(void *)(call ? callback_of_reduction(function) : function),
                                commute, op);
    record_leave(call, err);
    return err;
}
#endif
