/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partners that are not there: many MPI libraries move communication on only while the process itself is inside MPI.
 * So a lock, a flush or an unlock waits for a target that computes, the receiver of a large message for a sender that
 * computes between MPI_Isend and MPI_Wait, a non-blocking collective for any member that does. No record says so; it is
 * read from the times (below). Calls during which the partner ("target") was outside MPI for a while are
 * looked at, by kind of operation (one-sided ones: by window, function and kinds).
 *
 * A call waited for its target as long as what was seen by then does not speak against it. One that concerns several
 * targets waited for the last of them to return, and speaks against it when one of them stayed away.
 */
#pragma once
#include "analyze/constants/constants.h"
#include "analyze/waits/absences.h"
#include "analyze/waits/links.h"
#include "analyze/waits/matching.h"
#include "analyze/waits/onesided.h"
#include "wrap/format.h"

struct progress {
    struct links *links;
    uint64_t floor_ns; /* of evidence */
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

void progress_begin(struct progress *progress, struct links *links, const struct trace *trace);
void progress_release(struct progress *progress);
/* A rank enters MPI; true: it had been away. Whoever may be waiting for that wants to know the point (progress_came).
 */
bool progress_enter(struct progress *progress, uint32_t rank, uint64_t enter_ns);
void progress_came(struct progress *progress, uint32_t rank, struct point *point);
void progress_leave(struct progress *progress, uint32_t rank, uint64_t leave_ns);
/* A target's return to MPI that let this call end, borrowed, and since when the call waited for it: the target had left
 * MPI, perhaps after the call had begun, and the call had no work of its own any more. Empty = it waited for something
 * else, or it cannot be told. */
struct comeback progress_find(struct progress *progress, const struct progress_call *call);

/* A call that ended when an operation was complete in which others take part as well. */
struct progress_part {
    uint64_t kind; /* messages of like size between like places, or a collective on a communicator; bit 63 is set */
    uint64_t enter_ns, leave_ns;
    const struct idle *idle;
};
/* A rank has begun an operation that others need its progress for. It has completed one. */
void progress_begun(struct progress *progress, uint32_t rank);
void progress_completed(struct progress *progress, uint32_t rank);
bool progress_has_begun(const struct progress *progress, uint32_t rank);
/* Its last return to operations of its own under way, borrowed. */
struct comeback progress_comeback(const struct progress *progress, uint32_t rank);
/* True: the rank has such operations under way, and was outside MPI for all of the call. */
bool progress_stayed_outside(const struct progress *progress, const struct progress_part *part, uint32_t rank);
/* Calls that are not as long end for any reason. */
bool progress_is_long(const struct progress *progress, const struct progress_part *part);
/* True: this comeback may have let the call end, which is long. */
bool progress_may_end(const struct progress *progress, const struct progress_part *part,
                      const struct comeback *comeback);
/* Likewise, for the return of a partner to an operation of its own; one without a point says that it stayed away. Other
 * calls of the kind are judged by it. */
struct comeback progress_judge(struct progress *progress, const struct progress_part *part, struct comeback came);

/*
 * Whether calls of one kind end because of what another process does meanwhile (it comes to MPI), where no record says
 * so. It is read from the times, call by call:
 *
 *   - If the call ended before as much time again had passed as until the other one came, that speaks for it. (Not
 *     sooner: on a busy machine both have to get the CPU several times for what follows; time off the CPU after the
 *     other one had come does not count, nor does the call's own work then, in a function of the program.)
 *   - If it ended later, it may have lasted for another reason: that speaks against it, three times as loudly, because
 *     a call into which the other one comes by chance ends before that time as often as after it.
 *   - If it ended without the other one, that one was not needed: hardware, shared memory or a thread did without. That
 *     counts eight times; only a clock that misleads can show it by mistake.
 *
 * A time shorter than a call takes by itself, or than two clocks may differ by, says nothing and is not asked. So does
 * one that a call spent on its own part: a rank whose function MPI runs waits for nobody.
 */

static inline uint64_t evidence_floor_ns(const struct trace *trace)
{
    return trace->clocks.error_ns > CALL_ITSELF_NS ? trace->clocks.error_ns : CALL_ITSELF_NS;
}

struct evidence {
    uint64_t n_soon, n_later, n_alone; /* of posts: ns before, after */
};

/* A call from when it had nothing else to wait for. */
struct evidence_call {
    uint64_t from_ns, leave_ns;
    const struct idle *idle; /* when its thread was off the CPU */
};

/* False: it says nothing, since the call did not wait for that long (floor_ns) but worked on its own part. */
static inline bool evidence_came(struct evidence *evidence, const struct evidence_call *call, uint64_t came_ns,
                                 uint64_t floor_ns)
{
    uint64_t waited_ns = came_ns - call->from_ns - at_work_between(call->idle, call->from_ns, came_ns);
    uint64_t after_ns = call->leave_ns - came_ns - idle_between(call->idle, came_ns, call->leave_ns) -
                        at_work_between(call->idle, came_ns, call->leave_ns);
    if (waited_ns <= floor_ns)
        return false;
    *(after_ns <= waited_ns ? &evidence->n_soon : &evidence->n_later) += 1;
    return true;
}

static inline bool evidence_speaks_for(const struct evidence *evidence)
{
    return evidence->n_soon >= EVIDENCE_LATER_WEIGHT * evidence->n_later + EVIDENCE_ALONE_WEIGHT * evidence->n_alone;
}

/*
 * Members of collectives on whom others depend although the result does not: of rooted ones those that are
 * not the root, of prefix reductions later ones. MPI libraries broadcast and reduce along trees, often with
 * one member a node in between, so a member may wait for one that relays, and a root for one that has to take
 * its part. Which tree it is no record says. It is read from the times, for each pair of members. The last to
 * enter before a member's call ended, and well after what else it had waited for, may have let it end
 * (below).
 *
 * Pairs that speak against it are passed over for the one that entered before. The first instance of a pair
 * is not believed: in a large communicator somebody is always last.
 *
 * Memory: a pair takes 40 bytes; beyond a million of them none is added.
 */

struct relays {
    uint64_t floor_ns;        /* of evidence */
    struct intern operations; /* (communicator, operation, root) */
    struct map numbers;       /* (operation, member, other), or size of messages -> 1 + index in pairs */
    VEC(struct evidence) pairs;
};

void relays_release(struct relays *relays);
/* True when the call is long enough to ask. */
bool relays_concern(const struct relays *relays, const struct gathering *gathering, uint64_t enter_ns,
                    uint64_t leave_ns);
/* The entry of the member that let this member's (an index) call end; borrowed, NULL = none. To be asked once for each
 * call, of a complete gathering. */
struct point *relays_find(struct relays *relays, struct gathering *gathering, uint32_t member,
                          const struct evidence_call *call);
/* The post of a receive, which is known, if it let a call end that sent this message and also received; borrowed, NULL
 * = no. Small messages are buffered, so messages of like size are judged together, and by times instead of numbers. A
 * post that comes by chance has as much before it as after it, and the transfer itself comes after it. To be asked once
 * for each call. */
struct point *relays_post(struct relays *relays, const struct message *message, const struct evidence_call *call);
