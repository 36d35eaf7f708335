/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LOCAL(name, (parameters), (arguments)): a call of which enter and leave are recorded and nothing else, because it
 * neither communicates nor waits.
 */
#pragma once
#include "wrap/record/pmpi/next.h"

#define MPI_HAS_4 (MPI_VERSION >= 4)

#define LOCAL(name, parameters, arguments)                                                                             \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        int err = NEXT(name) arguments;                                                                                \
        record_leave(call, err);                                                                                       \
        return err;                                                                                                    \
    }
