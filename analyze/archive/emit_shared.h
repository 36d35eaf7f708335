/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the emitter share. */
#pragma once
#include "analyze/archive/emit.h"

#define WRITE(location, record, ...)                                                                                   \
    ((location)->failed |= OTF2_EvtWriter_##record((location)->writer, __VA_ARGS__) != OTF2_SUCCESS)

/* The time of the next record: not before that of the last. */
uint64_t emit_time(struct emit_location *location, uint64_t time_ns);
/* OTF2's ids of what the spool names. They are noted as used, in case that their definitions are lost. */
uint32_t emit_comm_ref(struct emitter *emitter, uint32_t id);
uint32_t emit_win_ref(struct emitter *emitter, uint32_t id);
uint32_t emit_file_ref(struct emitter *emitter, uint32_t id);
uint32_t emit_rank_ref(int32_t peer);
/* Ranks of an intercommunicator are those of the remote group. */
uint32_t emit_peer_ref(const struct emitter *emitter, uint32_t comm, int32_t peer);
uint32_t emit_root_ref(const struct emitter *emitter, uint32_t comm, int32_t peer, uint16_t flags);
