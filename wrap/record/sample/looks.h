/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a thread is looked at, to see whether it sleeps, where, and for what. For the helper only.
 *
 * Each look asks the kernel. What a thread waits for may depend on the others, so where there are many it takes longer.
 * Looks at all threads together therefore take a hundredth of the time at most, and no thread has more than 125 a
 * second. Only the first ones come more often, since a short run has few. A look stands for all that the thread slept
 * since the one before, so nothing is lost where they are rare.
 *
 * Everything here is given times.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { LOOKS_FIRST = 50 };

struct looks {
    uint64_t last_ns;    /* when the thread was last looked at, or sampling began */
    uint64_t cost_ns[2]; /* CPU time of the last two; the smaller one counts, since the first at new code takes long */
    unsigned n;
};
/* `n_threads` share the time for looks. */
bool looks_is_time(const struct looks *looks, uint64_t now_ns, unsigned n_threads);
/* The thread was looked at, whether it was found asleep or not. */
void looks_take(struct looks *looks, uint64_t now_ns, uint64_t cost_ns);
