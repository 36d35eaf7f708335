/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/asleep.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/sample/sampled.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
    unsigned long long sp, pc, first = 0, second = 0;
    int system_call = -1;
    if (!*text)
        return THREAD_IS_GONE;
    if (sscanf(text, "-1 %llx %llx", &sp, &pc) != 2 &&
        sscanf(text, "%d %llx %llx %*x %*x %*x %*x %llx %llx", &system_call, &first, &second, &sp, &pc) != 5)
        return THREAD_IS_BUSY;
    *at = (struct asleep){sp, pc, system_call, {first, second}};
    return sp != 0 ? THREAD_SLEEPS : THREAD_IS_BUSY;
}

/* Its other end is a process of this machine: a pipe, or one of two connected sockets, as multiprocessing has them. */
static bool is_pipe(int file)
{
    struct stat about;
    int family = 0;
    socklen_t bytes = sizeof family;
    if (file == STDIN_FILENO || fstat(file, &about) != 0)
        return false;
    bool is_local =
        S_ISSOCK(about.st_mode) && getsockopt(file, SOL_SOCKET, SO_DOMAIN, &family, &bytes) == 0 && family == AF_UNIX;
    return S_ISFIFO(about.st_mode) || is_local;
}

/* It sleeps in poll until there is something to read from pipes, and for nothing else. */
static bool polls_pipes(const struct asleep *at)
{
    enum { MOST_FILES = 16 };
    struct pollfd file[MOST_FILES];
    uint64_t n = at->argument[1];
    struct iovec to = {file, n * sizeof *file}, from = {(void *)(uintptr_t)at->argument[0], to.iov_len};
    if (n == 0 || n > MOST_FILES || process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)to.iov_len)
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (!(file[i].events & POLLIN) || !is_pipe(file[i].fd))
            return false;
    return true;
}

static bool waits_for_pipe(const struct asleep *at)
{
    switch (at->system_call) {
    case SYS_read:
        return is_pipe((int)at->argument[0]);
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
        return polls_pipes(at);
    default:
        return false;
    }
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
            doing |= waits_for_pipe(&at) ? AT_PIPE : ELSEWHERE;
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
    return WW_S_BLOCKED | (waits_for_pipe(at) ? WW_S_PIPE : 0);
}
