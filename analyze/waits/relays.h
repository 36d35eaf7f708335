/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of rooted collectives on whom others depend although they are not the root. MPI libraries broadcast and
 * reduce along trees, often with one member a node in between, so a member may wait for one that relays, and a root for
 * one that has to take its part. Which tree it is no record says; it is read from the times, for each pair of members.
 * The last to enter before a member's call ended, and well after what else it had waited for, may have let it end
 * (evidence.h).
 *
 * Pairs that speak against it are passed over for the one that entered before. The first instance of a pair is not
 * believed: in a large communicator somebody is always last.
 *
 * Memory: a pair takes 40 bytes; beyond a million of them none is added.
 */
#pragma once
#include "analyze/waits/evidence.h"
#include "analyze/waits/gatherings.h"

struct relays {
    struct intern operations; /* (communicator, operation, root) */
    struct map numbers;       /* (operation, member, other) -> 1 + index in pairs */
    VEC(struct evidence) pairs;
};

void relays_release(struct relays *relays);
/* True when the call is long enough to ask. */
bool relays_concern(const struct gathering *gathering, uint64_t enter_ns, uint64_t leave_ns);
/* The entry of the member that let this member's (an index) call end; borrowed, NULL = none. To be asked once for each
 * call, of a complete gathering. */
struct point *relays_find(struct relays *relays, struct gathering *gathering, uint32_t member,
                          const struct evidence_call *call);
