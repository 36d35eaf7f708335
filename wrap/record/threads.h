/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of the process and their files. */
#pragma once
#include "wrap/record/recorder.h"

extern __thread struct recorder_thread *recorder_self;
/* It has made calls of MPI that are recorded: true until it has ended altogether. */
extern __thread bool recorder_calls_mpi;
/* The calling thread, with an open events spool; NULL when it cannot be recorded. */
struct recorder_thread *threads_enter(void);
/* The struct of a thread that need not have called MPI; NULL when there is no memory. */
struct recorder_thread *threads_find(int32_t tid, bool create);
/* Opens R-T.sm. */
bool threads_open_samples(struct recorder_thread *thread);
/* Ends all event files. Those of threads that are certainly not inside a call are closed, the others only marked. */
void threads_close_events(enum ww_end how, int32_t detail, uint64_t end_ns);
/* The helper's part: prepares segments, brings the headers up to date, closes files of threads that have ended.
 * when_full: called for threads whose file has no more room. */
void threads_keep_up(void (*when_full)(struct recorder_thread *thread));
/* Brings up to date which CPUs the threads may use. */
void threads_look_at_cpus(void);
/* The thread of this number and state has ended, and no other goes on with its files. False when that is not so. */
bool threads_close(struct recorder_thread *thread, enum recorder_thread_state from, int32_t tid);
void threads_close_samples(enum ww_end how, int32_t detail, uint64_t end_ns);
void threads_mark_end(enum ww_end how, int32_t detail, uint64_t end_ns);
