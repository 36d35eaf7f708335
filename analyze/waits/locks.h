/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks on windows (MPI_Win_lock and what follows it). Only origins say when they lock and unlock; the target sees
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
 * its own was itself waiting for that: it let nobody go on.
 *
 * Memory: for each window the locks held, and the latest unlocks, two for each process; a call that more of them
 * overlap has more to choose from than it can have waited for.
 */
#pragma once
#include "analyze/waits/chain.h"
#include "wrap/base/map.h"
#include "wrap/format.h"

/* target: world rank; TRACE_NONE = all of the window. */
struct lock {
    uint64_t window;
    uint32_t target;
    bool is_exclusive;
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
/* An unlock is entered; which, is known at its end: then locks_give, if it was in order, and locks_unlock_end. */
void locks_unlock_begin(struct locks *locks, uint32_t rank, uint64_t enter_ns);
void locks_give(struct locks *locks, struct lock lock, struct point *unlock, uint64_t leave_ns);
void locks_unlock_end(struct locks *locks, uint32_t rank);
/* Completes what a flush or unlock of this window and target says. False: no such lock is known to be held. */
bool locks_find(struct locks *locks, uint32_t rank, struct lock *lock);
/* Who has what excludes a lock that `rank` waits for and never gets, in whatever window; TRACE_NONE: nobody, or several
 * may. In a flush or unlock it is the lock that the rank has asked for; in MPI_Win_lock, `wanted`. */
uint32_t locks_holder(struct locks *locks, uint32_t rank, const struct lock *wanted, bool is_asked_for);
bool locks_are_deferred(struct locks *locks, uint64_t window);
/* A call that may have waited for this lock has ended. Returns what it waited for, with a hold; NULL = nothing. */
struct lock_wait *locks_wait(struct locks *locks, uint32_t rank, struct lock lock, uint64_t enter_ns,
                             uint64_t leave_ns);
void lock_wait_drop(struct locks *locks, struct lock_wait *wait);
