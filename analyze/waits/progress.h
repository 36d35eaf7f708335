/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partners that are not there: many MPI libraries move communication on only while the process itself is inside MPI.
 * So a lock, a flush or an unlock waits for a target that computes, the receiver of a large message for a sender that
 * computes between MPI_Isend and MPI_Wait, a non-blocking collective for any member that does. No record says so; it is
 * read from the times (evidence.h). Calls that began while the partner ("target") had been outside MPI for a while are
 * looked at, by kind of operation (one-sided ones: by window, function and kinds).
 *
 * A call waited for its target as long as what was seen by then does not speak against it. One that concerns several
 * targets waited for the last of them to return, and speaks against it when one of them stayed away.
 */
#pragma once
#include "analyze/waits/evidence.h"
#include "analyze/waits/chain.h"
#include "analyze/waits/operations.h"
#include "wrap/format.h"

struct progress {
    struct links *links;
    struct progress_rank *ranks;
    uint32_t n_ranks;
    uint32_t n_waiting; /* calls under way that may wait for their target */
    struct map numbers; /* kind of operation -> 1 + index in evidence */
    VEC(struct evidence) evidence;
};

/* A call that needs its targets, or may do so. */
struct progress_call {
    uint32_t rank, region; /* whose, and of which function */
    uint64_t enter_ns, leave_ns;
    const struct idle *idle;         /* when it was off the CPU: that keeps a call for no other reason */
    const struct operation *targets; /* its own process among them counts for nothing */
    size_t n_targets;
};

void progress_begin(struct progress *progress, struct links *links, uint32_t n_ranks);
void progress_release(struct progress *progress);
/* A rank enters MPI; true: it had been away. Whoever may be waiting for that wants to know the point (progress_came).
 */
bool progress_enter(struct progress *progress, uint32_t rank, uint64_t enter_ns);
void progress_came(struct progress *progress, uint32_t rank, struct point *point);
void progress_leave(struct progress *progress, uint32_t rank, uint64_t leave_ns);
/* A target's return to MPI that let this call end, borrowed; NULL = it waited for something else, or it cannot be
 * told. */
struct point *progress_find(struct progress *progress, const struct progress_call *call);

/* A call that ended when an operation was complete in which others take part as well. */
struct progress_part {
    uint64_t kind; /* messages of like size between like places, or a collective on a communicator; bit 63 is set */
    uint64_t enter_ns, leave_ns;
    const struct idle *idle;
};
/* A rank has begun an operation that others need its progress for; it has completed one. */
void progress_begun(struct progress *progress, uint32_t rank);
void progress_completed(struct progress *progress, uint32_t rank);
bool progress_has_begun(const struct progress *progress, uint32_t rank);
/* Its last return to operations of its own under way, borrowed. */
struct comeback progress_comeback(const struct progress *progress, uint32_t rank);
/* True: the rank has such operations under way, and was outside MPI for all of the call. */
bool progress_stayed_away(const struct progress *progress, const struct progress_part *part, uint32_t rank);
/* Calls that are not as long end for any reason. */
bool progress_is_long(const struct progress_part *part);
/* True: this comeback may have let the call end, which is long. */
bool progress_may_end(const struct progress_part *part, const struct comeback *comeback);
/* Like progress_find for the return of a partner to an operation of its own, which it may have left after the call had
 * begun. It is borrowed; an empty comeback says that it stayed away. */
struct point *progress_judge(struct progress *progress, const struct progress_part *part, struct comeback comeback);
