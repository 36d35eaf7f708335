/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples on their way into R-T.sm: walked, judged, and written. For the helper only. */
#pragma once
#include "wrap/record/recorder.h"
#include "wrap/record/sample/sample.h"

/* Walks and writes it, unless it lies inside an MPI call. Its stack then, else 0. If the window did not reach to the
 * frames that are known from the thread's last MPI call, wanted_bytes of its sampler says how large a window would. */
uint32_t writer_sample(struct recorder_thread *thread, const struct sample *sample);
/* Once more the same stack, on a CPU. */
void writer_repeat(struct recorder_thread *thread, uint32_t stack, uint64_t time_ns, uint64_t weight_ns);
/* Looks where a sleeping thread sleeps, and writes that when the time to account for is not 0; false when it does not
 * sleep. */
bool writer_blocked(struct recorder_thread *thread, uint64_t now_ns, uint64_t weight_ns);
