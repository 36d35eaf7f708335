/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations that a process has begun: on whose memory, and of which kinds. A synchronisation that names no
 * target (MPI_Win_flush_all, MPI_Win_unlock_all) concerns the processes that were worked on since the last that covered
 * them; the completion of a request concerns the one that its operation works on.
 *
 * What ended here may still be under way at the target, so a local flush forgets nothing. Memory: a target for each
 * process and window that was ever worked on, and the requests that are pending.
 */
#pragma once
#include "wrap/base/map.h"
#include "wrap/base/vec.h"

enum operation_kind { OPERATION_PUT = 1, OPERATION_GET = 2, OPERATION_ATOMIC = 4 };

/* Of one process: what it does to `target` (a world rank) in `window`. kinds: a set; empty = nothing is pending. */
struct operation {
    uint32_t window, target;
    uint32_t kinds;
};

struct operations {
    struct operations_rank *ranks;
    uint32_t n_ranks;
    uint64_t n_requests; /* pending, of all processes */
};

/* Valid until the next call. */
struct operations_list {
    const struct operation *at;
    size_t n;
};

void operations_begin(struct operations *operations, uint32_t n_ranks);
void operations_release(struct operations *operations);
void operations_add(struct operations *operations, uint32_t rank, struct operation operation);
/* It has a request besides. */
void operations_add_request(struct operations *operations, uint32_t rank, uint64_t request, struct operation operation);
/* False: no such request of this process was seen. */
bool operations_finish_request(struct operations *operations, uint32_t rank, uint64_t request,
                               struct operation *operation);
/* The kinds of what is pending for one target. */
uint32_t operations_kinds(const struct operations *operations, uint32_t rank, uint32_t window, uint32_t target);
/* Every target that the process ever worked on, in whatever window, nothing pending included. */
struct operations_list operations_of(const struct operations *operations, uint32_t rank);
/* All that is pending there is complete; target UINT32_MAX: in all of the window. */
void operations_complete(struct operations *operations, uint32_t rank, uint32_t window, uint32_t target);
