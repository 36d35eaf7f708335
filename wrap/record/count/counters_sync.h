/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact counts at synchronisations; see counters.h for what is taken. */
#pragma once
#include "wrap/record/count/counters.h"

/* The value for record_at_sync: appends the calling thread's counts to its spool. Nothing in programs without counters,
 * but for a look at the loader every so many calls. */
void counters_sync(uint16_t call_id, const void *return_address, const void *frame_address);

/* The value for record_at_callback. */
void counters_callback(void);

/* For threads that do not call MPI (workers.h). The program has counters, as far as can be seen now. */
bool counters_are_there(void);
/* counters_attach and counters_leave for the modules known so far. */
void counters_attach_new(struct counters_thread *thread);
void counters_leave_to(struct counters_thread *thread, struct counters_thread *rest);
