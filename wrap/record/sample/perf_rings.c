/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel's two rings of a thread say: samples in one, switches to and from the CPU in the other, so that a
 * storm of switches (a library that yields while it waits) cannot push out the samples. They are merged by time.
 *
 * A switch from the CPU inside an MPI call is left out together with the switch back.
 */
#include "wrap/record/process/say.h"
#include "wrap/record/sample/sampler.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONG_IN_CALL_NS = 500000 };

static char *scratch[2];
/* perf events know nothing of time namespaces; clock_gettime follows them. */
static uint64_t namespace_offset_ns;

static uint64_t read_namespace_offset_ns(void)
{
    char text[256];
    long long s, ns;
    int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *line = strstr(text, "monotonic");
    return line && sscanf(line, "monotonic %lld %lld", &s, &ns) == 2 ? (uint64_t)(s * 1000000000 + ns) : 0;
}

bool perf_init(void)
{
    namespace_offset_ns = read_namespace_offset_ns();
    for (unsigned i = 0; i < 2; i++) {
        void *at = mmap(NULL, RING_SCRATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return false;
        scratch[i] = at;
    }
    return true;
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
    uint64_t bx, bp, sp, pc, r12, r13, r14, r15;
    uint64_t stack_bytes;
    unsigned char stack[];
};

struct switch_fields {
    struct perf_event_header header;
    uint32_t pid, tid;
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
    thread->sampler->written_ns = time_ns;
}

void perf_begin(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    if (!sampler_is_of_interest(thread) || sample_is_unwanted(thread, now_ns) || !blocked_look(thread, now_ns, 0) ||
        ring_peek(&s->switches, scratch[1]))
        return;
    s->state = OFF_ASLEEP;
    s->asleep_since_ns = now_ns;
    write_switch(thread, WW_SW_OUT, now_ns);
}

static void take_switch(struct recorder_thread *thread, const struct perf_event_header *header)
{
    struct sampler_thread *s = thread->sampler;
    uint64_t time_ns = own_time(((const struct switch_fields *)(const void *)header)->time_ns);
    s->storm.n_switches++;
    if (header->misc & PERF_RECORD_MISC_SWITCH_OUT) {
        bool preempted = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        s->unsampled_ns += time_ns > s->since_ns ? time_ns - s->since_ns : 0;
        s->asleep_since_ns = time_ns;
        s->state = preempted ? OFF_PREEMPTED : OFF_ASLEEP;
        if (!sampler_is_of_interest(thread))
            s->state = OFF_HIDDEN;
        else if (sample_is_unwanted(thread, time_ns))
            s->state = preempted ? OFF_IN_CALL : OFF_HIDDEN;
        else
            write_switch(thread, WW_SW_OUT | (preempted ? WW_SW_PREEMPTED : 0), time_ns);
    } else {
        bool is_long = s->state == OFF_IN_CALL && time_ns > s->asleep_since_ns + LONG_IN_CALL_NS;
        if (is_long)
            write_switch(thread, WW_SW_OUT | WW_SW_PREEMPTED, s->asleep_since_ns);
        if (is_long || s->state == OFF_PREEMPTED || s->state == OFF_ASLEEP)
            write_switch(thread, 0, time_ns);
        if (s->state == OFF_ASLEEP && time_ns > s->asleep_since_ns)
            s->asleep_ns += time_ns - s->asleep_since_ns;
        s->since_ns = time_ns;
        s->state = ON_CPU;
    }
}

/* Where an ordinary user may not sample the kernel, samples that fall into it are left out, but its time is counted.
 * What a sample finds missing since the last one, MPI calls apart, was spent in the kernel: in system calls and page
 * faults, most probably of the same loop. */
static uint64_t hidden_ns(struct recorder_thread *thread, uint64_t cpu_ns, uint64_t time_ns)
{
    const struct sampler_thread *s = thread->sampler;
    uint64_t left_ns = sample_last_leave_ns(thread, time_ns);
    uint64_t since_ns = left_ns > s->sampled_ns ? left_ns : s->sampled_ns;
    if (!s->kernel_is_hidden || s->cpu_ns == 0 || time_ns <= since_ns)
        return 0;
    uint64_t most_ns = cpu_ns - s->cpu_ns < time_ns - since_ns ? cpu_ns - s->cpu_ns : time_ns - since_ns;
    return most_ns > s->period_ns + s->period_ns / 2 ? most_ns - s->period_ns : 0;
}

static bool take_sample(struct recorder_thread *thread, const struct perf_event_header *header)
{
    struct sampler_thread *s = thread->sampler;
    struct sample sample;
    if (!parse_sample(header, &sample))
        return false;
    uint64_t cpu_ns = ((const struct sample_fields *)(const void *)header)->cpu_ns;
    struct sample in_kernel = sample;
    in_kernel.weight_ns = hidden_ns(thread, cpu_ns, sample.time_ns);
    in_kernel.flags |= WW_S_KERNEL;
    if (in_kernel.weight_ns > 0)
        sample_write(thread, &in_kernel);
    sample.weight_ns = s->period_ns;
    s->written_ns = s->sampled_ns = s->since_ns = sample.time_ns;
    s->unsampled_ns = 0;
    s->cpu_ns = cpu_ns;
    s->stack = sample_write(thread, &sample);
    return true;
}

/* Samples come at the ends of periods, so the end of a thread's life has none, which in a short life is much of it. It
 * is given to the last place where it was seen. */
static void take_exit(struct recorder_thread *thread, const struct perf_event_header *header)
{
    struct sampler_thread *s = thread->sampler;
    uint64_t time_ns = own_time(((const struct exit_fields *)(const void *)header)->time_ns);
    uint64_t rest_ns = s->unsampled_ns + (s->state == ON_CPU && time_ns > s->since_ns ? time_ns - s->since_ns : 0);
    if (s->stack && !spool_is_open(&thread->events) && !sample_is_unwanted(thread, time_ns))
        sample_repeat(thread, s->stack, time_ns, rest_ns < s->period_ns ? rest_ns : s->period_ns);
}

/* What is missing now is not the kernel's. */
static void take_lost_samples(struct recorder_thread *thread)
{
    thread->sampler->cpu_ns = 0;
    say_note("some samples were lost: the kernel's buffer was full");
}

struct lost_fields {
    struct perf_event_header header;
    uint64_t id, n_lost;
    uint32_t pid, tid;
    uint64_t time_ns;
};

/* What was lost inside an MPI call is no loss. A state that may have changed unseen is not carried on: time off the CPU
 * is rather reported too short. */
static void take_lost_switches(struct recorder_thread *thread, const struct perf_event_header *header)
{
    struct sampler_thread *s = thread->sampler;
    const struct lost_fields *f = (const void *)header;
    if (s->state == OFF_PREEMPTED || s->state == OFF_ASLEEP)
        write_switch(thread, 0, s->written_ns);
    s->state = ON_CPU;
    if (header->size >= sizeof *f)
        s->storm.n_switches += f->n_lost;
    if (header->size >= sizeof *f && !sample_is_unwanted(thread, own_time(f->time_ns)))
        say_note("some switches to and from the CPU were lost: the kernel's buffer was full");
}

static uint64_t time_of(const struct perf_event_header *header)
{
    if (header->type == PERF_RECORD_SAMPLE)
        return ((const struct sample_fields *)(const void *)header)->time_ns;
    if (header->type == PERF_RECORD_EXIT)
        return ((const struct exit_fields *)(const void *)header)->time_ns;
    return header->type == PERF_RECORD_SWITCH ? ((const struct switch_fields *)(const void *)header)->time_ns : 0;
}

uint64_t perf_drain(struct recorder_thread *thread)
{
    struct sampler_thread *s = thread->sampler;
    uint64_t n_samples = 0;
    for (;;) {
        const struct perf_event_header *sample = ring_peek(&s->samples, scratch[0]);
        const struct perf_event_header *change = ring_peek(&s->switches, scratch[1]);
        if (!sample && !change)
            return n_samples;
        if (sample && (!change || time_of(sample) <= time_of(change))) {
            if (sample->type == PERF_RECORD_SAMPLE)
                n_samples += take_sample(thread, sample);
            else if (sample->type == PERF_RECORD_LOST)
                take_lost_samples(thread);
            ring_pop(&s->samples, sample);
        } else {
            if (change->type == PERF_RECORD_SWITCH)
                take_switch(thread, change);
            else if (change->type == PERF_RECORD_EXIT)
                take_exit(thread, change);
            else if (change->type == PERF_RECORD_LOST)
                take_lost_switches(thread, change);
            ring_pop(&s->switches, change);
        }
    }
}
