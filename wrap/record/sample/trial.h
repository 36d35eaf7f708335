/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a sample costs, from a loop that reads the clock while it is sampled fast.
 *
 * The steps between readings in which a sample came have an interrupt in them. The shortest of these is the cost, since
 * anything else that came in between only adds to it. A step in which the thread left its CPU says nothing: others may
 * take that CPU at each tick, and where the kernel's timers are coarse, samples come at ticks only.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct trial {
    uint64_t before_ns, last_ns; /* the last reading, and the step before it */
    uint64_t n_switches;         /* from the CPU, until the last sample */
    uint64_t looped_ns;          /* without the gaps: a thread that others hold up would see next to no samples */
    uint64_t least_ns;           /* 0 = no sample yet */
};
/* A reading of the clock. A sample came in the step that ends here or in the one before it. n_switches: how often the
 * thread has left its CPU so far; read for a step with a sample only. */
void trial_step(struct trial *trial, uint64_t now_ns, bool has_sample, uint64_t n_switches);
