/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gain of a run without a cause (efficiency.h). It takes who waits for the cause, what lacked a CPU meanwhile, and
 * which part is done under a lock. It gives the gains of struct cause.
 */
#pragma once
#include "analyze/blame/cause_sums.h"

/* Once, where CPUs are few: what each rank lost for want of one. */
void cause_gain_find_lost(struct causes *causes, struct arena *scratch);
/* After its classes and times are packed. left_idle_ns: of its waiting, what counts as leaving CPUs idle. */
void cause_gain_write(struct writer *writer, struct cause *cause, double left_idle_ns);
