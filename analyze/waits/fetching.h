/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads of another process's memory in a row. A process that fetches as many bytes from the same target by the same
 * call again and again, and hardly computes in between, may wait for them to change; or it copies something piece by
 * piece, for where in the window the bytes lie is not recorded. So that is no waiting, but the report says in a note
 * that it may be.
 *
 * Memory is one row a location; O(1) a call.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/sites.h"
#include "wrap/base/sparse.h"

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
