/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that computes on the same core as a rank, and what a rank loses by it. */
#pragma once
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static inline void use_core(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores))
        perror("sched_setaffinity");
}

/* Until it is killed, or its parent has ended. */
static inline pid_t compete(void)
{
    pid_t parent = getpid(), child = fork();
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent)
        for (volatile long i = 0; i < 1000000; i++)
            ;
    _exit(0);
}

static inline double read_clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double off_cpu_s(void)
{
    return read_clock_s(CLOCK_MONOTONIC) - read_clock_s(CLOCK_THREAD_CPUTIME_ID);
}
