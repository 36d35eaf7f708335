/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fall-back where perf events are refused: a timer on each thread's CPU clock, whose signal handler copies
 * registers and the top of the stack into a ring, which the helper reads as it would read the kernel's. When
 * threads are off the CPU cannot be seen this way (accounts.h).
 */
#pragma once
#include "wrap/record/sample/sample.h"

enum { TIMER_SHORTEST_NS = 4000000 }; /* CPU timers run with the scheduler's tick */

/* Takes over a real-time signal that nobody uses. False with errno. */
bool timer_choose(void);
struct timer_ring;
/* NULL with errno. */
struct timer_ring *timer_attach(int32_t tid, uint64_t period_ns);
void timer_detach(struct timer_ring *ring);
/* The oldest sample, valid until timer_pop; false = none. */
bool timer_peek(struct timer_ring *ring, struct sample *sample);
void timer_pop(struct timer_ring *ring);
