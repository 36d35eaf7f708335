/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that leave the CPU thousands of times a second: ranks that poll and yield on a core that they share.
 *
 * Each switch stops the timer of the samples and starts it again. While that timer is the next of its processor to
 * expire, the hardware is told both times, which on a virtual machine takes 2 us, where the switch itself takes 0.5. A
 * timer that lies further off than the scheduler's own tick takes next to nothing. So such a thread is sampled with a
 * period of some ticks for as long as it goes on. Samples carry their weight. Not of many: not everybody who is taken
 * off the CPU thousands of times a second polls, and what others make of it has to be named all the same.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct switching {
    uint64_t since_ns, n_switches; /* to a CPU and from it, since then */
    bool is_frequent;
};
/* To be asked now and then. True when it has begun or ended just now. */
bool switching_changed(struct switching *switching, uint64_t now_ns);

/*
 * Such a rank that polls is off the CPU for some microseconds again and again. Such times are told as one that ends
 * with the last, as soon as they are worth it: a quarter of the call so far. So no more than that is left out of any
 * call, and a long call has few records.
 */
struct absence {
    uint64_t call_ns; /* when the MPI call was entered */
    uint64_t off_ns;  /* for so long it was off the CPU there, as far as it is not told yet */
};
/* It was off the CPU between two times, in the call that was entered at call_ns (0 = unknown: each time is on its own).
 * Returns how long a time that ends now should be told of, or 0. */
uint64_t absence_add(struct absence *absence, uint64_t call_ns, uint64_t from_ns, uint64_t now_ns);

/*
 * A rank that polls and yields pays for its switches itself, by a later end of its call. In a long wait nobody can go
 * on during most of them: they cost nothing. So a dozen of a call counts, as many as the steps of a collective of some
 * ranks need.
 */
struct yielding {
    uint64_t call_ns;
    unsigned n; /* switches in that call */
};
/* Does a switch in the call that was entered at call_ns (0 = unknown) delay the program? */
bool yielding_delays(struct yielding *yielding, uint64_t call_ns);
