/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where does a sleeping thread sleep? /proc tells its stack pointer and program counter in user space, not its other
 * registers. That is enough for the system call stubs, and further out for all code without frame pointers. For a frame
 * addressed through an unknown frame pointer, the stack is searched for the next pair of saved frame pointer and return
 * address. The result counts only when the walk arrives at the start of the thread and the thread did not move
 * meanwhile.
 */
#include "wrap/record/sample/sampler.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WINDOW_BYTES = 32 << 10, SEARCH_BYTES = 4096, WORD = 8 };

struct place {
    uint64_t sp, pc;
    int system_call; /* -1: it sleeps outside of one */
};

/* "NR ARGS SP PC" asleep in a system call, "-1 SP PC" asleep otherwise, "running". */
static bool read_place(int32_t tid, struct place *place)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    unsigned long long sp, pc;
    int system_call = -1;
    if (sscanf(text, "-1 %llx %llx", &sp, &pc) != 2 &&
        sscanf(text, "%d %*x %*x %*x %*x %*x %*x %llx %llx", &system_call, &sp, &pc) != 3)
        return false;
    *place = (struct place){sp, pc, system_call};
    return sp != 0;
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
            frame->reg[UNWIND_BP] = bp;
            frame->valid |= 1u << UNWIND_BP;
            return true;
        }
    }
    return false;
}

static void walk_blocked(struct stack_walk *walk, const struct place *place, const struct unwind_stack *stack)
{
    struct unwind_frame frame = {.valid = 1u << UNWIND_SP | 1u << UNWIND_PC, .interrupted = true};
    frame.reg[UNWIND_SP] = place->sp;
    frame.reg[UNWIND_PC] = place->pc;
    walk->n = 1;
    walk->flags = 0;
    walk->address[0] = place->pc;
    walk->slot[0] = 0;
    stacks_walk(walk, &frame, stack);
    if ((walk->flags & WW_STACK_CUT) && !(frame.valid & 1u << UNWIND_BP) && guess_frame_pointer(&frame, stack)) {
        struct stack_walk outer = *walk;
        outer.flags = 0;
        stacks_walk(&outer, &frame, stack);
        if (!(outer.flags & WW_STACK_CUT))
            *walk = outer;
    }
}

/* Joins, locks, conditions and barriers of threads all come to this system call. */
static bool waits_for_thread(const struct place *place)
{
    return place->system_call == SYS_futex;
}

bool blocked_look(struct recorder_thread *thread, uint64_t now_ns, uint64_t weight_ns)
{
    static unsigned char bytes[WINDOW_BYTES]; /* the helper is the only caller */
    struct place place, again;
    struct stack_walk walk;
    if (!read_place(thread->tid, &place))
        return false;
    struct iovec to = {bytes, sizeof bytes}, from = {(void *)(uintptr_t)place.sp, sizeof bytes};
    ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    struct unwind_stack stack = {place.sp, place.sp + (uint64_t)(got > 0 ? got : 0), bytes};
    walk_blocked(&walk, &place, &stack);
    if (!read_place(thread->tid, &again) || again.sp != place.sp || again.pc != place.pc)
        return false;
    if (weight_ns > 0)
        sample_emit(thread, &walk, waits_for_thread(&place) ? WW_S_BLOCKED | WW_S_SYNC : WW_S_BLOCKED, now_ns,
                    weight_ns);
    return true;
}
