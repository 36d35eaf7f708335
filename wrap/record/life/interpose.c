/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that this library stands before.
 *
 * The program begins a thread: the thread makes itself known before it runs its function. It does so by a jump, so that
 * no frame of ours lies in its stack; without optimisation one does, which is why the two functions have a section of
 * their own (workers_is_start).
 *
 * The program jumps out of functions: the frames that end there are noted (counters.h), then the jump is made. The
 * saved stack pointer says where to. The C library keeps it mangled with a secret of the process. A call of MPI that is
 * jumped out of ends.
 *
 * The program offers its CPU: that is noted for its polls (record.c).
 *
 * A jump removes every frame that lies below the stack pointer it restores. They are walked twice: the first time only
 * to see that the walk ends in the frame that is jumped to, which tells a jump up the stack from one to another stack.
 */
#undef _FORTIFY_SOURCE /* it would give longjmp another name */
#include "wrap/record/count/workers.h"
#include "wrap/record/life/helper.h"
#include "wrap/record/life/jump.h"
#include "wrap/record/record.h"
#include "wrap/record/recorder.h"
#include "wrap/record/stack/unwind.h"
#include "wrap/record/threads.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The C library's function of this name, kept in *function; NULL when it has none. */
static void *next_function(void *_Atomic *function, const char *name)
{
    void *found = atomic_load_explicit(function, memory_order_relaxed);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(function, found, memory_order_relaxed);
    }
    return found;
}

struct start {
    union {
        void *(*posix)(void *);
        thrd_start_t c11;
    };
    void *argument;
};

static struct start start_unpack(void *value)
{
    struct start start = *(struct start *)value;
    bool is_measured = atomic_load_explicit(&recorder.recording, memory_order_relaxed);
    uint64_t began_ns = is_measured ? recorder_cpu_ns() : 0;
    free(value);
    workers_begin();
    helper_thread_began();
    if (is_measured)
        atomic_fetch_add_explicit(&recorder.threads_ns, recorder_cpu_ns() - began_ns, memory_order_relaxed);
    return start;
}

WORKERS_START static void *start_posix(void *value)
{
    struct start start = start_unpack(value);
    return start.posix(start.argument);
}

WORKERS_START static int start_c11(void *value)
{
    struct start start = start_unpack(value);
    return start.c11(start.argument);
}

/* NULL: the thread is begun as it is, and not registered. */
static struct start *start_pack(struct start start)
{
    struct start *packed = workers_are_paused() ? NULL : malloc(sizeof *packed);
    if (packed)
        *packed = start;
    return packed;
}

typedef int posix_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int c11_create(thrd_t *, thrd_start_t, void *);

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    static void *_Atomic function;
    posix_create *next = (posix_create *)next_function(&function, "pthread_create");
    if (!next)
        return EAGAIN;
    struct start *start = start_pack((struct start){.posix = routine, .argument = argument});
    if (!start)
        return next(thread, attributes, routine, argument);
    int rc = next(thread, attributes, start_posix, start);
    if (rc != 0)
        free(start);
    return rc;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
    static void *_Atomic function;
    c11_create *next = (c11_create *)next_function(&function, "thrd_create");
    if (!next)
        return thrd_error;
    struct start *start = start_pack((struct start){.c11 = routine, .argument = argument});
    if (!start)
        return next(thread, routine, argument);
    int rc = next(thread, start_c11, start);
    if (rc != thrd_success)
        free(start);
    return rc;
}

typedef int yield(void);
static yield *next_yield;

/* Not when it is first called: who spins for a lock may spin for one that the loader's look-up needs. */
__attribute__((constructor)) static void find_yield(void)
{
    next_yield = (yield *)dlsym(RTLD_NEXT, "sched_yield");
}

/* A thread that offers its CPU to others between two polls has nothing to do. What it does in there is the program's:
 * here too a jump leaves no frame of ours in its stack. */
EXPORT int sched_yield(void)
{
    struct recorder_thread *thread = recorder_self;
    if (thread && !thread->depth)
        thread->poll_has_yielded = true;
    return next_yield ? next_yield() : (int)syscall(SYS_sched_yield);
}

enum {
    DEEPEST = 1000000,
    FARTHEST_BYTES = 4096,    /* from the stack pointer of a frame at its call to that at its setjmp */
    HIGHEST_BYTES = 16 << 20, /* of stack that a jump removes */
    PAGE_BYTES = 4096,
};

/* Between two stacks there may be anything. Asked for a change of the signal mask that does not exist, the kernel reads
 * the mask first, and tells if it could. */
static bool is_readable(uint64_t low, uint64_t high)
{
    enum { NO_SUCH_CHANGE = -1, MASK_BYTES = 8 };
    for (uint64_t page = low / PAGE_BYTES * PAGE_BYTES; page < high; page += PAGE_BYTES)
        if (syscall(SYS_rt_sigprocmask, NO_SUCH_CHANGE, page, NULL, MASK_BYTES) == 0 || errno == EFAULT)
            return false;
    return true;
}

/* Each frame whose return address lies below to_sp ends, so the one before it is known to end when the next is found.
 * The walk cannot read further than that and stops in the frame that stays. True when it is the right one. */
static bool walk(struct unwound *unwound, struct unwind_frame frame, uint64_t to_sp)
{
    const struct unwind_stack stack = {
        .low = frame.reg[UNWIND_SP], .high = to_sp, .bytes = (const unsigned char *)(uintptr_t)frame.reg[UNWIND_SP]};
    uint64_t slot, waiting = 0;
    for (unsigned n = 0; n < DEEPEST; n++) {
        enum unwind_result result = unwind_step(&frame, &stack, &slot);
        if (result != UNWIND_FRAME)
            return result == UNWIND_CUT && frame.reg[UNWIND_SP] <= to_sp &&
                   to_sp - frame.reg[UNWIND_SP] <= FARTHEST_BYTES;
        if (unwound && waiting)
            unwound_add(unwound, waiting, 1);
        waiting = frame.interrupted ? 0 : frame.reg[UNWIND_PC];
    }
    return false;
}

static void note(const struct __jmp_buf_tag *env, const struct unwind_frame *here)
{
    int saved = errno;
    struct counters_thread *thread = workers_noting();
    if (thread && unwind_init()) {
        uint64_t sp = here->reg[UNWIND_SP], to_sp = jump_stack_pointer(env);
        if (to_sp > sp && to_sp - sp <= HIGHEST_BYTES && is_readable(sp, to_sp) && walk(NULL, *here, to_sp))
            walk(&thread->unwound, *here, to_sp);
    }
    errno = saved;
}

typedef void jump(struct __jmp_buf_tag *env, int value);

/* Looked up at once: a jump may come out of a signal handler, where the loader cannot be asked. */
#define JUMP(name)                                                                                                     \
    static void *_Atomic next_##name;                                                                                  \
    static __attribute__((constructor)) void find_##name(void)                                                         \
    {                                                                                                                  \
        next_function(&next_##name, #name);                                                                            \
    }                                                                                                                  \
    _Noreturn EXPORT void name(struct __jmp_buf_tag env[1], int value);                                                \
    void name(struct __jmp_buf_tag env[1], int value)                                                                  \
    {                                                                                                                  \
        struct unwind_frame here = {0};                                                                                \
        unwind_here(&here);                                                                                            \
        record_jumps_to(jump_stack_pointer(env));                                                                      \
        note(env, &here);                                                                                              \
        jump *next = (jump *)next_function(&next_##name, #name);                                                       \
        if (next)                                                                                                      \
            next(env, value);                                                                                          \
        abort();                                                                                                       \
    }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
