/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the emitter share. */
#pragma once
#include "analyze/trace/emit.h"

#define WRITE(location, record, ...)                                                                                   \
    ((location)->failed |= OTF2_EvtWriter_##record((location)->writer, __VA_ARGS__) != OTF2_SUCCESS)

uint32_t emit_win_ref(struct emitter *emitter, uint32_t id);
uint32_t emit_file_ref(struct emitter *emitter, uint32_t id);
uint32_t emit_rank_ref(int32_t peer);
/* At the entry of a call that puts, gets or accumulates; `request`: the one it started, or NULL. */
void emit_rma_operation(struct emitter *emitter, struct emit_location *location, const struct ww_call *call,
                        const struct request *request, uint64_t t);
/* At the return of any call: windows made and freed, and synchronisation. */
void emit_rma_leave(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit, uint64_t t);
