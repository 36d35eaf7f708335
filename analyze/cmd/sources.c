/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/sources.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* -1 to 4; 9 when the kernel was built without perf events. */
static int paranoid_level(void)
{
    int level = 9;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    if (!file)
        return level;
    if (fscanf(file, "%d", &level) != 1)
        level = 9;
    fclose(file);
    return level;
}

static struct source_state try_perf(const struct perf_event_attr *attributes)
{
    struct source_state state = {false, ""};
    long fd = syscall(SYS_perf_event_open, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    int level = paranoid_level();
    if (fd >= 0) {
        close((int)fd);
        state.works = true;
        snprintf(state.reason, sizeof state.reason, "kernel.perf_event_paranoid is %d", level);
    } else if (level == 9) {
        snprintf(state.reason, sizeof state.reason, "this kernel has no perf events");
    } else if (errno == EACCES || errno == EPERM) {
        snprintf(state.reason, sizeof state.reason, "refused (kernel.perf_event_paranoid is %d; %s)", level,
                 level > 2 ? "2 or less is needed" : "a container's seccomp filter, perhaps");
    } else {
        snprintf(state.reason, sizeof state.reason, "perf_event_open: %s", strerror(errno));
    }
    return state;
}

static struct perf_event_attr task_clock(void)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .size = sizeof(struct perf_event_attr),
        .sample_period = 4000000,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

struct source_state source_samples(void)
{
    struct perf_event_attr attributes = task_clock();
    return try_perf(&attributes);
}

struct source_state source_switches(void)
{
    struct perf_event_attr attributes = task_clock();
    attributes.context_switch = 1;
    attributes.sample_id_all = 1;
    return try_perf(&attributes);
}

struct source_state source_timer(void)
{
    struct source_state state = {false, ""};
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
        timer_delete(timer);
        state.works = true;
        snprintf(state.reason, sizeof state.reason, "used where perf events are refused");
    } else {
        snprintf(state.reason, sizeof state.reason, "timer_create: %s", strerror(errno));
    }
    return state;
}
