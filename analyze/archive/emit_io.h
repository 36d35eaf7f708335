/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-IO; used by emit.c. */
#pragma once
#include "analyze/archive/calls.h"
#include "analyze/archive/emit_shared.h"

/* Its `comm` is a WW_FILE id. */
static inline bool emit_is_on_file(const struct ww_call *call)
{
    enum ww_class class = call_info(call->call)->class;
    return ((class == WW_IO || class == WW_IO_COLLECTIVE) && call->call != WW_ID_File_open) ||
           call->call == WW_ID_File_seek;
}

/* What is known of a file; NULL when its WW_FILE is lost. */
static inline struct emit_file *emit_file(const struct emitter *emitter, uint32_t id)
{
    const uint64_t *index = map_get(&emitter->file_of, id);
    return index ? &emitter->files.at[*index - 1] : NULL;
}

/* At the entry of a call on a file; `request`: the one it started, or NULL. */
void emit_io_begin(struct emitter *emitter, struct emit_location *location, struct emit_call *emit,
                   const struct request *request, uint64_t t);
/* At the return of any call: operations, and files opened, closed and deleted. */
void emit_io_leave(struct emitter *emitter, struct emit_location *location, struct emit_call *emit, uint64_t t);
/* In the call that completed the request of an operation. */
void emit_io_complete(struct emitter *emitter, struct emit_location *location, const struct request *request,
                      const struct ww_done *done, uint64_t t);
