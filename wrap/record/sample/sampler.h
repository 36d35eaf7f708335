/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places where the program spends its time, and times when it is not on a CPU.
 *
 * Each thread has a task-clock event, whose samples carry registers and the top of the stack, and a second event that
 * tells every switch to and from a CPU. The kernel fills their rings. The helper thread reads them, walks the copied
 * stacks, drops what happened inside MPI calls (those are recorded exactly), and writes the rest to R-T.sm in order of
 * time. A thread found asleep outside MPI is looked at as well: its stack says which loop made the system call.
 */
#pragma once
#include "wrap/record/recorder.h"
#include <stdint.h>

/* All of this is called by the helper only, but for the first three, which come before it is there.
 *
 * Chooses and calibrates: recorder.sample_period_ns, which stays 0 when there will be no samples. Notes why when
 * something is refused. Takes up to 20 ms, nearly all of it asleep: the kernel waits for its other processors when the
 * first event of a machine is opened. */
void sampler_choose(void);
/* Begins sampling the thread that initialises MPI, so that nothing it does afterwards is missed. */
void sampler_begin(struct recorder_thread *first);
/* That of its event, by which the helper changes its period; -1 = none. */
int sampler_descriptor(const struct recorder_thread *first);
/* Begins sampling the threads of this process that are not sampled yet; forgets those that ended. */
void sampler_follow_threads(void);
/* Takes what the kernel collected since the last time. */
void sampler_drain(void);
/* The number of threads that need a CPU, on average since the last time that it told. 0 = it is too early to tell, or
 * not known. After sampler_drain. */
unsigned sampler_at_once(uint64_t now_ns);
void sampler_stop(void);
/* The helper began to sleep then until it was due, and was ready without a CPU for so long before it began: to be told
 * when it is back. */
void sampler_slept(uint64_t began_ns, uint64_t due_ns, uint64_t ready_ns);
/* The longest that the helper may sleep without losing samples. */
uint64_t sampler_patience_ns(void);
/* The cost of samples and switches for the threads, estimated: outside MPI, where it keeps a CPU from others too, and
 * in calls, which it delays. */
uint64_t sampler_overhead_ns(void);
uint64_t sampler_delay_ns(void);
