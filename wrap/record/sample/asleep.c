/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/asleep.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/sample/sampled.h"
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { STACK_BYTES = 32 << 10, SEARCH_BYTES = 4096, WORD = 8 };

/* "NR ARGS SP PC" asleep in a system call, "-1 SP PC" asleep otherwise, "running". */
enum asleep_found asleep_find(int32_t tid, struct asleep *at)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    machine_read_text(path, text, sizeof text);
    unsigned long long sp, pc, argument[AWAITED_ARGUMENTS] = {0};
    int system_call = -1;
    if (!*text)
        return THREAD_IS_GONE;
    if (sscanf(text, "-1 %llx %llx", &sp, &pc) != 2 &&
        sscanf(text, "%d %llx %llx %llx %llx %llx %*x %llx %llx", &system_call, &argument[0], &argument[1],
               &argument[2], &argument[3], &argument[4], &sp, &pc) != AWAITED_ARGUMENTS + 3)
        return THREAD_IS_BUSY;
    *at = (struct asleep){.sp = sp, .pc = pc, .system_call = system_call};
    for (unsigned i = 0; i < AWAITED_ARGUMENTS; i++)
        at->argument[i] = argument[i];
    return sp != 0 ? THREAD_SLEEPS : THREAD_IS_BUSY;
}

static bool read_word(const struct unwind_stack *stack, uint64_t address, uint64_t *value)
{
    if (address < stack->low || stack->high - address < sizeof *value || address >= stack->high)
        return false;
    memcpy(value, stack->bytes + (address - stack->low), sizeof *value);
    return true;
}

/* The next word pair that looks like a frame: a pointer further out, and an address in code. */
static bool guess_frame_pointer(struct unwind_frame *frame, const struct unwind_stack *stack)
{
    uint64_t bp, saved_bp, pc;
    for (bp = frame->reg[UNWIND_SP]; bp < frame->reg[UNWIND_SP] + SEARCH_BYTES; bp += WORD) {
        if (!read_word(stack, bp, &saved_bp) || !read_word(stack, bp + WORD, &pc))
            return false;
        if (((saved_bp > bp && saved_bp < stack->high) || saved_bp <= 1) && unwind_is_code(pc)) {
            unwind_set(frame, UNWIND_BP, bp);
            return true;
        }
    }
    return false;
}

void asleep_walk(const struct asleep *at, struct stack_walk *walk)
{
    static unsigned char bytes[STACK_BYTES];
    struct iovec to = {bytes, sizeof bytes}, from = {(void *)(uintptr_t)at->sp, sizeof bytes};
    ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    struct unwind_stack stack = {.low = at->sp, .high = at->sp + (uint64_t)(got > 0 ? got : 0), .bytes = bytes};
    struct unwind_frame frame = {.interrupted = true};
    unwind_set(&frame, UNWIND_SP, at->sp);
    unwind_set(&frame, UNWIND_PC, at->pc);
    walk->n = 1;
    walk->flags = 0;
    walk->address[0] = at->pc;
    walk->slot[0] = 0;
    stacks_walk(walk, &frame, &stack);
    if ((walk->flags & WW_STACK_CUT) && !unwind_is_valid(&frame, UNWIND_BP) && guess_frame_pointer(&frame, &stack)) {
        struct stack_walk outer = *walk;
        outer.flags = 0;
        stacks_walk(&outer, &frame, &stack);
        if (!(outer.flags & WW_STACK_CUT))
            *walk = outer;
    }
}

static bool runs_python(const struct asleep *at)
{
    struct stack_walk walk;
    asleep_walk(at, &walk);
    for (unsigned i = 0; i < walk.n; i++)
        if (walk.address[i] >= python_process.low && walk.address[i] < python_process.high)
            return true;
    return false;
}

/* The other threads of the process, but those that are to be woken. */
enum { AT_PIPE = 1, ELSEWHERE = 2, BUSY = 4 };
static unsigned others_do(const struct recorder_thread *thread, bool is_asked_for_python)
{
    struct asleep at;
    unsigned doing = 0;
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        bool is_there = t != thread && t->sampler && t->sampler->tid == t->tid;
        enum asleep_found found = is_there ? asleep_find(t->tid, &at) : THREAD_IS_GONE;
        if (found == THREAD_IS_BUSY)
            doing |= BUSY;
        else if (found == THREAD_SLEEPS && at.system_call != SYS_futex && (!is_asked_for_python || runs_python(&at)))
            doing |= awaited_by(at.system_call, at.argument) == AWAITED_PIPE ? AT_PIPE : ELSEWHERE;
    }
    return doing;
}

/* Most processes have no thread at a pipe: then no stack is walked. */
static bool another_waits_for_pipe(const struct recorder_thread *thread)
{
    return (others_do(thread, false) & (AT_PIPE | BUSY)) == AT_PIPE && others_do(thread, true) == AT_PIPE;
}

/* Joins, locks, conditions and barriers of threads all come to the system call futex. */
uint32_t asleep_flags(const struct recorder_thread *thread, const struct asleep *at, bool runs_python_code)
{
    if (at->system_call == SYS_futex)
        return WW_S_BLOCKED | (runs_python_code && another_waits_for_pipe(thread) ? WW_S_PIPE : WW_S_SYNC);
    switch (awaited_by(at->system_call, at->argument)) {
    case AWAITED_PIPE:
        return WW_S_BLOCKED | WW_S_PIPE;
    case AWAITED_NETWORK:
        return WW_S_BLOCKED | WW_S_NETWORK;
    case AWAITED_TIME:
        return WW_S_BLOCKED | (others_do(thread, false) & BUSY ? WW_S_SYNC : WW_S_TIME);
    case AWAITED_WAKER:
        return WW_S_BLOCKED | WW_S_SYNC;
    default:
        return WW_S_BLOCKED;
    }
}
