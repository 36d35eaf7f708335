/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples from perf events. A thread has two of them: a task clock, whose samples carry registers and the top of the
 * stack, and one that tells every switch to and from a CPU. Each has a ring of its own, so that thousands of switches
 * (a library that yields while it waits) cannot push out the samples.
 */
#pragma once
#include "wrap/record/recorder.h"
#include "wrap/record/sample/ring.h"
#include "wrap/record/sample/wake.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The cost of one sample for the sampled thread, in ns: interrupt included. Takes some 2 ms of CPU time. `error`: why
 * perf events cannot be used, 0 otherwise. */
uint64_t perf_choose(int *error);
/* Open the ring of samples (every period_ns of CPU time) and that of switches. 0, or an errno. The buffer has
 * ring_bytes, more where the windows are wide, and less, with smaller windows, where the limit on locked memory demands
 * it. *window_bytes of the stack, a power of two below PERF_WIDEST, come with each sample. *kernel_is_hidden: samples
 * that fall into the kernel are left out. */
enum { PERF_WIDEST = 60 << 10 }; /* a record of the kernel has less than 64 KB */
int perf_open_samples(struct ring *ring, int32_t tid, uint64_t period_ns, size_t ring_bytes, uint32_t *window_bytes,
                      bool *kernel_is_hidden);
/* The number of samples with such windows that it holds. */
size_t perf_room(const struct ring *ring, uint32_t window_bytes);
int perf_open_switches(struct ring *ring, int32_t tid, size_t ring_bytes);
/* After the rings were opened: whoever sleeps by then tells of no switch before it wakes. */
void perf_begin(struct recorder_thread *thread, uint64_t now_ns);
/* Takes what is in both rings of the thread, in order of time. The number of samples. `stop`: the last one. */
uint64_t perf_drain(struct recorder_thread *thread, const struct stop *stop);
/* The cost of the events at the switches that were taken so far: outside MPI, and in calls as far as it delays them. */
uint64_t perf_switches_ns(void);
uint64_t perf_switches_in_calls_ns(void);
