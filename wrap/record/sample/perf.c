/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two parts: what a sample costs, and what the two rings of a thread say, merged by time.
 *
 * A sample is an interrupt, and on a virtual machine an interrupt can cost thirty times what it costs on bare metal. So
 * it is measured at the start (trial.h).
 *
 * The cost of a switch is measured likewise, at the start: programs that switch thousands of times a second pay for
 * that more than for samples.
 *
 * A switch from the CPU inside an MPI call is left out together with the switch back.
 */
#include "wrap/record/sample/perf.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/process/say.h"
#include "wrap/record/sample/accounts.h"
#include "wrap/record/sample/sample.h"
#include "wrap/record/sample/sampled.h"
#include "wrap/record/sample/timer.h"
#include "wrap/record/sample/trial.h"
#include "wrap/record/sample/visits.h"
#include "wrap/record/sample/writer.h"
#include "wrap/record/threads.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    LARGEST_RING_BYTES = 512 << 10,
    SAMPLES_PER_RING = 4, /* at least */
    SAMPLE_BYTES = 160,   /* without its window */
    SMALLEST_WINDOW_BYTES = 1 << 10,
    TRIAL_WINDOW_BYTES = 4 << 10,
    TRIAL_NS = 2000000,
    TRIAL_PERIOD_NS = 200000,
    RARE_PERIOD_NS = 20000000, /* behind the scheduler's tick, like that of threads that switch often (switching.h) */
    MAX_READINGS = 1000000,
    USUAL_COST_NS = 5000,
    STOPS = 32,
};

static char *scratch[2];
/* An ordinary user may not sample the kernel. */
static bool exclude_kernel;
/* perf events know nothing of time namespaces; clock_gettime follows them. */
static uint64_t namespace_offset_ns;
static uint64_t switch_cost_ns;
/* From a CPU and back, at somebody's cost: outside MPI, and in calls (yielding_delays). */
static uint64_t n_outside, n_in_calls;

static struct perf_event_attr task_clock(uint64_t period_ns, uint32_t window_bytes)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period_ns,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER |
                       PERF_SAMPLE_STACK_USER,
        .sample_regs_user = UNWIND_SAMPLED_BITS,
        .sample_stack_user = window_bytes,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .exclude_kernel = exclude_kernel,
        .exclude_hv = 1,
        .watermark = 1,
        .wakeup_watermark = UINT32_MAX,
    };
}

static int open_window(struct ring *ring, int32_t tid, uint64_t period_ns, size_t ring_bytes, uint32_t window_bytes)
{
    struct perf_event_attr attributes = task_clock(period_ns, window_bytes);
    int error = ring_open(ring, &attributes, tid, ring_bytes);
    if ((error == EACCES || error == EPERM) && !exclude_kernel) {
        attributes.exclude_kernel = exclude_kernel = true;
        error = ring_open(ring, &attributes, tid, ring_bytes);
    }
    return error;
}

int perf_open_samples(struct ring *ring, int32_t tid, uint64_t period_ns, size_t ring_bytes, uint32_t *window_bytes,
                      bool *kernel_is_hidden)
{
    ring->data_bytes = 0; /* until it is open */
    while (ring_bytes < 2 * SAMPLES_PER_RING * (size_t)*window_bytes && ring_bytes < LARGEST_RING_BYTES)
        ring_bytes *= 2;
    int error = open_window(ring, tid, period_ns, ring_bytes, *window_bytes);
    while (error == 0 && perf_room(ring, *window_bytes) < SAMPLES_PER_RING && *window_bytes > SMALLEST_WINDOW_BYTES) {
        ring_close(ring);
        *window_bytes /= 2;
        error = open_window(ring, tid, period_ns, ring_bytes, *window_bytes);
    }
    *kernel_is_hidden = exclude_kernel;
    return error;
}

size_t perf_room(const struct ring *ring, uint32_t window_bytes)
{
    return ring->data_bytes / (window_bytes + SAMPLE_BYTES);
}

static struct perf_event_attr switches(void)
{
    struct perf_event_attr attributes = task_clock(0, 0);
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.sample_type = PERF_SAMPLE_TIME; /* 16 bytes a switch, with all that comes with it */
    attributes.sample_regs_user = 0;
    attributes.sample_stack_user = 0;
    attributes.sample_id_all = 1;
    attributes.context_switch = 1;
    attributes.task = 1;
    attributes.exclude_kernel = 1;
    return attributes;
}

int perf_open_switches(struct ring *ring, int32_t tid, size_t ring_bytes)
{
    struct perf_event_attr attributes = switches();
    return ring_open(ring, &attributes, tid, ring_bytes);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t switches_so_far(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)(usage.ru_nivcsw + usage.ru_nvcsw) : 0;
}

/* 0 if no sample came that tells. */
static uint64_t least_sample_ns(struct ring *ring)
{
    struct trial trial = {.n_switches = switches_so_far(), .before_ns = recorder_now_ns()};
    /* The number of readings is bounded as well: a clock may stand still. */
    for (unsigned i = 0; trial.looped_ns < TRIAL_NS && i < MAX_READINGS; i++) {
        uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
        uint64_t now_ns = recorder_now_ns();
        bool has_sample = head != ring->tail;
        if (has_sample) {
            ring->tail = head;
            __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
        }
        trial_step(&trial, now_ns, has_sample, has_sample ? switches_so_far() : 0);
    }
    return trial.least_ns;
}

/* A thread that leaves its CPU and comes back has each of its events stopped and started. This happens here without
 * leaving the CPU. */
static uint64_t median_stop_ns(struct perf_event_attr attributes)
{
    uint64_t took[STOPS];
    attributes.size = sizeof attributes;
    int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return 0;
    for (unsigned i = 0; i < STOPS; i++) {
        uint64_t before_ns = recorder_now_ns();
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        took[i] = recorder_now_ns() - before_ns;
    }
    close(fd);
    qsort(took, STOPS, sizeof *took, by_size);
    return took[STOPS / 2];
}

uint64_t perf_choose(int *error)
{
    struct ring ring = {0};
    bool kernel_is_hidden;
    uint32_t window_bytes = TRIAL_WINDOW_BYTES;
    *error = perf_open_samples(&ring, 0, TRIAL_PERIOD_NS, 4 * TRIAL_WINDOW_BYTES, &window_bytes, &kernel_is_hidden);
    if (*error != 0)
        return 0;
    uint64_t cost_ns = least_sample_ns(&ring);
    ring_close(&ring);
    switch_cost_ns = median_stop_ns(task_clock(RARE_PERIOD_NS, 0)) + median_stop_ns(switches());
    char offsets[256];
    long long s, ns;
    machine_read_text("/proc/self/timens_offsets", offsets, sizeof offsets);
    const char *line = strstr(offsets, "monotonic");
    bool has_offset = line && sscanf(line, "monotonic %lld %lld", &s, &ns) == 2;
    namespace_offset_ns = has_offset ? (uint64_t)(s * 1000000000 + ns) : 0;
    for (unsigned i = 0; i < 2; i++) {
        scratch[i] = mmap(NULL, RING_SCRATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (scratch[i] == MAP_FAILED)
            *error = errno;
    }
    return cost_ns ? cost_ns : USUAL_COST_NS;
}

static uint64_t own_time(uint64_t perf_ns)
{
    return perf_ns + namespace_offset_ns;
}

/* The fields of a sample record, in the order of perf_event_open(2). */
struct sample_fields {
    struct perf_event_header header;
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time_ns;
    uint64_t cpu_ns; /* of the thread, in the kernel too */
    uint64_t abi;
    uint64_t reg[UNWIND_N_SAMPLED];
    uint64_t stack_bytes;
    unsigned char stack[];
};

struct switch_fields {
    struct perf_event_header header;
    uint64_t time_ns;
};

struct exit_fields {
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time_ns;
};

static bool parse_sample(const struct perf_event_header *header, struct sample *sample)
{
    const struct sample_fields *f = (const void *)header;
    if (header->size < sizeof *f + sizeof(uint64_t) || f->abi == PERF_SAMPLE_REGS_ABI_NONE ||
        header->size < sizeof *f + f->stack_bytes + sizeof(uint64_t))
        return false;
    uint64_t copied_bytes;
    memcpy(&copied_bytes, f->stack + f->stack_bytes, sizeof copied_bytes);
    if (f->stack_bytes == 0 || copied_bytes > f->stack_bytes)
        copied_bytes = 0;
    *sample = (struct sample){.time_ns = own_time(f->time_ns)};
    sample->flags = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ? WW_S_KERNEL : 0;
    unwind_from_sample(&sample->frame, f->reg);
    uint64_t sp = sample->frame.reg[UNWIND_SP];
    sample->window = (struct unwind_stack){.low = sp, .high = sp + copied_bytes, .bytes = f->stack};
    return true;
}

static void write_switch(struct recorder_thread *thread, uint32_t flags, uint64_t time_ns)
{
    struct ww_switch *record = NULL;
    if (!visits_is_paused(time_ns) && threads_open_samples(thread))
        record = spool_take(&thread->samples, 1, true);
    if (!record)
        return;
    record->flags = flags;
    record->time_ns = time_ns;
    spool_commit(record, WW_SWITCH, 1);
    thread->sampler->written_ns = time_ns;
}

void perf_begin(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    bool is_caller = s->tid == (int32_t)syscall(SYS_gettid); /* while it reads of itself it is in a system call */
    if (is_caller || !sampled_is_of_interest(thread) || visits_is_unwanted(thread, now_ns) ||
        !writer_blocked(thread, now_ns, 0) || ring_peek(&s->switches, scratch[1]))
        return;
    s->state = OFF_ASLEEP;
    s->asleep_since_ns = now_ns;
    write_switch(thread, WW_SW_OUT, now_ns);
}

/* It was off the CPU until now, runnable or stopped. */
static void write_absence(struct recorder_thread *thread, uint64_t off_ns, uint64_t time_ns, bool is_stopped)
{
    write_switch(thread, WW_SW_OUT | WW_SW_PREEMPTED | (is_stopped ? WW_SW_STOPPED : 0), time_ns - off_ns);
    if (is_stopped)
        say_note("the process was stopped for a while, by a signal or with its machine: that is told as time without a "
                 "CPU");
}

static void take_back_in_call(struct recorder_thread *thread, uint64_t time_ns, bool is_stopped)
{
    struct sampler_thread *s = thread->sampler;
    uint64_t call_ns = visits_call_ns(thread, s->asleep_since_ns);
    uint64_t off_ns = absence_add(&s->absence, call_ns, s->asleep_since_ns, time_ns);
    if (off_ns == 0)
        return;
    write_absence(thread, off_ns, time_ns, is_stopped);
    write_switch(thread, 0, time_ns);
}

static uint64_t time_of_switch(const struct perf_event_header *header)
{
    return own_time(((const struct switch_fields *)(const void *)header)->time_ns);
}

static enum gap_state state_behind(const struct perf_event_header *header)
{
    bool is_out = header->misc & PERF_RECORD_MISC_SWITCH_OUT;
    bool preempted = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    return !is_out ? GAP_ON : preempted ? GAP_READY : GAP_ASLEEP;
}

/* From a sleep: without a CPU for the last part of it. The length of its sleep. */
static uint64_t take_back_from_sleep(struct recorder_thread *thread, uint64_t time_ns, const struct stop *stop)
{
    uint64_t since_ns = thread->sampler->asleep_since_ns, off_ns = time_ns > since_ns ? time_ns - since_ns : 0;
    uint64_t stopped_ns = stop_within(stop, since_ns, time_ns);
    uint64_t ready_ns = stopped_ns + wake_ready_ns(&thread->sampler->wake, off_ns - stopped_ns);
    if (ready_ns > 0) {
        write_switch(thread, 0, time_ns - ready_ns);
        write_absence(thread, ready_ns, time_ns, stopped_ns > 0);
    }
    return off_ns - ready_ns;
}

static bool was_stopped_in_call(const struct recorder_thread *thread, uint64_t time_ns, const struct stop *stop)
{
    const struct sampler_thread *s = thread->sampler;
    return s->state == OFF_HIDDEN && sampled_is_of_interest(thread) &&
           stop_within(stop, s->asleep_since_ns, time_ns) > 0;
}

/* A rank that goes to sleep inside MPI has nothing better to do with the time. One that offers its CPU there
 * (sched_yield) goes on later by what the switch takes. */
static void count_switch(struct recorder_thread *thread, uint64_t time_ns, bool preempted)
{
    if (!visits_is_unwanted(thread, time_ns))
        n_outside++;
    else if (preempted)
        n_in_calls += yielding_delays(&thread->sampler->yielding, visits_call_ns(thread, time_ns));
}

static void follow_need(struct sampler_thread *s, enum gap_state state, uint64_t time_ns)
{
    bool was_asleep = s->need.state == GAP_ASLEEP && state == GAP_ON && time_ns > s->asleep_since_ns;
    need_switch(&s->need, state, time_ns);
    if (was_asleep)
        need_was_woken(&s->need, wake_ready_ns(&s->wake, time_ns - s->asleep_since_ns));
}

static void take_switch(struct recorder_thread *thread, const struct perf_event_header *header, const struct stop *stop)
{
    struct sampler_thread *s = thread->sampler;
    uint64_t time_ns = time_of_switch(header);
    enum gap_state state = state_behind(header);
    bool preempted = state == GAP_READY;
    s->switching.n_switches++;
    gap_switch(&s->gap, state, time_ns);
    follow_need(s, state, time_ns);
    if (state != GAP_ON) {
        count_switch(thread, time_ns, preempted);
        s->unsampled_ns += time_ns > s->since_ns ? time_ns - s->since_ns : 0;
        s->asleep_since_ns = time_ns;
        s->state = preempted ? OFF_PREEMPTED : OFF_ASLEEP;
        if (!sampled_is_of_interest(thread))
            s->state = OFF_HIDDEN;
        else if (visits_is_unwanted(thread, time_ns))
            s->state = preempted ? OFF_IN_CALL : OFF_HIDDEN;
        else
            write_switch(thread, WW_SW_OUT | (preempted ? WW_SW_PREEMPTED : 0), time_ns);
    } else {
        bool is_stopped = was_stopped_in_call(thread, time_ns, stop);
        if (s->state == OFF_IN_CALL || is_stopped)
            take_back_in_call(thread, time_ns, is_stopped);
        if (s->state == OFF_ASLEEP)
            s->asleep_ns += take_back_from_sleep(thread, time_ns, stop);
        if (s->state == OFF_PREEMPTED || s->state == OFF_ASLEEP)
            write_switch(thread, 0, time_ns);
        s->since_ns = time_ns;
        s->state = ON_CPU;
    }
}

/* If an ordinary user may not sample the kernel, samples that fall into it are left out, but its time is counted. Time
 * missing from a sample since the last one, MPI calls apart, was spent in the kernel: in system calls and page faults,
 * most probably of the same loop. Interrupts take samples away as well, but the kernel puts no time down to the thread
 * for them. There is no more in all than it says. */
static uint64_t hidden_ns(struct recorder_thread *thread, uint64_t cpu_ns, uint64_t time_ns, uint64_t stands_for_ns)
{
    struct sampler_thread *s = thread->sampler;
    struct machine_thread now;
    uint64_t left_ns = visits_last_leave_ns(thread, time_ns);
    uint64_t since_ns = left_ns > s->sampled_ns ? left_ns : s->sampled_ns;
    if (!s->kernel_is_hidden || s->cpu_ns == 0 || time_ns <= since_ns)
        return 0;
    uint64_t most_ns = cpu_ns - s->cpu_ns < time_ns - since_ns ? cpu_ns - s->cpu_ns : time_ns - since_ns;
    if (most_ns <= stands_for_ns + s->period_ns / 2 || !machine_read_thread(s->tid, &now))
        return 0;
    uint64_t missing_ns = most_ns - stands_for_ns, untold_ns = now.kernel_ns - s->kernel.kernel_ns;
    missing_ns = missing_ns < untold_ns ? missing_ns : untold_ns;
    s->kernel.kernel_ns += missing_ns;
    return missing_ns;
}

/* Since the rings were emptied before. */
static void ask_for_faults(struct sampler_thread *s)
{
    struct machine_thread now;
    uint64_t n_before = s->kernel.n_faults;
    bool is_there = machine_read_thread(s->tid, &now);
    s->kernel.n_faults = is_there ? now.n_faults : n_before;
    s->has_faulted = !is_there || now.n_faults != n_before;
    s->is_asked = true;
}

/* On behalf of the thread: in a system call, behind whose instruction it will go on, or in a page fault. Anything else,
 * which on a busy machine is much, is an interrupt, or the way back from one, in which other work was done or another
 * thread had the CPU. The thread itself was computing. */
static bool kernel_is_asked(const struct sampler_thread *s, uint64_t pc)
{
    static const unsigned char instruction[] = {0x0f, 0x05};
    unsigned char bytes[sizeof instruction];
    struct iovec to = {bytes, sizeof bytes}, from = {(void *)(uintptr_t)(pc - sizeof bytes), sizeof bytes};
    return s->has_faulted || process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof bytes ||
           !memcmp(bytes, instruction, sizeof bytes);
}

/* The longest time on a CPU between the last sample and the next. */
static uint64_t longest_ns(const struct sampler_thread *s)
{
    return s->period_ns + (s->n_of_period ? 0 : s->before_ns);
}

/* The period by which it came. The first behind a change stands for what had passed of the period before as well. */
static uint64_t take_period(struct sampler_thread *s, uint64_t cpu_ns, uint64_t time_ns)
{
    uint64_t passed_ns = s->cpu_ns ? cpu_ns - s->cpu_ns : s->period_ns, most_ns = longest_ns(s);
    if (time_ns <= s->changed_ns)
        return s->before_ns;
    if (s->n_of_period++)
        return s->period_ns;
    return passed_ns < most_ns ? passed_ns : most_ns;
}

static bool take_sample(struct recorder_thread *thread, const struct perf_event_header *header)
{
    struct sampler_thread *s = thread->sampler;
    struct sample sample;
    if (!parse_sample(header, &sample))
        return false;
    uint64_t cpu_ns = ((const struct sample_fields *)(const void *)header)->cpu_ns;
    sample.weight_ns = take_period(s, cpu_ns, sample.time_ns);
    struct sample in_kernel = sample;
    in_kernel.weight_ns = hidden_ns(thread, cpu_ns, sample.time_ns, sample.weight_ns);
    in_kernel.flags |= WW_S_KERNEL;
    if (in_kernel.weight_ns > 0)
        writer_sample(thread, &in_kernel);
    if ((sample.flags & WW_S_KERNEL) && !kernel_is_asked(s, sample.frame.reg[UNWIND_PC]))
        sample.flags &= ~(uint32_t)WW_S_KERNEL;
    s->written_ns = s->sampled_ns = s->since_ns = sample.time_ns;
    s->unsampled_ns = 0;
    s->cpu_ns = cpu_ns;
    s->stack = writer_sample(thread, &sample);
    if (s->is_rarer && s->stack)
        say_note("short times are rough here: samples are %d ms apart, as a thread left the CPU thousands of times a "
                 "second",
                 (int)(s->nominal_ns / 1000000));
    return true;
}

/* Of the timer's. */
static void take_timed(struct recorder_thread *thread, const struct sample *sample)
{
    struct sampler_thread *s = thread->sampler;
    s->written_ns = s->sampled_ns = s->since_ns = sample->time_ns;
    s->unsampled_ns = 0;
    s->stack = writer_sample(thread, sample);
    timer_pop(s->timer);
}

/* Samples come at the ends of periods, so the end of a thread's life has none, which in a short life is much of it. It
 * is given to the last place where it was seen. No switch tells that a thread left the CPU for good: its files may be
 * another thread's next, which begins later. */
static void take_exit(struct recorder_thread *thread, const struct perf_event_header *header)
{
    struct sampler_thread *s = thread->sampler;
    uint64_t time_ns = own_time(((const struct exit_fields *)(const void *)header)->time_ns);
    uint64_t rest_ns = s->unsampled_ns + (s->state == ON_CPU && time_ns > s->since_ns ? time_ns - s->since_ns : 0);
    if (s->stack && !spool_is_open(&thread->events) && !visits_is_unwanted(thread, time_ns))
        writer_repeat(thread, s->stack, time_ns, rest_ns < longest_ns(s) ? rest_ns : longest_ns(s));
    if (s->state == ON_CPU && !visits_is_unwanted(thread, time_ns))
        write_switch(thread, WW_SW_OUT, time_ns);
}

struct lost_fields {
    struct perf_event_header header;
    uint64_t id, n_lost;
    uint64_t time_ns;
};

/* A state that may have changed unseen is not carried on. */
static void take_lost_switches(struct recorder_thread *thread, const struct perf_event_header *header)
{
    struct sampler_thread *s = thread->sampler;
    const struct lost_fields *f = (const void *)header;
    if (s->state == OFF_PREEMPTED || s->state == OFF_ASLEEP)
        write_switch(thread, 0, s->written_ns);
    s->state = ON_CPU;
    if (header->size >= sizeof *f) {
        s->switching.n_switches += f->n_lost;
        n_in_calls += f->n_lost / 2;
    }
    if (header->size >= sizeof *f)
        gap_lost(&s->gap, own_time(f->time_ns));
}

/* The sleeps that end in the ring share the time in which the thread had been woken and had no CPU. */
static void foresee_wakes(struct sampler_thread *s, uint64_t ready_ns)
{
    bool is_whole = true;
    struct ring ahead = s->switches;
    enum gap_state state = s->gap.state;
    /* At the last look it was still asleep. */
    uint64_t since_ns = s->asleep_since_ns > s->gap.last_ns ? s->asleep_since_ns : s->gap.last_ns;
    for (const struct perf_event_header *next; (next = ring_peek(&ahead, scratch[1])); ahead.tail += next->size) {
        is_whole &= next->type != PERF_RECORD_LOST;
        if (next->type != PERF_RECORD_SWITCH)
            continue;
        uint64_t time_ns = time_of_switch(next);
        if ((state == GAP_READY || state == GAP_ASLEEP) && time_ns > since_ns)
            wake_take_absence(&s->wake, state == GAP_ASLEEP, time_ns - since_ns);
        state = state_behind(next);
        since_ns = time_ns;
    }
    wake_take_count(&s->wake, ready_ns, is_whole);
}

/* How long was the thread ready, and, as switches may be lost or were, how long on a CPU by now? */
static void take_accounts(struct recorder_thread *thread)
{
    struct sampler_thread *s = thread->sampler;
    struct gap_account account;
    uint64_t now_ns = recorder_now_ns(), took_ns = now_ns - s->drained_ns;
    const struct perf_event_header *first = ring_peek(&s->switches, scratch[1]);
    s->drained_ns = now_ns;
    s->fills_ns = UINT64_MAX;
    if (!first)
        return;
    uint64_t bytes = __atomic_load_n(&s->switches.page->data_head, __ATOMIC_RELAXED) - s->switches.tail;
    s->fills_ns = took_ns * s->switches.data_bytes / bytes;
    bool is_due = s->gap.n_parts > 0 || first->type == PERF_RECORD_LOST || bytes > s->switches.data_bytes / 4;
    atomic_store_explicit(&thread->needs_accounts, is_due || s->switching.is_frequent, memory_order_relaxed);
    bool is_there = gap_read_account(s->tid, now_ns, &account);
    foresee_wakes(s, is_there ? account.ready_ns : 0);
    if (is_there && is_due)
        accounts_take(thread, account);
}

static uint64_t time_of(const struct perf_event_header *header)
{
    if (header->type == PERF_RECORD_SAMPLE)
        return ((const struct sample_fields *)(const void *)header)->time_ns;
    if (header->type == PERF_RECORD_EXIT)
        return ((const struct exit_fields *)(const void *)header)->time_ns;
    return header->type == PERF_RECORD_SWITCH ? ((const struct switch_fields *)(const void *)header)->time_ns : 0;
}

uint64_t perf_drain(struct recorder_thread *thread, const struct stop *stop)
{
    struct sampler_thread *s = thread->sampler;
    uint64_t n_samples = 0;
    s->is_asked = false;
    take_accounts(thread);
    for (;;) {
        const struct perf_event_header *sample = ring_peek(&s->samples, scratch[0]);
        const struct perf_event_header *change = ring_peek(&s->switches, scratch[1]);
        struct sample timed;
        if (s->timer && timer_peek(s->timer, &timed) && (!change || timed.time_ns <= time_of(change))) {
            take_timed(thread, &timed);
            n_samples++;
            continue;
        }
        if (!sample && change) /* one that came before the switch is there by now */
            sample = ring_peek(&s->samples, scratch[0]);
        if (!sample && !change)
            break;
        if (sample && (!change || time_of(sample) <= time_of(change))) {
            if (!s->is_asked && !s->kernel_is_hidden)
                ask_for_faults(s);
            if (sample->type == PERF_RECORD_SAMPLE)
                n_samples += take_sample(thread, sample);
            else if (sample->type == PERF_RECORD_LOST) {
                s->cpu_ns = 0; /* what is missing now is not the kernel's */
                say_note("some samples were lost: the kernel's buffer was full");
            } else if (sample->type == PERF_RECORD_THROTTLE)
                say_note("the kernel held samples back: more than it allows (kernel.perf_event_max_sample_rate)");
            ring_pop(&s->samples, sample);
        } else {
            if (change->type == PERF_RECORD_SWITCH)
                take_switch(thread, change, stop);
            else if (change->type == PERF_RECORD_EXIT)
                take_exit(thread, change);
            else if (change->type == PERF_RECORD_LOST)
                take_lost_switches(thread, change);
            ring_pop(&s->switches, change);
            if (s->gap.n_told)
                accounts_write_gaps(thread);
        }
    }
    return n_samples;
}

uint64_t perf_switches_ns(void)
{
    return n_outside * switch_cost_ns;
}

uint64_t perf_switches_in_calls_ns(void)
{
    return n_in_calls * switch_cost_ns;
}
