/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places where the program spends its time, and times when it is not on a CPU.
 *
 * Each thread has a task-clock event, whose samples carry registers and the top of the stack, and a second event that
 * tells every switch to and from a CPU. The kernel fills their rings. The helper thread reads them, walks the copied
 * stacks, drops what happened inside MPI calls (those are recorded exactly), and writes the rest to R-T.sm in order of
 * time. A thread found asleep outside MPI is looked at as well: its stack says which loop made the system call.
 */
#pragma once
#include "wrap/record/process/machine.h"
#include "wrap/record/recorder.h"
#include "wrap/record/sample/gap.h"
#include "wrap/record/sample/perf.h"
#include "wrap/record/sample/wake.h"
#include <stdbool.h>
#include <stdint.h>

/* All of this is called by the helper only, but for the first two, which come before it is there.
 *
 * Chooses and calibrates: recorder.sample_period_ns, which stays 0 when there will be no samples. Notes why when
 * something is refused. Takes up to 20 ms, nearly all of it asleep: the kernel waits for its other processors when the
 * first event of a machine is opened. */
void sampler_choose(void);
/* Begins sampling the thread that initialises MPI, so that nothing it does afterwards is missed. */
void sampler_begin(struct recorder_thread *first);
/* Begins sampling the threads of this process that are not sampled yet; forgets those that ended. */
void sampler_follow_threads(void);
/* Takes what the kernel collected since the last time. */
void sampler_drain(void);
void sampler_stop(void);
/* The helper began to sleep then until it was due, and was ready without a CPU for so long before it began: to be told
 * when it is back. */
void sampler_slept(uint64_t began_ns, uint64_t due_ns, uint64_t ready_ns);
const struct stop *sampler_last_stop(void);
/* The longest that the helper may sleep without losing samples. */
uint64_t sampler_patience_ns(void);
/* The cost of samples and switches for the threads, estimated: outside MPI, where it keeps a CPU from others too, and
 * in calls, which it delays. */
uint64_t sampler_overhead_ns(void);
uint64_t sampler_delay_ns(void);

/*
 * Threads that leave the CPU thousands of times a second: ranks that poll and yield on a core that they share.
 *
 * Each switch stops the timer of the samples and starts it again. While that timer is the next of its processor to
 * expire, the hardware is told both times, which on a virtual machine takes 2 us, where the switch itself takes 0.5. A
 * timer that lies further off than the scheduler's own tick takes next to nothing. So such a thread is sampled with a
 * period of some ticks for as long as it goes on. Samples carry their weight. Not of many: not everybody who is taken
 * off the CPU thousands of times a second polls, and what others make of it has to be named all the same.
 */

struct sampler_switching {
    uint64_t since_ns, n_switches; /* to a CPU and from it, since then */
    bool is_frequent;
};
/* To be asked now and then. True when it has begun or ended just now. */
bool sampler_switching_changed(struct sampler_switching *switching, uint64_t now_ns);

/*
 * Such a rank that polls is off the CPU for some microseconds again and again. Such times are told as one that ends
 * with the last, as soon as they are worth it: a quarter of the call so far. So no more than that is left out of any
 * call, and a long call has few records.
 */
struct sampler_absence {
    uint64_t call_ns; /* when the MPI call was entered */
    uint64_t off_ns;  /* for so long it was off the CPU there, as far as it is not told yet */
};
/* It was off the CPU between two times, in the call that was entered at call_ns (0 = unknown: each time is on its own).
 * Returns how long a time that ends now should be told of, or 0. */
uint64_t sampler_absence_add(struct sampler_absence *absence, uint64_t call_ns, uint64_t from_ns, uint64_t now_ns);

/*
 * A rank that polls and yields pays for its switches itself, by a later end of its call. In a long wait nobody can go
 * on during most of them: they cost nothing. So a dozen of a call counts, as many as the steps of a collective of some
 * ranks need.
 */
struct sampler_yielding {
    uint64_t call_ns;
    unsigned n; /* switches in that call */
};
/* Does a switch in the call that was entered at call_ns (0 = unknown) delay the program? */
bool sampler_switch_delays(struct sampler_yielding *yielding, uint64_t call_ns);

enum sampler_state {
    ON_CPU,
    OFF_HIDDEN,  /* asleep inside an MPI call, or of no interest */
    OFF_IN_CALL, /* preempted inside an MPI call, where a rank that polls yields often: many times are written as one */
    OFF_PREEMPTED,
    OFF_ASLEEP,
};
struct sampler_thread {
    int32_t tid; /* of the thread that is sampled: another one may have gone on with the files since */
    enum sampler_state state;
    struct perf_ring samples, switches;
    uint64_t nominal_ns;   /* what the period of its samples varies about */
    uint64_t period_ns;    /* what it is now */
    uint64_t before_ns;    /* what it was before; 0 = it has not changed */
    uint64_t changed_ns;   /* when it changed */
    unsigned n_of_period;  /* samples since then */
    uint32_t window_bytes; /* of the stack, in each of its samples */
    uint32_t wanted_bytes; /* a sample would have needed so much */
    bool is_rarer;         /* because it leaves the CPU often */
    unsigned n_widened;    /* how often its window was made wider */
    struct gap gap;
    struct wake wake;
    uint64_t end_slot; /* of its stack, as the last whole walk found it (stacks.h); 0 = none did */
    struct sampler_switching switching;
    struct timer_ring *timer; /* instead of the rings */
    uint64_t began_ns;        /* when sampling began */
    uint64_t looked_ns;       /* when it was last looked at */
    uint64_t drained_ns;      /* when its rings were last emptied */
    uint64_t fills_ns;        /* so long its switches then take to fill their ring */
    uint64_t asleep_ns;       /* time asleep that no look has accounted for, without the present sleep */
    uint64_t asleep_since_ns; /* of the present time off the CPU, what is not accounted for */
    struct sampler_absence absence;
    struct sampler_yielding yielding;
    uint64_t written_ns;          /* the time of the last record */
    struct machine_thread kernel; /* when it was last asked for; of the time, what is told of or was before it began */
    uint64_t sampled_ns, cpu_ns;  /* at the last sample: its time, and CPU time of the thread; 0 = none yet */
    uint32_t stack;               /* its stack; 0 = it was not written */
    bool kernel_is_hidden;        /* samples that fall into the kernel are left out */
    bool is_asked, has_faulted;   /* now that its rings are emptied; since they were before */
    bool seen;
    uint64_t since_ns;     /* on a CPU since, as far as no sample stands for it */
    uint64_t unsampled_ns; /* on a CPU between the last sample and the last switch from it */
};
