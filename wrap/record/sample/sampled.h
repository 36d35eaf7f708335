/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that is sampled: its rings or its timer, and what is known of it by what they told so far. */
#pragma once
#include "wrap/record/process/machine.h"
#include "wrap/record/recorder.h"
#include "wrap/record/sample/gap.h"
#include "wrap/record/sample/looks.h"
#include "wrap/record/sample/ring.h"
#include "wrap/record/sample/switching.h"
#include "wrap/record/sample/timer.h"
#include "wrap/record/sample/need.h"
#include "wrap/record/sample/wake.h"
#include <stdbool.h>
#include <stdint.h>

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
    struct ring samples, switches;
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
    struct need need;
    uint64_t end_slot; /* of its stack, as the last whole walk found it (stacks.h); 0 = none did */
    struct switching switching;
    struct timer_ring *timer; /* instead of the rings */
    uint64_t began_ns;        /* when sampling began */
    struct looks looks;
    uint64_t drained_ns;      /* when its rings were last emptied */
    uint64_t fills_ns;        /* so long its switches then take to fill their ring */
    uint64_t asleep_ns;       /* time asleep that no look has accounted for, without the present sleep */
    uint64_t asleep_since_ns; /* of the present time off the CPU, what is not accounted for */
    bool awaits_thread;       /* the last look found it so: until another thread wakes it */
    struct absence absence;
    struct yielding yielding;
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

/* Most libraries have threads that neither call MPI nor are ever seen computing. They leave no file, unless one of the
 * program's was seen asleep while another thread waited for a thread. */
static inline bool sampled_is_of_interest(const struct recorder_thread *thread)
{
    return spool_is_open(&thread->samples) || spool_is_open(&thread->events);
}
