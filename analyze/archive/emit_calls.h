/* SPDX-License-Identifier: BSD-3-Clause */
/* Records that emit.c hands on: of requests, of one-sided communication and of MPI-IO. */
#pragma once
#include "analyze/archive/emitter.h"

/* The effects of a call besides taking time. Most do one thing or nothing, which is found once. */
enum emit_does {
    EMIT_SENDS = 1 << 0, /* to a process, which the call names; likewise: */
    EMIT_RECEIVES = 1 << 1,
    EMIT_PROBES = 1 << 2,
    EMIT_GATHERS = 1 << 3,        /* a blocking collective */
    EMIT_MAKES_REQUESTS = 1 << 4, /* that others start; or frees them */
    EMIT_FREES_COMM = 1 << 5,
    EMIT_MAKES_WINDOW = 1 << 6,
    EMIT_ON_WINDOW = 1 << 7, /* its `comm` is a window ... */
    EMIT_ON_FILE = 1 << 8,   /* ... a WW_FILE id */
    EMIT_OPENS_FILE = 1 << 9,
    EMIT_HAS_MORE = 1 << 10, /* a request, or records that follow it */
};

/* MPI-IO. */

/* False: it takes a handle that is defined already. */
bool emit_define_file(struct emitter *emitter, const struct ww_file *file);
/* At the entry of a call on a file; `request`: the one it started, or NULL. */
void emit_io_begin(struct emitter *emitter, struct emit_location *location, struct emit_call *emit,
                   const struct request *request, uint64_t t);
/* At the return of any call: operations, and files opened, closed and deleted. */
void emit_io_leave(struct emitter *emitter, struct emit_location *location, struct emit_call *emit, uint64_t t);

/* Requests of all kinds. */

/* Of those that calls of this row start. */
enum request_kind emit_request_kind(const struct call_info *info);
/* Persistent: the call makes what MPI_Start will start. */
bool emit_request_is_template(const struct call_info *info);
/* `comm`: that of the call, also where only its region is written. */
struct request emit_request_of(const struct emitter *emitter, const struct ww_call *call, uint32_t comm);
/* Writes the record that a request begins with and gives it its id. */
void emit_request_begin(struct emitter *emitter, struct emit_location *location, struct request *request, uint64_t t);
/* Writes the record that it ends with, where `done` says how, and gives its id free. */
void emit_request_complete(struct emitter *emitter, struct emit_location *location, const struct request *request,
                           const struct ww_done *done, uint64_t t);

/* One-sided communication. */

/* At the entry of a call that puts, gets or accumulates; `request`: the one it started, or NULL. */
void emit_rma_operation(struct emitter *emitter, struct emit_location *location, const struct ww_call *call,
                        const struct request *request, uint64_t t);
/* At the return of any call: windows made and freed, and synchronisation. */
void emit_rma_leave(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit, uint64_t t);
