/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of all kinds; used by emit.c. */
#pragma once
#include "analyze/archive/calls.h"
#include "analyze/archive/emit_shared.h"

/* Of those that calls of this row start. */
enum request_kind emit_request_kind(const struct call_info *info);
/* Persistent: the call makes what MPI_Start will start. */
bool emit_request_is_template(const struct call_info *info);
struct request emit_request_of(const struct ww_call *call);
/* Writes the record that a request begins with and gives it its id. */
void emit_request_begin(struct emitter *emitter, struct emit_location *location, struct request *request, uint64_t t);
/* Writes the record that it ends with, where `done` says how, and gives its id free. */
void emit_request_complete(struct emitter *emitter, struct emit_location *location, const struct request *request,
                           const struct ww_done *done, uint64_t t);
