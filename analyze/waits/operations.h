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
#include "analyze/result/result.h"
#include "analyze/steps/sites.h"
#include "wrap/base/map.h"
#include "wrap/base/sparse.h"
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

/*
 * Reads of another process's memory in a row. A process that fetches as many bytes from the same target by the same
 * call again and again, and hardly computes in between, may wait for them to change; or it copies something piece by
 * piece, for where in the window the bytes lie is not recorded. So that is no waiting, but the report says in a note
 * that it may be.
 *
 * Memory is one row a location; O(1) a call.
 */

struct fetch {
    uint32_t site, target; /* world rank */
    uint64_t window, bytes;
};

struct fetch_row {
    struct fetch what;
    uint32_t rank;
    uint64_t n, begin_ns, last_ns, outside_ns; /* outside_ns: between calls of MPI */
};

struct fetching {
    struct fetch_row *rows; /* by location */
    uint32_t n_locations;
    struct sparse spent; /* in rows, by (site, rank) */
};

void fetching_begin(struct fetching *fetching, uint32_t n_locations);
void fetching_release(struct fetching *fetching);
/* A one-sided operation that the present call makes; bytes: fetched, 0 = it only writes. */
void fetching_operation(struct fetching *fetching, uint32_t location, uint32_t rank, struct fetch fetch,
                        uint64_t enter_ns);
/* Every call, when it ends. */
void fetching_call(struct fetching *fetching, uint32_t location, enum ww_class class, uint64_t enter_ns,
                   uint64_t leave_ns);
/* After the last call: those that took a twentieth of the run or more on a process, at most a few, the first by place.
 */
void fetching_write(struct fetching *fetching, struct sites *sites, struct analysis *analysis);
