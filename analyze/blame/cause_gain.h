/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the run would gain without a cause (efficiency.h), by what is known of the cause: who waits for it, what lacked
 * a CPU meanwhile, and which part of it is done under a lock.
 */
#pragma once
#include "analyze/blame/cause_sums.h"

/* Once, where CPUs are few: what each rank lost for want of one. */
void cause_gain_find_lost(struct causes *causes, struct arena *scratch);
/* After its classes and times are packed. left_idle_ns: of its waiting, what counts as leaving CPUs idle. */
void cause_gain_write(struct writer *writer, struct cause *cause, double left_idle_ns);
