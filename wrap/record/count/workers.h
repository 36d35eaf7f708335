/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of threads that do not call MPI themselves: those of an OpenMP team, or those that work on a part and
 * end. No event of theirs is recorded, so the first thread takes their counts along with its own.
 *
 * A thread is registered by itself when it begins (pthread_create is intercepted for that): only it can ask the loader
 * for its thread-local blocks. When it ends, what was not taken yet goes to a common remainder, since its blocks go
 * with it. A thread that calls MPI takes its own counts from then on.
 *
 * Threads that an MPI library makes for itself execute nothing that is counted. They are left out, because looking at
 * them would cost time at every call.
 */
#pragma once
#include "wrap/format.h"
#include "wrap/record/count/counters.h"

/* Registers the calling thread, which has just begun: where something is counted, and while the run is recorded, for
 * the time that it takes if it ends young. */
void workers_begin(void);

/* The code lies in the functions that threads of the program begin with. They have WORKERS_START. */
#define WORKERS_START __attribute__((section("whywait_start"), noinline))
bool workers_is_start(uint64_t address);

/* The calling thread's counters, which it takes itself from now on; NULL when there is no memory. */
struct counters_thread *workers_own(void);

/* The calling thread's, to note in what the counters do not tell; NULL in programs without counters, as far as was seen
 * when a thread last looked. */
struct counters_thread *workers_noting(void);

/* Hands out the counters of every thread that does not take its own, and what those left that ended, one after the
 * other. No thread ends meanwhile. */
void workers_each(void (*take)(struct counters_thread *thread));
/* There are any. */
bool workers_are_there(void);
/* The program began the thread of this number while the run was recorded, and it has not ended. */
bool workers_has(int32_t tid);
/* Times of the young threads that ended since they were last asked for; false = none ended. */
bool workers_take_young(uint64_t ns[WW_YOUNG_N]);
/* There may be such times. */
extern _Atomic bool workers_have_young;

/* Between inventory_begin and inventory_end: a new module is seen everywhere unless some thread was begun before. */
void workers_look_for_modules(void);

/* Threads begun by the calling thread in between are not registered. They are the MPI library's, or our own. */
void workers_pause(void);
void workers_resume(void);
bool workers_are_paused(void);
