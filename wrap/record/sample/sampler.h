/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the program spends its time, and when it is not on a CPU.
 *
 * Each thread has a task-clock event, whose samples carry registers and the top of the stack, and a second event that
 * tells every switch to and from a CPU. The kernel fills their rings; the helper thread reads them, walks the copied
 * stacks, drops what happened inside MPI calls (those are recorded exactly), and writes the rest to R-T.sm in order of
 * time. A thread found asleep outside MPI is looked at as well: its stack says which loop made the system call.
 */
#pragma once
#include "wrap/record/recorder.h"
#include "wrap/record/sample/ring.h"
#include "wrap/record/sample/storm.h"

/* All of this is called by the helper only.
 *
 * Chooses and calibrates: recorder.sample_period_ns, which stays 0 when there will be no samples. Notes why when
 * something is refused. Takes up to 20 ms, nearly all of it asleep: the kernel waits for its other processors when the
 * first event of a machine is opened. */
void sampler_choose(void);
/* Begins sampling the threads of this process that are not sampled yet; forgets those that ended. */
void sampler_follow_threads(void);
/* Takes what the kernel collected since the last time. */
void sampler_drain(void);
void sampler_stop(void);
/* The longest that the helper may sleep without losing samples. */
uint64_t sampler_patience_ns(void);
/* Samples taken, and what one costs. */
uint64_t sampler_overhead_ns(void);

enum sampler_state {
    ON_CPU,
    OFF_HIDDEN,  /* asleep inside an MPI call, or of no interest */
    OFF_IN_CALL, /* preempted inside an MPI call: written only when it was long, since a rank that polls yields often */
    OFF_PREEMPTED,
    OFF_ASLEEP,
};
struct sampler_thread {
    struct ring samples, switches;
    uint64_t period_ns;       /* of its samples */
    struct storm storm;       /* of switches */
    struct timer_ring *timer; /* instead of the rings */
    enum sampler_state state;
    uint64_t looked_ns;          /* when it was last looked at */
    uint64_t asleep_ns;          /* time asleep that no look has accounted for, without the present sleep */
    uint64_t asleep_since_ns;    /* of the present time off the CPU, what is not accounted for */
    uint64_t written_ns;         /* the time of the last record */
    bool kernel_is_hidden;       /* samples that fall into the kernel are left out */
    uint64_t sampled_ns, cpu_ns; /* at the last sample: its time, and CPU time of the thread; 0 = none yet */
    uint32_t stack;              /* its stack; 0 = it was not written */
    uint64_t since_ns;           /* on a CPU since, as far as no sample stands for it */
    uint64_t unsampled_ns;       /* on a CPU between the last sample and the last switch from it */
    bool seen;
};

/* One sample, whoever took it. */
struct sample {
    uint64_t time_ns;
    uint32_t flags; /* WW_S_ */
    uint64_t weight_ns;
    struct unwind_frame frame;
    struct unwind_stack window;
};
/* Walks and writes it, unless it lies inside an MPI call; its stack then, else 0. */
uint32_t sample_write(struct recorder_thread *thread, const struct sample *sample);
/* Threads that neither called MPI nor were ever seen computing (most libraries have some) leave no file. */
static inline bool sampler_is_of_interest(const struct recorder_thread *thread)
{
    return spool_is_open(&thread->samples) || spool_is_open(&thread->events);
}
/* Writes a walked stack as a sample, unless it passes through this library; the stack's number then, else 0. */
uint32_t sample_emit(struct recorder_thread *thread, const struct stack_walk *walk, uint32_t flags, uint64_t time_ns,
                     uint64_t weight_ns);
/* Once more the same stack, on a CPU. */
void sample_repeat(struct recorder_thread *thread, uint32_t stack, uint64_t time_ns, uint64_t weight_ns);
/* Was the thread in a recorded MPI call at this time, as far as is known without its stack, or recording paused? */
bool sample_is_unwanted(struct recorder_thread *thread, uint64_t time_ns);
/* When the last MPI call before this time was left, as far as is known; 0 = none is. */
uint64_t sample_last_leave_ns(struct recorder_thread *thread, uint64_t time_ns);

/* blocked.c: looks where a sleeping thread sleeps, and writes that when the time to account for is not 0; false when it
 * does not sleep. */
bool blocked_look(struct recorder_thread *thread, uint64_t now_ns, uint64_t weight_ns);

/* perf_rings.c: memory for records that wrap around; false when there is none. */
bool perf_init(void);
/* After the rings were opened: whoever sleeps by then tells of no switch before it wakes. */
void perf_begin(struct recorder_thread *thread, uint64_t now_ns);
/* Takes what is in both rings of the thread, in order of time. The number of samples. */
uint64_t perf_drain(struct recorder_thread *thread);
