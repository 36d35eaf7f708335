/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From registers and a copied stack window to a WW_SAMPLE.
 *
 * A window holds the innermost part of the stack only. The frames further out, which change rarely, are read from the
 * live stack when the window is used up; the walk counts as complete only if it then arrives at the start of the
 * thread, else it is cut where the window ended.
 *
 * A sample whose stack passes through this library was taken inside a recorded MPI call: the call record says all about
 * it.
 */
#include "wrap/record/count/workers.h"
#include "wrap/record/sample/sampler.h"
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WINDOW_BYTES = 64 << 10, PIECE_BYTES = 16 << 10 };

static bool is_paused_at(uint64_t time_ns)
{
    uint64_t from_ns = atomic_load_explicit(&recorder.paused_from_ns, memory_order_relaxed);
    return from_ns && time_ns >= from_ns &&
           time_ns < atomic_load_explicit(&recorder.paused_until_ns, memory_order_relaxed);
}

bool sample_is_unwanted(struct recorder_thread *thread, uint64_t time_ns)
{
    uint64_t open_ns = atomic_load_explicit(&thread->open_ns, memory_order_acquire);
    if (is_paused_at(time_ns))
        return true;
    if (open_ns != 0 && time_ns >= open_ns)
        return true;
    if (time_ns <= atomic_load_explicit(&thread->last_leave_ns, memory_order_relaxed) &&
        time_ns >= atomic_load_explicit(&thread->last_enter_ns, memory_order_relaxed))
        return true;
    unsigned n = atomic_load_explicit(&thread->n_long_calls, memory_order_acquire);
    for (unsigned i = n > RECORDER_LONG_CALLS ? n - RECORDER_LONG_CALLS : 0; i < n; i++) {
        struct recorder_interval *call = &thread->long_call[i % RECORDER_LONG_CALLS];
        if (time_ns >= atomic_load_explicit(&call->enter_ns, memory_order_relaxed) &&
            time_ns <= atomic_load_explicit(&call->leave_ns, memory_order_relaxed))
            return true;
    }
    return false;
}

uint64_t sample_last_leave_ns(struct recorder_thread *thread, uint64_t time_ns)
{
    unsigned n = atomic_load_explicit(&thread->n_long_calls, memory_order_acquire);
    uint64_t last_ns = 0, leave_ns = atomic_load_explicit(&thread->last_leave_ns, memory_order_relaxed);
    if (leave_ns <= time_ns)
        return leave_ns;
    for (unsigned i = n > RECORDER_LONG_CALLS ? n - RECORDER_LONG_CALLS : 0; i < n; i++) {
        leave_ns = atomic_load_explicit(&thread->long_call[i % RECORDER_LONG_CALLS].leave_ns, memory_order_relaxed);
        if (leave_ns <= time_ns && leave_ns > last_ns)
            last_ns = leave_ns;
    }
    return last_ns;
}

/* The stack window, then the live stack beyond it. */
static struct unwind_stack extend(const struct unwind_stack *window, unsigned char bytes[WINDOW_BYTES])
{
    struct unwind_stack extended = {window->low, window->high, bytes};
    size_t n = window->high - window->low;
    if (n >= WINDOW_BYTES)
        return *window;
    memcpy(bytes, window->bytes, n);
    while (n < WINDOW_BYTES) {
        size_t piece = WINDOW_BYTES - n < PIECE_BYTES ? WINDOW_BYTES - n : PIECE_BYTES;
        struct iovec to = {bytes + n, piece}, from = {(void *)(uintptr_t)(window->low + n), piece};
        ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    extended.high = window->low + n;
    return extended;
}

static void walk_sample(struct stack_walk *walk, const struct sample *sample)
{
    static unsigned char bytes[WINDOW_BYTES]; /* the helper is the only caller */
    struct unwind_frame frame = sample->frame;
    walk->n = 1;
    walk->flags = 0;
    walk->address[0] = frame.reg[UNWIND_PC];
    walk->slot[0] = 0;
    stacks_walk(walk, &frame, &sample->window);
    if (!(walk->flags & WW_STACK_CUT) || walk->n == STACK_MAX_FRAMES)
        return;
    struct stack_walk outer = *walk;
    outer.flags = 0;
    struct unwind_stack extended = extend(&sample->window, bytes);
    stacks_walk(&outer, &frame, &extended);
    if (!(outer.flags & WW_STACK_CUT))
        *walk = outer;
}

static bool passes_through_recorder(const struct stack_walk *walk)
{
    for (unsigned i = 0; i < walk->n; i++)
        if (walk->address[i] - recorder.library_low < recorder.library_high - recorder.library_low &&
            !workers_is_start(walk->address[i]))
            return true;
    return false;
}

static void write_sample(struct recorder_thread *thread, uint32_t stack, uint32_t flags, uint64_t time_ns,
                         uint64_t weight_ns)
{
    struct ww_sample *record = spool_take(&thread->samples, 1, true);
    if (!record)
        return;
    record->flags = flags;
    record->time_ns = time_ns;
    record->weight_ns = weight_ns;
    record->stack = stack;
    spool_commit(record, WW_SAMPLE, 1);
}

void sample_repeat(struct recorder_thread *thread, uint32_t stack, uint64_t time_ns, uint64_t weight_ns)
{
    write_sample(thread, stack, 0, time_ns, weight_ns);
}

uint32_t sample_emit(struct recorder_thread *thread, const struct stack_walk *walk, uint32_t flags, uint64_t time_ns,
                     uint64_t weight_ns)
{
    if (passes_through_recorder(walk) || !threads_open_samples(thread))
        return 0;
    uint32_t stack = stacks_intern(&thread->sample_stacks, &thread->samples, walk);
    write_sample(thread, stack, flags, time_ns, weight_ns);
    return stack;
}

uint32_t sample_write(struct recorder_thread *thread, const struct sample *sample)
{
    struct stack_walk walk;
    if (sample_is_unwanted(thread, sample->time_ns))
        return 0;
    walk_sample(&walk, sample);
    return sample_emit(thread, &walk, sample->flags, sample->time_ns, sample->weight_ns);
}
