/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about one-sided communication, of which only the origin makes records: locks, operations under way, and reads
 * in a row.
 *
 * Locks on windows (MPI_Win_lock and what follows it). Only origins say when they lock and unlock. The target sees
 * nothing of it. MPI_Win_lock waits for another origin to unlock:
 *
 *   - an unlock of the same window and target, by another process, where one of the two locks is exclusive,
 *   - that was entered inside the waiting call.
 *
 * Of these the last to be entered let the call go on. Which target an unlock concerns is known at its end, so those
 * that were entered inside the call and are still under way when it ends are waited for before that is settled.
 *
 * MPI libraries may defer locks: MPI_Win_lock returns without the lock, and the first MPI_Win_flush or the
 * MPI_Win_unlock waits for it. This is so where two processes came back from MPI_Win_lock with locks that exclude each
 * other. Only then may flushes and unlocks wait for locks, and an unlock that is left after the waiting process left
 * its own was itself waiting for that. It let nobody go on.
 *
 * Work under an exclusive lock that other processes take as well is done by one process at a time, however it is shared
 * out. Locks that are deferred keep nobody out before the flush or unlock.
 *
 * Memory: for each window the locks held, and the latest unlocks, two for each process. A call that more of them
 * overlap has more to choose from than it can have waited for. And for each lock the atoms of the work under it.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/sites.h"
#include "analyze/waits/links.h"
#include "wrap/base/containers.h"
#include "wrap/base/sparse.h"
#include "wrap/format.h"

/* target: world rank; TRACE_NONE = all of the window. */
struct lock {
    uint64_t window;
    uint32_t target;
    bool is_exclusive;
};

/* What was done under one exclusive lock. */
struct lock_work {
    uint64_t window;
    uint32_t rank;       /* the first that took it */
    bool has_others;     /* other ranks take it too */
    struct sparse atoms; /* by atom_key */
};

/* A call that may have waited for a lock. */
struct lock_wait {
    struct lock lock;
    uint32_t rank;
    uint64_t enter_ns, leave_ns;
    uint32_t holds;
    bool is_settled;
    struct point *release;    /* held; entry of the unlock that let it go on; NULL = none did */
    struct sleepers sleepers; /* until it is settled */
};

struct locks {
    struct links *links;
    struct slab waits;
    struct map numbers; /* window -> 1 + index in windows */
    VEC(struct locks_window) windows;
    VEC(struct locks_going) going;     /* unlocks under way, in the order in which they were entered */
    VEC(struct lock_wait *) unsettled; /* held */
    struct map work_numbers;           /* window and target -> 1 + index in works */
    VEC(struct lock_work) works;
    uint64_t n_exclusive; /* held now, by all processes */
    uint32_t n_ranks;
};

/* Calls that may wait for a lock. */
static inline bool class_is_passive(enum ww_class class)
{
    return class == WW_RMA_LOCK || class == WW_RMA_UNLOCK || class == WW_RMA_FLUSH;
}

void locks_begin(struct locks *locks, struct links *links, uint32_t n_ranks);
void locks_release(struct locks *locks);
/* MPI_Win_lock has ended. */
void locks_take(struct locks *locks, uint32_t rank, struct lock lock);
/* The rank has done this since its last call: under the exclusive lock that it holds, if it holds one. */
void locks_add_work(struct locks *locks, uint32_t rank, const struct sparse *atoms);
/* At the end: no two processes can have been at this work at a time. */
bool locks_are_serial(const struct locks *locks, const struct lock_work *work);
/* An unlock is entered; which, is known at its end. Then locks_give, if it was in order, and locks_unlock_end. */
void locks_unlock_begin(struct locks *locks, uint32_t rank, uint64_t enter_ns);
void locks_give(struct locks *locks, struct lock lock, struct point *unlock, uint64_t leave_ns);
void locks_unlock_end(struct locks *locks, uint32_t rank);
/* Completes what a flush or unlock of this window and target says. False: no such lock is known to be held. */
bool locks_find(struct locks *locks, uint32_t rank, struct lock *lock);
/* The holder of what excludes a lock that `rank` waits for and never gets, in whatever window; TRACE_NONE: nobody, or
 * several may. In a flush or unlock it is the lock that the rank has asked for; in MPI_Win_lock, `wanted`. */
uint32_t locks_holder(struct locks *locks, uint32_t rank, const struct lock *wanted, bool is_asked_for);
bool locks_are_deferred(struct locks *locks, uint64_t window);
/* A call that may have waited for this lock has ended. Returns what it waited for, with a hold; NULL = nothing. */
struct lock_wait *locks_wait(struct locks *locks, uint32_t rank, struct lock lock, uint64_t enter_ns,
                             uint64_t leave_ns);
void lock_wait_drop(struct locks *locks, struct lock_wait *wait);

/*
 * One-sided operations that a process has begun: on whose memory, and of which kinds. A synchronisation that names no
 * target (MPI_Win_flush_all, MPI_Win_unlock_all) concerns the processes that were worked on since the last that covered
 * them. The completion of a request concerns the one that its operation works on.
 *
 * An operation that ended here may still be under way at the target, so a local flush forgets nothing. Memory: a target
 * for each process and window that was ever worked on, and the requests that are pending.
 */

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
    struct fetch_row *rows;        /* by location */
    uint32_t n_locations, n_begun; /* those in the midst of a row */
    struct sparse spent;           /* in rows, by (site, rank) */
};

void fetching_begin(struct fetching *fetching, uint32_t n_locations);
void fetching_release(struct fetching *fetching);
/* A one-sided operation that the present call makes; bytes: fetched, 0 = it only writes. */
void fetching_operation(struct fetching *fetching, uint32_t location, uint32_t rank, struct fetch fetch,
                        uint64_t enter_ns);
/* Every call, when it ends. */
void fetching_call(struct fetching *fetching, uint32_t location, enum ww_class class, uint64_t enter_ns,
                   uint64_t leave_ns);
/* After the last call: rows end. */
void fetching_finish(struct fetching *fetching);
/* After it: those that took a twentieth of the run or more on a process, at most a few, the first by place.
 */
void fetching_write(struct fetching *fetching, struct sites *sites, struct analysis *analysis);
