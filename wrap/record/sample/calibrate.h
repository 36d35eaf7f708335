/* SPDX-License-Identifier: BSD-3-Clause */
/* How often to sample. */
#pragma once
#include <stdint.h>

/* What one sample of a task clock costs the sampled thread, in ns: interrupt included. Takes some 2 ms of CPU time.
 * `error`: why it cannot be known, 0 otherwise. */
uint64_t calibrate_sample_ns(int *error);
/* The period that keeps the cost below 0.5 %, between 1 and 20 ms; never a round number, so as not to run in step with
 * the program. */
uint64_t calibrate_period_ns(uint64_t sample_ns, unsigned wished_hz);
/* Fills in what all task-clock events have in common. */
struct perf_event_attr;
void calibrate_attributes(struct perf_event_attr *attributes, uint64_t period_ns);
