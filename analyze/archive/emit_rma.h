/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication; used by emit.c. */
#pragma once
#include "analyze/archive/emit_shared.h"

/* At the entry of a call that puts, gets or accumulates; `request`: the one it started, or NULL. */
void emit_rma_operation(struct emitter *emitter, struct emit_location *location, const struct ww_call *call,
                        const struct request *request, uint64_t t);
/* At the return of any call: windows made and freed, and synchronisation. */
void emit_rma_leave(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit, uint64_t t);
