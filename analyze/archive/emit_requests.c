/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: of which kind a call starts one, and the records it begins and ends with. */
#include "analyze/archive/emit_requests.h"
#include "analyze/archive/emit_io.h"
#include <string.h>

enum request_kind emit_request_kind(const struct call_info *info)
{
    switch (info->class) {
    case WW_ISEND:
    case WW_SEND_INIT:
        return REQUEST_SEND;
    case WW_IRECV:
    case WW_RECV_INIT:
        return REQUEST_RECV;
    case WW_ISENDRECV:
        return REQUEST_SENDRECV;
    case WW_ICOLLECTIVE:
    case WW_COLL_INIT:
        return REQUEST_COLL;
    case WW_RMA_REQUEST:
        return REQUEST_RMA;
    case WW_IO:
    case WW_IO_COLLECTIVE:
        return REQUEST_IO;
    case WW_PARTITIONED:
        return !strcmp(info->name, "MPI_Psend_init")   ? REQUEST_SEND
               : !strcmp(info->name, "MPI_Precv_init") ? REQUEST_RECV
                                                       : REQUEST_NOTHING;
    default:
        return REQUEST_NOTHING;
    }
}

bool emit_request_is_template(const struct call_info *info)
{
    return info->class == WW_SEND_INIT || info->class == WW_RECV_INIT || info->class == WW_COLL_INIT ||
           info->class == WW_PARTITIONED;
}

struct request emit_request_of(const struct ww_call *call)
{
    bool communicates = !(call->flags & WW_F_NULL) || call_info(call->call)->coll != WW_COLL_NONE;
    bool is_sendrecv = call_info(call->call)->class == WW_ISENDRECV;
    return (struct request){.kind = communicates || is_sendrecv ? emit_request_kind(call_info(call->call))
                                                                : REQUEST_NOTHING,
                            .call = call->call,
                            .comm = call->comm,
                            .peer = call->flags & WW_F_NULL && !is_sendrecv ? WW_NO_PEER : call->peer,
                            .tag = call->tag,
                            .bytes_out = call->bytes_out,
                            .bytes_in = call->bytes_in};
}

/* Calls that start persistent requests do not tell of which operation. */
static void collective_begin(struct emitter *emitter, struct emit_location *location, const struct request *request,
                             uint64_t t)
{
    if (emit_request_is_template(call_info(request->call))) {
        OTF2_AttributeList_AddRegionRef(location->attributes, ARCHIVE_ATTR_OPERATION, request->call);
        emitter->region_used[request->call] = 1;
    }
    WRITE(location, NonBlockingCollectiveRequest, location->attributes, t, request->id);
}

void emit_request_begin(struct emitter *emitter, struct emit_location *location, struct request *request, uint64_t t)
{
    request->id = requests_new_id(&emitter->requests);
    bool sends = request->kind == REQUEST_SEND || (request->kind == REQUEST_SENDRECV && request->peer >= 0);
    if (sends)
        WRITE(location, MpiIsend, NULL, t, emit_peer_ref(emitter, request->comm, request->peer),
              emit_comm_ref(emitter, request->comm), (uint32_t)request->tag, request->bytes_out, request->id);
    request->recv_id = request->kind == REQUEST_SENDRECV ? requests_new_id(&emitter->requests) : request->id;
    if (request->kind == REQUEST_RECV || request->kind == REQUEST_SENDRECV)
        WRITE(location, MpiIrecvRequest, NULL, t, request->recv_id);
    if (request->kind == REQUEST_COLL)
        collective_begin(emitter, location, request, t);
}

static void receive_complete(struct emitter *emitter, struct emit_location *location, const struct request *request,
                             const struct ww_done *done, uint64_t t)
{
    if (done->flags & WW_F_NULL || done->peer < 0)
        WRITE(location, MpiRequestCancelled, NULL, t, request->recv_id);
    else
        WRITE(location, MpiIrecv, NULL, t, emit_peer_ref(emitter, request->comm, done->peer),
              emit_comm_ref(emitter, request->comm), (uint32_t)done->tag, done->bytes, request->recv_id);
}

void emit_request_complete(struct emitter *emitter, struct emit_location *location, const struct request *request,
                           const struct ww_done *done, uint64_t t)
{
    bool cancelled = done->flags & WW_F_NULL;
    switch (request->kind) {
    case REQUEST_SEND:
        if (cancelled)
            WRITE(location, MpiRequestCancelled, NULL, t, request->id);
        else
            WRITE(location, MpiIsendComplete, NULL, t, request->id);
        break;
    case REQUEST_RECV:
        receive_complete(emitter, location, request, done, t);
        break;
    case REQUEST_SENDRECV:
        if (request->peer >= 0)
            WRITE(location, MpiIsendComplete, NULL, t, request->id);
        receive_complete(emitter, location, request, done, t);
        break;
    case REQUEST_COLL:
        WRITE(location, NonBlockingCollectiveComplete, NULL, t, archive_collective_op(request->call),
              emit_comm_ref(emitter, request->comm), emit_root_ref(emitter, request->comm, request->peer, 0),
              request->bytes_out, request->bytes_in, request->id);
        break;
    case REQUEST_RMA:
        WRITE(location, RmaOpCompleteNonBlocking, NULL, t, emit_win_ref(emitter, request->comm), request->id);
        break;
    case REQUEST_IO:
        emit_io_complete(emitter, location, request, done, t);
        break;
    default:
        break;
    }
    requests_free_id(&emitter->requests, request->id);
    if (request->recv_id != request->id)
        requests_free_id(&emitter->requests, request->recv_id);
}
