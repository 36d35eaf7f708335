/* SPDX-License-Identifier: BSD-3-Clause */
/* The visits of a thread to MPI, as far as they are known without its stack: was it there at a time? For the helper. */
#pragma once
#include "wrap/record/recorder.h"

/* Was recording switched off at this time? */
bool visits_is_paused(uint64_t time_ns);
/* Was the thread in a recorded MPI call at this time, as far as is known without its stack, or recording paused? */
bool visits_is_unwanted(struct recorder_thread *thread, uint64_t time_ns);
/* The same call, by when it was entered; 0 = none is known. */
uint64_t visits_call_ns(struct recorder_thread *thread, uint64_t time_ns);
/* When the last MPI call before this time was left, as far as is known; 0 = none is. */
uint64_t visits_last_leave_ns(struct recorder_thread *thread, uint64_t time_ns);
