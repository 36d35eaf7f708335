/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who of a process's threads slept, and for whom another one waited meanwhile.
 *
 * A thread that waits for another one of its process sleeps as long as that one does. The other may have slept itself,
 * for something outside the process: a file, a timer. Then its sleep explains that of the thread it wakes. Several
 * threads may do so one after the other, each with a sleep of its own. The last one to go on waited for all.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* For something outside the process, or for a thread that slept for that. */
struct ended_sleep {
    uint32_t step; /* plus 1; 0 = there was none */
    uint64_t begin_ns, end_ns;
};

/* One thread. */
struct sleeper {
    uint32_t n_seen, n_sync;     /* looks that found it asleep, this time; of them, until another thread wakes it, */
    double sync_ns;              /* and what these stand for */
    uint32_t naps_in, awaits_in; /* plus 1: the steps in which the last look found it so; 0 = none has */
    struct ended_sleep slept;    /* the last one, with those before it in the same step */
};

static inline void sleeper_begins(struct sleeper *sleeper)
{
    sleeper->n_seen = sleeper->n_sync = 0;
    sleeper->sync_ns = 0;
}

/* A look that stands for `ns` found it asleep in a step; is_sync: until another thread wakes it. */
static inline void sleeper_is_seen(struct sleeper *sleeper, uint32_t step, bool is_sync, double ns)
{
    sleeper->n_seen++;
    sleeper->n_sync += is_sync;
    *(is_sync ? &sleeper->awaits_in : &sleeper->naps_in) = step + 1;
    sleeper->sync_ns += is_sync ? ns : 0;
}

/* It slept from since_ns and goes on at now_ns; for busy_ns of that, threads of the process ran or would have. `woke`,
 * the last sleep in the process that ended, becomes this one. Returns the step, plus 1, of the sleep; 0 = unknown. */
uint32_t sleeper_wakes(struct sleeper *sleeper, struct ended_sleep *woke, uint64_t since_ns, uint64_t now_ns,
                       uint64_t busy_ns);
