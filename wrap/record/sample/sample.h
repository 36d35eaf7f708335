/* SPDX-License-Identifier: BSD-3-Clause */
/* One sample, whoever took it: walked, judged, and written to R-T.sm. For the helper only. */
#pragma once
#include "wrap/record/recorder.h"

struct sample {
    uint64_t time_ns;
    uint32_t flags; /* WW_S_ */
    uint64_t weight_ns;
    uint64_t cpu_ns, ready_ns; /* so far, on a CPU and ready without one; 0 = unknown */
    struct unwind_frame frame;
    struct unwind_stack window;
    const struct python_walk *python; /* the frames of Python; NULL = none */
};
/* Walks and writes it, unless it lies inside an MPI call. Its stack then, else 0. If the window did not reach to the
 * frames that are known from the thread's last MPI call, wanted_bytes of its sampler says how large a window would. */
uint32_t sample_write(struct recorder_thread *thread, const struct sample *sample);
/* Once more the same stack, on a CPU. */
void sample_repeat(struct recorder_thread *thread, uint32_t stack, uint64_t time_ns, uint64_t weight_ns);
/* Looks where a sleeping thread sleeps, and writes that when the time to account for is not 0; false when it does not
 * sleep. */
bool sample_blocked(struct recorder_thread *thread, uint64_t now_ns, uint64_t weight_ns);
/* Was recording switched off at this time? */
bool sample_is_paused(uint64_t time_ns);
/* Was the thread in a recorded MPI call at this time, as far as is known without its stack, or recording paused? */
bool sample_is_unwanted(struct recorder_thread *thread, uint64_t time_ns);
/* The same call, by when it was entered; 0 = none is known. */
uint64_t sample_call_ns(struct recorder_thread *thread, uint64_t time_ns);
/* When the last MPI call before this time was left, as far as is known; 0 = none is. */
uint64_t sample_last_leave_ns(struct recorder_thread *thread, uint64_t time_ns);
/* Threads that neither called MPI nor were ever seen computing (most libraries have some) leave no file. */
static inline bool sample_is_of_interest(const struct recorder_thread *thread)
{
    return spool_is_open(&thread->samples) || spool_is_open(&thread->events);
}
