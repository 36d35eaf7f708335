/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From registers and a copied stack window to a WW_SAMPLE.
 *
 * A window holds the innermost part of the stack only. The frames further out, which change rarely, are read from the
 * live stack when the window is used up. Such a walk counts only if it arrives at the start of the thread, or at the
 * frames that made the thread's last MPI call, else it is cut where the window ended.
 *
 * A sample whose stack passes through this library was taken inside a recorded MPI call. The call record says all about
 * it, unless MPI has called the program back.
 *
 * A look at a sleeping thread (asleep.h) counts only if the thread did not move meanwhile.
 */
#include "wrap/record/sample/writer.h"
#include "wrap/record/count/workers.h"
#include "wrap/record/sample/asleep.h"
#include "wrap/record/sample/sampled.h"
#include "wrap/record/sample/visits.h"
#include "wrap/record/stack/pages.h"
#include "wrap/record/threads.h"

static bool passes_known(const struct stack_walk *walk, const struct unwind_known *known)
{
    for (unsigned i = 1; i < walk->n; i++)
        if (unwind_is_known(known, walk->slot[i]))
            return true;
    return false;
}

static void walk_from(struct stack_walk *walk, struct unwind_frame frame, const struct unwind_stack *stack)
{
    walk->n = 1;
    walk->flags = 0;
    walk->address[0] = frame.reg[UNWIND_PC];
    walk->slot[0] = 0;
    stacks_walk(walk, &frame, stack);
}

/* A window that reaches to the frames of the last MPI call. Nothing is known of the stack of a thread that made none: a
 * little more is tried. */
static void want_more(struct recorder_thread *thread, const struct unwind_stack *window, struct stack_pages *pages)
{
    struct sampler_thread *s = thread->sampler;
    uint64_t bytes = window->high - window->low, slot = stacks_last_slot(&thread->stacks);
    if (s->timer)
        return;
    if (slot >= window->high && slot - window->low < UINT32_MAX)
        bytes = slot + sizeof slot - window->low;
    else if (slot == 0 && bytes == s->window_bytes)
        bytes++;
    if (window->high - window->low < s->window_bytes) {
        /* The kernel copies up to the first page that is not there. A block on the stack may have pages in its middle
         * that nobody has written to yet. They are there once they were read. */
        uint64_t value;
        pages->n = 0;
        for (uint64_t at = window->high;
             at < window->low + (slot ? bytes : s->window_bytes) && pages_read(pages, at & ~(uint64_t)7, &value);
             at += PAGES_BYTES)
            ;
    }
    if (bytes > s->wanted_bytes)
        s->wanted_bytes = (uint32_t)bytes;
}

static void walk_sample(struct stack_walk *walk, struct recorder_thread *thread, const struct sample *sample)
{
    static struct stack_pages pages; /* the helper is the only caller */
    struct unwind_stack stack = sample->window;
    struct unwind_known known;
    /* From its last MPI call and the last whole walk. */
    uint64_t end_slot = thread->sampler->end_slot;
    stacks_tell_known(&thread->stacks, &known);
    if (known.n < UNWIND_MAX_FRAMES && end_slot > (known.n ? known.slot[known.n - 1] : 0))
        known.slot[known.n++] = end_slot;
    pages.n = 0;
    stack.beyond = &pages;
    stack.known = &known;
    walk_from(walk, sample->frame, &stack);
    /* Beyond the window stands what the thread has put there since, perhaps a 0, which looks like the end. */
    if (pages.n > 0 && end_slot && walk->end_slot != end_slot)
        walk->flags |= WW_STACK_CUT;
    if (pages.n > 0 || (walk->flags & WW_STACK_CUT))
        want_more(thread, &sample->window, &pages);
    if (!(walk->flags & WW_STACK_CUT))
        thread->sampler->end_slot = walk->end_slot;
    else if (!passes_known(walk, &known))
        walk_from(walk, sample->frame, &sample->window);
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

void writer_repeat(struct recorder_thread *thread, uint32_t stack, uint64_t time_ns, uint64_t weight_ns)
{
    write_sample(thread, stack, 0, time_ns, weight_ns);
}

/* The linker's. */
extern const char __start_whywait_callbacks[] __attribute__((weak, visibility("hidden")));
extern const char __stop_whywait_callbacks[] __attribute__((weak, visibility("hidden")));

/* The frames outside this library. Through it a stack passes in a recorded call, where all that is the program's is a
 * function that MPI calls back. Then those further out are left out. False when nothing is left. */
static bool leave_out_call(struct stack_walk *walk)
{
    for (unsigned i = 0; i < walk->n; i++) {
        uint64_t address = walk->address[i];
        if (address - recorder.library_low >= recorder.library_high - recorder.library_low || workers_is_start(address))
            continue;
        bool is_callback = address - (uintptr_t)__start_whywait_callbacks <
                           (uintptr_t)__stop_whywait_callbacks - (uintptr_t)__start_whywait_callbacks;
        walk->n = is_callback ? i : 0;
        walk->flags |= WW_STACK_CUT;
        break;
    }
    return walk->n > 0;
}

/* 0 when the stack passes through this library, but for callbacks. */
static uint32_t emit(struct recorder_thread *thread, struct stack_walk *walk, const struct python_walk *python,
                     uint32_t flags, uint64_t time_ns, uint64_t weight_ns)
{
    if (!leave_out_call(walk))
        return 0;
    if (!threads_open_samples(thread))
        return 0;
    if (python && python->n > 0)
        stacks_merge(&thread->sample_stacks, &thread->samples, walk, python);
    uint32_t stack = stacks_intern(&thread->sample_stacks, &thread->samples, walk);
    write_sample(thread, stack, flags, time_ns, weight_ns);
    return stack;
}

uint32_t writer_sample(struct recorder_thread *thread, const struct sample *sample)
{
    struct stack_walk walk;
    bool stack_tells = atomic_load_explicit(&thread->has_callbacks, memory_order_relaxed);
    if (stack_tells ? visits_is_paused(sample->time_ns) : visits_is_unwanted(thread, sample->time_ns))
        return 0;
    walk_sample(&walk, thread, sample);
    return emit(thread, &walk, sample->python, sample->flags, sample->time_ns, sample->weight_ns);
}

bool writer_blocked(struct recorder_thread *thread, uint64_t now_ns, uint64_t weight_ns)
{
    static struct python_walk python; /* the helper is the only caller */
    static struct python_scratch scratch;
    struct asleep at, again;
    struct stack_walk walk;
    int32_t tid = thread->tid;
    if (asleep_find(tid, &at) != THREAD_SLEEPS)
        return false;
    asleep_walk(&at, &walk);
    python_walk_safely(&python, &scratch, atomic_load_explicit(&thread->stacks.python_state, memory_order_relaxed),
                       atomic_load_explicit(&thread->stacks.python_inner, memory_order_relaxed));
    python.collects = false; /* another thread of it does */
    uint32_t flags = weight_ns > 0 ? asleep_flags(thread, &at, python.n > 0) : 0;
    if (asleep_find(tid, &again) != THREAD_SLEEPS || again.sp != at.sp || again.pc != at.pc)
        return false;
    thread->sampler->awaits_thread = flags & WW_S_SYNC;
    if (weight_ns > 0)
        emit(thread, &walk, &python, flags, now_ns, weight_ns);
    return true;
}
