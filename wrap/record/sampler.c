/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper's side of sampling: which threads there are, what their rings hold. Samples and switches come in two
 * rings, so that a storm of switches (a library that yields while it waits) cannot push out the samples; they are
 * merged by time.
 *
 * A switch from the CPU inside an MPI call is left out together with the switch back. `out` follows the state of the
 * thread.
 */
#include "wrap/record/sampler.h"
#include "wrap/record/calibrate.h"
#include "wrap/record/ring.h"
#include "wrap/record/timer.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FIRST_RING_BYTES = 256 << 10, /* of the thread that initialised MPI; the others share less */
    OTHER_RING_BYTES = 64 << 10,
    SWITCH_RING_BYTES = 32 << 10,
    SAMPLE_BYTES = 4300,
    LOOK_AT_THREADS_NS = 50000000,
    BLOCKED_AFTER_NS = 8000000,
    LONGEST_PATIENCE_NS = 20000000,
    TIMER_COST_NS = 5000, /* a signal, a copy of the stack */
};

enum cpu_state { ON_CPU, OFF_HIDDEN, OFF_PREEMPTED, OFF_ASLEEP };

struct sampler_thread {
    struct ring samples, switches;
    struct timer_ring *timer; /* instead of the rings */
    enum cpu_state state;
    uint64_t looked_ns; /* until when time asleep is accounted for */
    bool seen;
};

static struct {
    bool on, by_timer, exclude_kernel;
    uint64_t period_ns, sample_cost_ns, n_samples, n_lost, looked_at_threads_ns;
    int32_t own_tid;
    char *scratch[2];
} sampler;

static bool allocate_scratch(void)
{
    for (unsigned i = 0; i < 2; i++) {
        void *at = mmap(NULL, RING_SCRATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return false;
        sampler.scratch[i] = at;
    }
    return true;
}

static bool choose_perf(void)
{
    int error = 0;
    sampler.sample_cost_ns = calibrate_sample_ns(&error);
    if (error != 0)
        record_note("perf_event_open: %s", strerror(error));
    if (error != 0 || !allocate_scratch())
        return false;
    sampler.period_ns = calibrate_period_ns(sampler.sample_cost_ns, recorder.options.rate_hz);
    return true;
}

static bool choose_timer(void)
{
    if (!timer_choose()) {
        record_note("no samples: no signal is free for the CPU timer");
        return false;
    }
    sampler.by_timer = true;
    sampler.sample_cost_ns = TIMER_COST_NS;
    sampler.period_ns = calibrate_period_ns(TIMER_COST_NS, recorder.options.rate_hz);
    if (sampler.period_ns < TIMER_SHORTEST_NS)
        sampler.period_ns = TIMER_SHORTEST_NS;
    record_note("samples come from CPU timers: time off the CPU while runnable cannot be told from computing");
    return true;
}

uint64_t sampler_choose(void)
{
    const char *wish = recorder.options.sampler;
    if (strcmp(wish, "off") != 0)
        sampler.on = (strcmp(wish, "timer") != 0 && choose_perf()) || (strcmp(wish, "perf") != 0 && choose_timer());
    return sampler.on ? sampler.period_ns : 0;
}

static int open_samples(struct sampler_thread *s, int32_t tid, size_t ring_bytes)
{
    struct perf_event_attr attributes;
    calibrate_attributes(&attributes, sampler.period_ns);
    attributes.exclude_kernel = sampler.exclude_kernel;
    int error = ring_open(&s->samples, &attributes, tid, ring_bytes);
    if ((error == EACCES || error == EPERM) && !sampler.exclude_kernel) {
        sampler.exclude_kernel = true;
        attributes.exclude_kernel = 1;
        error = ring_open(&s->samples, &attributes, tid, ring_bytes);
    }
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
    attributes.exclude_kernel = 1;
    return ring_open(&s->switches, &attributes, tid, SWITCH_RING_BYTES);
}

static int attach_perf(struct recorder_thread *thread, struct sampler_thread *s)
{
    int error = open_samples(s, thread->tid, thread->index == 0 ? FIRST_RING_BYTES : OTHER_RING_BYTES);
    int switch_error = error == ESRCH ? 0 : open_switches(s, thread->tid);
    if (switch_error != 0 && switch_error != ESRCH)
        record_note("time off the CPU is not known: %s", strerror(switch_error));
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
        record_note("a thread has no samples: %s", strerror(error));
    s->looked_ns = recorder_now_ns();
    thread->sampler = s;
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

void sampler_follow_threads(void)
{
    uint64_t now_ns = recorder_now_ns();
    if (!sampler.on || now_ns - sampler.looked_at_threads_ns < LOOK_AT_THREADS_NS)
        return;
    sampler.looked_at_threads_ns = now_ns;
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

/* The fields of a sample record, in the order of perf_event_open(2). */
struct sample_fields {
    struct perf_event_header header;
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time_ns;
    uint64_t abi;
    uint64_t bx, bp, sp, pc, r12, r13, r14, r15;
    uint64_t stack_bytes;
    unsigned char stack[];
};

struct switch_fields {
    struct perf_event_header header;
    uint32_t pid, tid;
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
    *sample = (struct sample){.time_ns = f->time_ns, .weight_ns = sampler.period_ns};
    sample->flags = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ? WW_S_KERNEL : 0;
    sample->window = (struct unwind_stack){f->sp, f->sp + copied_bytes, f->stack};
    struct unwind_frame *frame = &sample->frame;
    frame->reg[UNWIND_BX] = f->bx;
    frame->reg[UNWIND_BP] = f->bp;
    frame->reg[UNWIND_SP] = f->sp;
    frame->reg[UNWIND_PC] = f->pc;
    memcpy(&frame->reg[UNWIND_R12], &f->r12, 4 * sizeof f->r12);
    frame->valid = 1u << UNWIND_PC | 1u << UNWIND_SP | 1u << UNWIND_BP | 1u << UNWIND_BX | 0xfu << UNWIND_R12;
    frame->interrupted = true;
    return true;
}

static void write_switch(struct recorder_thread *thread, uint32_t flags, uint64_t time_ns)
{
    struct ww_switch *record = threads_open_samples(thread) ? spool_take(&thread->samples, 1, true) : NULL;
    if (!record)
        return;
    record->flags = flags;
    record->time_ns = time_ns;
    spool_commit(record, WW_SWITCH, 1);
}

static void take_switch(struct recorder_thread *thread, const struct perf_event_header *header)
{
    struct sampler_thread *s = thread->sampler;
    const struct switch_fields *f = (const void *)header;
    if (header->misc & PERF_RECORD_MISC_SWITCH_OUT) {
        bool preempted = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        s->looked_ns = f->time_ns;
        s->state = preempted ? OFF_PREEMPTED : OFF_ASLEEP;
        if (sample_is_in_call(thread, f->time_ns))
            s->state = OFF_HIDDEN;
        else
            write_switch(thread, WW_SW_OUT | (preempted ? WW_SW_PREEMPTED : 0), f->time_ns);
    } else {
        if (s->state == OFF_PREEMPTED || s->state == OFF_ASLEEP)
            write_switch(thread, 0, f->time_ns);
        s->state = ON_CPU;
    }
}

static void take_sample(struct recorder_thread *thread, const struct perf_event_header *header)
{
    struct sample sample;
    sampler.n_samples++;
    if (parse_sample(header, &sample))
        sample_write(thread, &sample);
}

/* Lost records tell how many there were, in their second word. */
static void take_lost(const struct perf_event_header *header, const char *what)
{
    if (header->size >= sizeof *header + 2 * sizeof(uint64_t))
        sampler.n_lost += ((const uint64_t *)(const void *)(header + 1))[1];
    record_note("some %s were lost: the kernel's buffer was full", what);
}

static uint64_t time_of(const struct perf_event_header *header)
{
    if (!header)
        return UINT64_MAX;
    if (header->type == PERF_RECORD_SAMPLE)
        return ((const struct sample_fields *)(const void *)header)->time_ns;
    return header->type == PERF_RECORD_SWITCH ? ((const struct switch_fields *)(const void *)header)->time_ns : 0;
}

static void drain_timer(struct recorder_thread *thread)
{
    struct sample sample;
    for (; timer_peek(thread->sampler->timer, &sample); timer_pop(thread->sampler->timer)) {
        sampler.n_samples++;
        sample_write(thread, &sample);
    }
}

static void drain_rings(struct recorder_thread *thread)
{
    struct sampler_thread *s = thread->sampler;
    for (;;) {
        const struct perf_event_header *sample = ring_peek(&s->samples, sampler.scratch[0]);
        const struct perf_event_header *change = ring_peek(&s->switches, sampler.scratch[1]);
        if (!sample && !change)
            return;
        if (time_of(sample) <= time_of(change)) {
            if (sample->type == PERF_RECORD_SAMPLE)
                take_sample(thread, sample);
            else if (sample->type == PERF_RECORD_LOST)
                take_lost(sample, "samples");
            ring_pop(&s->samples, sample);
        } else {
            if (change->type == PERF_RECORD_SWITCH)
                take_switch(thread, change);
            else if (change->type == PERF_RECORD_LOST)
                take_lost(change, "switches to and from the CPU");
            ring_pop(&s->switches, change);
        }
    }
}

static void drain(struct recorder_thread *thread)
{
    if (thread->sampler->timer)
        drain_timer(thread);
    else
        drain_rings(thread);
}

/* Asleep for a while, outside MPI: where? */
static void look_if_asleep(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    if (s->state == OFF_ASLEEP && now_ns >= s->looked_ns + BLOCKED_AFTER_NS &&
        blocked_look(thread, now_ns, now_ns - s->looked_ns))
        s->looked_ns = now_ns;
}

/* Without switches: whoever slept at two looks in a row slept in between. */
static void look_without_switches(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    if (now_ns < s->looked_ns + BLOCKED_AFTER_NS)
        return;
    uint64_t weight_ns = s->state == OFF_ASLEEP ? now_ns - s->looked_ns : 0;
    bool is_asleep = !sample_is_in_call(thread, now_ns) && blocked_look(thread, now_ns, weight_ns);
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

uint64_t sampler_patience_ns(void)
{
    if (!sampler.on)
        return LONGEST_PATIENCE_NS;
    uint64_t room_ns = OTHER_RING_BYTES / SAMPLE_BYTES * sampler.period_ns / 2;
    return room_ns < LONGEST_PATIENCE_NS ? room_ns : LONGEST_PATIENCE_NS;
}

uint64_t sampler_overhead_ns(void)
{
    return sampler.n_samples * sampler.sample_cost_ns;
}
