/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defines the Fortran entry points of calls.def. C identifiers are ours, symbol names Fortran's: compilers
 * write mpi_x_ (the one that is defined, and looked up behind us), mpi_x__ or MPI_X. Some can be told to write mpi_x,
 * but that name is for everybody: libraries have functions of their own that are called so (R's Rmpi), and a
 * preloaded one would take their place.
 */
#include "wrap/record/fortran/fortran.h"
#include "wrap/record/life/windows.h"
#include "wrap/record/mpi/comms.h"
#include "wrap/record/record.h"

/* N parameters, and a function that calls another with N arguments. */
#define P_1 void *a0
#define P_2 P_1, void *a1
#define P_3 P_2, void *a2
#define P_4 P_3, void *a3
#define P_5 P_4, void *a4
#define P_6 P_5, void *a5
#define P_7 P_6, void *a6
#define P_8 P_7, void *a7
#define P_9 P_8, void *a8
#define P_10 P_9, void *a9
#define P_11 P_10, void *a10
#define P_12 P_11, void *a11
#define P_13 P_12, void *a12
#define P_14 P_13, void *a13
#define A_1 a0
#define A_2 A_1, a1
#define A_3 A_2, a2
#define A_4 A_3, a3
#define A_5 A_4, a4
#define A_6 A_5, a5
#define A_7 A_6, a6
#define A_8 A_7, a7
#define A_9 A_8, a8
#define A_10 A_9, a9
#define A_11 A_10, a10
#define A_12 A_11, a11
#define A_13 A_12, a12
#define A_14 A_13, a13
#define L_1 a[0]
#define L_2 L_1, a[1]
#define L_3 L_2, a[2]
#define L_4 L_3, a[3]
#define L_5 L_4, a[4]
#define L_6 L_5, a[5]
#define L_7 L_6, a[6]
#define L_8 L_7, a[7]
#define L_9 L_8, a[8]
#define L_10 L_9, a[9]
#define L_11 L_10, a[10]
#define L_12 L_11, a[11]
#define L_13 L_12, a[12]
#define L_14 L_13, a[13]

#define NEXT_N(n)                                                                                                      \
    static void next_##n(const struct fortran_row *row, void *function, void **a)                                      \
    {                                                                                                                  \
        (void)row;                                                                                                     \
        ((void (*)(P_##n))function)(L_##n);                                                                            \
    }
NEXT_N(1)
NEXT_N(2)
NEXT_N(3)
NEXT_N(4)
NEXT_N(5)
NEXT_N(6)
NEXT_N(7)
NEXT_N(8)
NEXT_N(9)
NEXT_N(10)
NEXT_N(11)
NEXT_N(12)
NEXT_N(13)
NEXT_N(14)

#define DEFINE(function, symbol, call_id, n, hidden, of_shape, has_request, bits)                                      \
    void function(P_##n) __asm__(symbol);                                                                              \
    WW_EXPORT void function(P_##n)                                                                                     \
    {                                                                                                                  \
        static void *next;                                                                                             \
        static const struct fortran_row row = {                                                                        \
            .id = WW_ID_##call_id,                                                                                     \
            .shape = FORTRAN_##of_shape,                                                                               \
            .entry = bits,                                                                                             \
            .ierror = n - 1 - hidden,                                                                                  \
            .request = has_request ? n - 2 - hidden : -1,                                                              \
        };                                                                                                             \
        void *arguments[] = {A_##n};                                                                                   \
        fortran_call(&row, arguments, next_##n, NEXT_IN(next, next_find, symbol), RECORD_HERE);                        \
    }

#define ALIAS(function, symbol, target, n)                                                                             \
    void function(P_##n) __asm__(symbol);                                                                              \
    WW_EXPORT void function(P_##n) __attribute__((alias(target)));

#define F77(name, NAME, id, n, hidden, shape, request)                                                                 \
    DEFINE(f77_##name, "mpi_" #name "_", id, n, hidden, shape, request, 0)                                             \
    ALIAS(f77_double_##name, "mpi_" #name "__", "mpi_" #name "_", n)                                                   \
    ALIAS(f77_upper_##name, "MPI_" #NAME, "mpi_" #name "_", n)

#define F08_PLAIN(name, id, n, hidden, shape, request)                                                                 \
    DEFINE(f08_##name, "mpi_" #name "_f08_", id, n, hidden, shape, request, 0)
#define F08_DESCRIPTORS(name, id, n, hidden, shape, request)                                                           \
    DEFINE(f08ts_##name, "mpi_" #name "_f08ts_", id, n, hidden, shape, request, FORTRAN_TS)
#define F08_COUNTS(name, suffix, ...) DEFINE(f08_c_##name, "mpi_" #name "_c_" suffix "_", __VA_ARGS__)
/* Open MPI has descriptors from version 6 on. Large counts have names of their own in MPICH 4. */
#ifdef ABI_OPEN_MPI
#define F08_TS(...) F08_PLAIN(__VA_ARGS__) F08_DESCRIPTORS(__VA_ARGS__)
#define F08_LARGE(...) F08_COUNTS(__VA_ARGS__)
#else
#define F08_TS(...) F08_DESCRIPTORS(__VA_ARGS__)
#define F08_LARGE(name, suffix, ...)                                                                                   \
    F08_COUNTS(name, suffix, __VA_ARGS__)                                                                              \
    DEFINE(f08_large_##name, "mpi_" #name "_" suffix "_large_", __VA_ARGS__)
#endif
#define F08_PLAIN_LARGE(name, id, n, hidden, shape, request)                                                           \
    F08_PLAIN(name, id, n, hidden, shape, request)                                                                     \
    F08_LARGE(name, "f08", id##_c, n, hidden, shape, request, FORTRAN_LARGE)
#define F08_TS_LARGE(name, id, n, hidden, shape, request)                                                              \
    F08_TS(name, id, n, hidden, shape, request)                                                                        \
    F08_LARGE(name, "f08ts", id##_c, n, hidden, shape, request, FORTRAN_TS | FORTRAN_LARGE)

#define FORTRAN(name, NAME, id, n, hidden, shape, request, entry)                                                      \
    F77(name, NAME, id, n, hidden, shape, request)                                                                     \
    F08_##entry(name, id, n, hidden, shape, request)
#include "wrap/record/fortran/calls.def"

/* `use mpi` in Open MPI has entry points of their own for bases of TYPE(C_PTR). */
DEFINE(cptr_win_allocate, "mpi_win_allocate_cptr_", Win_allocate, 7, 0, WIN_CREATE, 0, 0)
DEFINE(cptr_win_allocate_shared, "mpi_win_allocate_shared_cptr_", Win_allocate_shared, 7, 0, WIN_CREATE, 0, 0)
DEFINE(cptr_win_shared_query, "mpi_win_shared_query_cptr_", Win_shared_query, 6, 0, LOCAL, 0, 0)
DEFINE(cptr_alloc_mem, "mpi_alloc_mem_cptr_", Alloc_mem, 4, 0, LOCAL, 0, 0)

/* Without ierror, or in MPICH's mpi_f08 with one that may be absent: what stands in its place is passed on. */
#define PCONTROL(function, symbol)                                                                                     \
    void function(void *level, void *ierror) __asm__(symbol);                                                          \
    WW_EXPORT void function(void *level, void *ierror)                                                                 \
    {                                                                                                                  \
        static void *next;                                                                                             \
        struct ww_call *call = record_enter(WW_ID_Pcontrol, RECORD_HERE);                                              \
        fortran_depth++;                                                                                               \
        ((void (*)(void *, void *))NEXT_IN(next, next_find, symbol))(level, ierror);                                   \
        fortran_depth--;                                                                                               \
        record_leave(call, 0);                                                                                         \
        windows_control(*(const int *)level);                                                                          \
    }
PCONTROL(f77_pcontrol, "mpi_pcontrol_")
ALIAS(f77_double_pcontrol, "mpi_pcontrol__", "mpi_pcontrol_", 2)
ALIAS(f77_upper_pcontrol, "MPI_PCONTROL", "mpi_pcontrol_", 2)
PCONTROL(f08_pcontrol, "mpi_pcontrol_f08_")
