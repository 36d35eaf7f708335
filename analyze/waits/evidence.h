/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether calls of one kind end because of what another process does meanwhile (it comes to MPI), where no record says
 * so. It is read from the times, call by call:
 *
 *   - If the call ended before as much time again had passed as until the other one came, that speaks for it. (Not
 *     sooner: on a busy machine both have to get the CPU several times for what follows; time off the CPU after the
 *     other one had come does not count.)
 *   - If it ended later, it may have lasted for another reason: that speaks against it, three times as loudly, because
 *     a call into which the other one comes by chance ends before that time as often as after it.
 *   - If it ended without the other one, that one was not needed: hardware, shared memory or a thread did without. That
 *     counts eight times; only a clock that misleads can show it by mistake.
 */
#pragma once
#include "analyze/steps/lanes.h"

/* What takes less happens for any reason; it is also far more than clocks of nodes differ by. */
enum { EVIDENCE_MIN_NS = 20000 };

struct evidence {
    uint64_t n_soon, n_later, n_alone;
};

/* A call from when it had nothing else to wait for. */
struct evidence_call {
    uint64_t from_ns, leave_ns;
    const struct idle *idle; /* when its thread was off the CPU */
};

static inline void evidence_came(struct evidence *evidence, const struct evidence_call *call, uint64_t came_ns)
{
    uint64_t after_ns = call->leave_ns - came_ns - idle_between(call->idle, came_ns, call->leave_ns);
    *(after_ns <= came_ns - call->from_ns ? &evidence->n_soon : &evidence->n_later) += 1;
}

static inline bool evidence_speaks_for(const struct evidence *evidence)
{
    enum { LATER_WEIGHT = 3, ALONE_WEIGHT = 8 };
    return evidence->n_soon >= LATER_WEIGHT * evidence->n_later + ALONE_WEIGHT * evidence->n_alone;
}
