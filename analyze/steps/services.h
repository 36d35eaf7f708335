/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which threads only serve: they wait for what others send, as they are made to, while another thread of their process
 * does its work. Such waiting is nobody's loss, and no work that is divided otherwise ends it.
 *
 * Of a thread that calls MPI, three times are known after the first reading: on a CPU outside MPI; asleep for another
 * thread, as far as looks tell; and the rest, inside MPI or in naps, in which it may wait. A thread other than the main
 * thread serves if it is on a CPU for next to nothing, and if another thread is at work for most of the time in which
 * it may wait. A thread at work is outside MPI and not asleep for another one. Of the run, the time in which that
 * thread is not at work may all fall into the waits, so this is the least that they share.
 */
#pragma once
#include "analyze/steps/lanes.h"
#include "wrap/base/packing.h"

struct services {
    const struct trace *trace;
    struct thread_sums {
        uint64_t outside_ns, off_ns, blocked_ns; /* outside MPI; off the CPU there; asleep */
        uint64_t n_sync, n_blocked;              /* looks that found it asleep for a thread; otherwise */
        uint64_t begin_ns, end_ns;               /* its first call of MPI is entered; its last stretch ends */
    } *sums;                                     /* by location */
    bool *serves;                                /* by location, after services_complete */
};

void services_begin(struct services *services, const struct trace *trace);
void services_release(struct services *services);
/* First reading: after lanes_feed. */
void services_take(struct services *services, const struct lane *lane, const struct event *event);
static inline void services_feed(struct services *services, const struct lane *lane, enum lane_news news,
                                 const struct event *event)
{
    bool ends_stretch = news == LANE_ENTERED || (news == LANE_ENDED && !lane->depth);
    if (lane->has_team && ends_stretch)
        services_take(services, lane, event);
}
/* Gives that of a section away; adds it to that of the run. */
void services_pack(const struct services *services, struct packing *packing);
void services_unpack(struct services *services, struct unpacking *unpacking);
void services_complete(struct services *services);
