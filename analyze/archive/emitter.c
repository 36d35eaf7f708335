/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/emitter.h"

uint64_t emit_time(struct emit_location *location, uint64_t time_ns)
{
    if (time_ns < location->last_ns)
        return location->last_ns;
    if (!location->first_ns)
        location->first_ns = time_ns;
    return location->last_ns = time_ns;
}

static void mark_used(struct emit_ids *ids, uint32_t id)
{
    bool is_new;
    if (id == ids->last) /* most calls in a row are on one communicator */
        return;
    ids->last = id;
    map_put(&ids->seen, id, &is_new);
    if (is_new)
        *vec_push(&ids->list) = id;
}

uint32_t emit_comm_ref(struct emitter *emitter, uint32_t id)
{
    if (!id)
        return OTF2_UNDEFINED_COMM;
    mark_used(&emitter->comms_used, id);
    return id - 1;
}

uint32_t emit_win_ref(struct emitter *emitter, uint32_t id)
{
    if (!id)
        return OTF2_UNDEFINED_RMA_WIN;
    mark_used(&emitter->wins_used, id);
    return id;
}

uint32_t emit_file_ref(struct emitter *emitter, uint32_t id)
{
    const struct emit_file *file = emit_file(emitter, id);
    uint32_t handle = file ? file->handle : id;
    mark_used(&emitter->files_used, handle);
    return handle;
}

uint32_t emit_rank_ref(int32_t peer)
{
    return peer < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)peer;
}

uint32_t emit_peer_ref(const struct emitter *emitter, uint32_t comm, int32_t peer)
{
    const uint64_t *from = emitter->peers_from.n && peer >= 0 ? map_get(&emitter->peers_from, comm) : NULL;
    return emit_rank_ref(peer) + (from ? (uint32_t)*from : 0);
}

uint32_t emit_root_ref(const struct emitter *emitter, uint32_t comm, int32_t peer, uint16_t flags)
{
    if (peer == WW_PEER_ROOT)
        return OTF2_COLLECTIVE_ROOT_SELF;
    if (flags & WW_F_NULL)
        return OTF2_COLLECTIVE_ROOT_THIS_GROUP;
    if (flags & WW_F_ERROR) /* the root may be what was wrong */
        return OTF2_COLLECTIVE_ROOT_NONE;
    return peer < 0 ? OTF2_COLLECTIVE_ROOT_NONE : emit_peer_ref(emitter, comm, peer);
}
