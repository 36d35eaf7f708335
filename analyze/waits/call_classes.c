/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/call_classes.h"

enum coll_pattern coll_pattern(enum ww_coll coll)
{
    switch (coll) {
    case WW_COLL_BCAST:
    case WW_COLL_SCATTER:
    case WW_COLL_SCATTERV:
        return PATTERN_FROM_ROOT;
    case WW_COLL_REDUCE:
    case WW_COLL_GATHER:
    case WW_COLL_GATHERV:
        return PATTERN_TO_ROOT;
    case WW_COLL_SCAN:
    case WW_COLL_EXSCAN:
        return PATTERN_PREFIX;
    case WW_COLL_NEIGHBOR:
        return PATTERN_NEIGHBORS;
    case WW_COLL_NONE:
        return PATTERN_NONE;
    default:
        return PATTERN_ALL;
    }
}

bool coll_needs_all(enum ww_coll coll)
{
    return coll_pattern(coll) == PATTERN_ALL;
}

bool coll_is_prefix(enum ww_coll coll)
{
    return coll_pattern(coll) == PATTERN_PREFIX;
}

enum step_state class_state(enum ww_class class)
{
    switch (class) {
    case WW_LOCAL:
    case WW_INIT:
    case WW_FINALIZE:
    case WW_SEND_INIT:
    case WW_RECV_INIT:
    case WW_COLL_INIT:
    case WW_CANCEL:
    case WW_REQUEST_FREE:
    case WW_COMM_CREATE:
    case WW_COMM_FREE:
    case WW_WIN_CREATE:
    case WW_WIN_FREE:
    case WW_SPAWN:
    case WW_ABORT:
        return STEP_MPI;
    case WW_IO:
    case WW_IO_COLLECTIVE:
        return STEP_BLOCKED;
    default:
        return STEP_TRANSFER;
    }
}

bool region_moves_data(const struct trace_region *region)
{
    switch (region->call) {
    case WW_ID_Pack:
    case WW_ID_Pack_c:
    case WW_ID_Pack_external:
    case WW_ID_Pack_external_c:
    case WW_ID_Unpack:
    case WW_ID_Unpack_c:
    case WW_ID_Unpack_external:
    case WW_ID_Unpack_external_c:
        return true;
    default:
        return class_state(region->class) != STEP_MPI && region->class != WW_IPROBE && region->class != WW_PROBE &&
               region->coll != WW_COLL_BARRIER;
    }
}

bool class_is_onesided_transfer(enum ww_class class)
{
    return class == WW_RMA_PUT || class == WW_RMA_GET || class == WW_RMA_ATOMIC || class == WW_RMA_REQUEST;
}

bool class_completes_onesided(enum ww_class class)
{
    return class >= WW_RMA_FENCE && class <= WW_RMA_FLUSH;
}

bool class_may_follow_polls(enum ww_class class)
{
    return class == WW_TEST || class == WW_IPROBE || class == WW_PROBE || class == WW_RECV || class == WW_IRECV ||
           class == WW_WAIT || class == WW_RMA_WAIT;
}
