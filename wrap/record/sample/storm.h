/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that leave the CPU thousands of times a second: ranks that poll and yield on a core that they share.
 *
 * Each switch stops the timer of the samples and starts it again. While that timer is the next of its processor to
 * expire, the hardware is told both times, which on a virtual machine takes 2 us, where the switch itself takes 0.5. A
 * timer that lies further off than the scheduler's own tick takes next to nothing. So such a thread is sampled with a
 * long period for as long as it goes on; samples carry their weight, and most of them would lie inside MPI calls.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { STORM_PERIOD_NS = 40012347 }; /* between samples: four ticks of the slowest scheduler, and in step with none */

struct storm {
    uint64_t since_ns, n_switches; /* to a CPU and from it, since then; counted by the owner */
    bool is_on;
};
/* To be asked now and then. True when it has begun or ended just now. */
bool storm_has_changed(struct storm *storm, uint64_t now_ns);
