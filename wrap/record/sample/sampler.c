/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper's side of sampling: which source of samples works here, which threads there are, and which of them sleep.
 */
#include "wrap/record/sample/sampler.h"
#include "wrap/record/process/say.h"
#include "wrap/record/sample/calibrate.h"
#include "wrap/record/sample/timer.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FIRST_RING_BYTES = 256 << 10, /* of the thread that initialised MPI; the others share less */
    OTHER_RING_BYTES = 64 << 10,
    SWITCH_RING_BYTES = 32 << 10,
    SAMPLE_BYTES = 4300,
    LOOK_AT_THREADS_NS = 100000000,
    BLOCKED_AFTER_NS = 8000000,
    LONGEST_PATIENCE_NS = 30000000,
    TIMER_COST_NS = 5000, /* a signal, a copy of the stack */
};

static struct {
    bool on, by_timer, exclude_kernel;
    uint64_t period_ns, sample_cost_ns, n_samples, looked_at_threads_ns, n_task_links;
    uint32_t n_threads_begun;
    int32_t own_tid;
} sampler;

static bool choose_perf(void)
{
    int error = 0;
    sampler.sample_cost_ns = calibrate_sample_ns(&error);
    if (error != 0)
        say_note("perf_event_open: %s", strerror(error));
    if (error != 0 || !perf_init())
        return false;
    sampler.period_ns = calibrate_period_ns(sampler.sample_cost_ns, recorder.options.rate_hz);
    return true;
}

static bool choose_timer(void)
{
    if (!timer_choose()) {
        say_note("no samples: no signal is free for the CPU timer");
        return false;
    }
    sampler.by_timer = true;
    sampler.sample_cost_ns = TIMER_COST_NS;
    sampler.period_ns = calibrate_period_ns(TIMER_COST_NS, recorder.options.rate_hz);
    if (sampler.period_ns < TIMER_SHORTEST_NS)
        sampler.period_ns = TIMER_SHORTEST_NS;
    say_note("samples come from CPU timers: time off the CPU while runnable cannot be told from computing");
    return true;
}

void sampler_choose(void)
{
    const char *wish = recorder.options.sampler;
    if (strcmp(wish, "off") != 0)
        sampler.on = (strcmp(wish, "timer") != 0 && choose_perf()) || (strcmp(wish, "perf") != 0 && choose_timer());
    atomic_store(&recorder.sample_period_ns, sampler.on ? sampler.period_ns : 0);
}

static int open_samples(struct recorder_thread *thread, struct sampler_thread *s)
{
    struct perf_event_attr attributes;
    size_t ring_bytes = thread->index == 0 ? FIRST_RING_BYTES : OTHER_RING_BYTES;
    int32_t tid = thread->tid;
    calibrate_attributes(&attributes, s->period_ns);
    attributes.exclude_kernel = sampler.exclude_kernel;
    int error = ring_open(&s->samples, &attributes, tid, ring_bytes);
    if ((error == EACCES || error == EPERM) && !sampler.exclude_kernel) {
        sampler.exclude_kernel = true;
        attributes.exclude_kernel = 1;
        error = ring_open(&s->samples, &attributes, tid, ring_bytes);
    }
    s->kernel_is_hidden = sampler.exclude_kernel;
    return error;
}

static int open_switches(struct sampler_thread *s, int32_t tid)
{
    struct perf_event_attr attributes;
    calibrate_attributes(&attributes, 0);
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    attributes.sample_regs_user = 0;
    attributes.sample_stack_user = 0;
    attributes.sample_id_all = 1;
    attributes.context_switch = 1;
    attributes.task = 1;
    attributes.exclude_kernel = 1;
    return ring_open(&s->switches, &attributes, tid, SWITCH_RING_BYTES);
}

static int attach_perf(struct recorder_thread *thread, struct sampler_thread *s)
{
    s->period_ns = sampler.period_ns;
    int error = open_samples(thread, s);
    int switch_error = error == ESRCH ? 0 : open_switches(s, thread->tid);
    if (switch_error != 0 && switch_error != ESRCH)
        say_note("time off the CPU is not known: %s", strerror(switch_error));
    return error;
}

static void attach(struct recorder_thread *thread)
{
    struct sampler_thread *s = calloc(1, sizeof *s);
    int error = 0;
    if (!s)
        return;
    if (sampler.by_timer)
        error = (s->timer = timer_attach(thread->tid, sampler.period_ns)) ? 0 : errno;
    else
        error = attach_perf(thread, s);
    if (error == ESRCH) { /* it ended meanwhile */
        free(s);
        return;
    }
    if (error != 0)
        say_note("a thread has no samples: %s", strerror(error));
    s->looked_ns = s->storm.since_ns = recorder_now_ns();
    thread->sampler = s;
    if (!sampler.by_timer && error == 0)
        perf_begin(thread, s->looked_ns);
}

static void detach(struct recorder_thread *thread)
{
    if (thread->sampler->timer)
        timer_detach(thread->sampler->timer);
    ring_close(&thread->sampler->samples);
    ring_close(&thread->sampler->switches);
    free(thread->sampler);
    thread->sampler = NULL;
}

static void follow(int32_t tid)
{
    struct recorder_thread *thread = tid == sampler.own_tid ? NULL : threads_find(tid, true);
    if (!thread)
        return;
    if (!thread->sampler)
        attach(thread);
    if (thread->sampler)
        thread->sampler->seen = true;
}

static void drain(struct recorder_thread *thread);

/* A thread that is gone: what it left in the rings, then its file is closed. */
static void end_thread(struct recorder_thread *thread)
{
    drain(thread);
    detach(thread);
    if (spool_is_open(&thread->samples))
        recorder.past_dropped += thread->samples.header->n_dropped;
    spool_close(&thread->samples, WW_END_FINALIZE, 0, recorder_now_ns(), true);
    stacks_release(&thread->sample_stacks);
    atomic_store(&thread->has_exited, true);
}

static void read_thread_list(DIR *list)
{
    struct dirent *entry;
    while ((entry = readdir(list)) != NULL)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            follow((int32_t)strtol(entry->d_name, NULL, 10));
}

/* The link count of the folder tells how many threads there are, far cheaper than reading it. As many as before may be
 * others. */
static bool threads_may_have_changed(void)
{
    struct stat st;
    uint64_t now_ns = recorder_now_ns();
    uint64_t n_links = stat("/proc/self/task", &st) == 0 ? st.st_nlink : 0;
    uint32_t n_begun = atomic_load_explicit(&recorder.n_threads_begun, memory_order_relaxed);
    if (n_links == sampler.n_task_links && n_begun == sampler.n_threads_begun &&
        now_ns - sampler.looked_at_threads_ns < LOOK_AT_THREADS_NS)
        return false;
    sampler.n_threads_begun = n_begun;
    sampler.n_task_links = n_links;
    sampler.looked_at_threads_ns = now_ns;
    return true;
}

void sampler_follow_threads(void)
{
    if (!sampler.on || !threads_may_have_changed())
        return;
    sampler.own_tid = (int32_t)syscall(SYS_gettid);
    DIR *list = opendir("/proc/self/task");
    if (!list)
        return;
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (t->sampler)
            t->sampler->seen = false;
    read_thread_list(list);
    closedir(list);
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (t->sampler && !t->sampler->seen)
            end_thread(t);
}

static void drain_timer(struct recorder_thread *thread)
{
    struct sample sample;
    for (; timer_peek(thread->sampler->timer, &sample); timer_pop(thread->sampler->timer)) {
        sampler.n_samples++;
        sample_write(thread, &sample);
    }
}

static void drain(struct recorder_thread *thread)
{
    if (thread->sampler->timer)
        drain_timer(thread);
    else
        sampler.n_samples += perf_drain(thread);
}

/* A rate that the user asked for is kept. */
static void weather_storm(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    if (!s->samples.page || recorder.options.rate_hz > 0 || !storm_has_changed(&s->storm, now_ns))
        return;
    ring_close(&s->samples);
    s->period_ns = s->storm.is_on ? STORM_PERIOD_NS : sampler.period_ns;
    s->cpu_ns = 0; /* a new event counts anew */
    int error = open_samples(thread, s);
    if (error != 0 && error != ESRCH)
        say_note("a thread has no samples any more: %s", strerror(error));
}

/* Asleep outside MPI: where? A look that finds the thread asleep stands for all that it slept since the last one, so
 * that many short sleeps are seen as well as a long one. */
static void look_if_asleep(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    if (s->state != OFF_ASLEEP || now_ns < s->looked_ns + BLOCKED_AFTER_NS || now_ns <= s->asleep_since_ns)
        return;
    if (!blocked_look(thread, now_ns, s->asleep_ns + (now_ns - s->asleep_since_ns)))
        return;
    s->asleep_ns = 0;
    s->asleep_since_ns = s->looked_ns = now_ns;
}

/* Without switches: a look that finds the thread asleep stands for all the time since the last one, or since the thread
 * left MPI, and one that does not for none of it; on average that is how long it slept. */
static void look_without_switches(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    if (now_ns < s->looked_ns + BLOCKED_AFTER_NS)
        return;
    uint64_t left_ns = sample_last_leave_ns(thread, now_ns);
    uint64_t weight_ns = now_ns - (left_ns > s->looked_ns ? left_ns : s->looked_ns);
    bool is_asleep = !sample_is_unwanted(thread, now_ns) && blocked_look(thread, now_ns, weight_ns);
    s->state = is_asleep ? OFF_ASLEEP : ON_CPU;
    s->looked_ns = now_ns;
}

void sampler_drain(void)
{
    if (!sampler.on)
        return;
    uint64_t now_ns = recorder_now_ns();
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        if (!t->sampler)
            continue;
        drain(t);
        weather_storm(t, now_ns);
        if (!sampler_is_of_interest(t))
            continue;
        if (t->sampler->timer)
            look_without_switches(t, now_ns);
        else
            look_if_asleep(t, now_ns);
    }
}

void sampler_stop(void)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (t->sampler) {
            drain(t);
            detach(t);
        }
    sampler.on = false;
}

static bool somebody_sleeps(void)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (t->sampler && (t->sampler->asleep_ns > 0 || (sampler.by_timer && t->sampler->state == OFF_ASLEEP)))
            return true;
    return false;
}

uint64_t sampler_patience_ns(void)
{
    if (!sampler.on)
        return LONGEST_PATIENCE_NS;
    uint64_t room_ns = OTHER_RING_BYTES / SAMPLE_BYTES * sampler.period_ns / 2;
    uint64_t patience_ns = somebody_sleeps() ? LONGEST_PATIENCE_NS / 2 : LONGEST_PATIENCE_NS;
    /* Never in step with the program. */
    patience_ns -= recorder_now_ns() / 64 % (patience_ns / 4);
    return room_ns < patience_ns ? room_ns : patience_ns;
}

uint64_t sampler_overhead_ns(void)
{
    return sampler.n_samples * sampler.sample_cost_ns;
}
