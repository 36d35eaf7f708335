/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks of nested functions of every frame shape that compilers make, compared with glibc's backtrace(): on the live
 * stack, and from a copy of registers and a stack window as a sample has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/stack/stacks.h"
#include <alloca.h>
#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { MAX = 64, INNERMOST = 3, COPY_BYTES = 16384 };

static void *expected[MAX];
static int n_expected;
static struct stack_walk walked;
static void (*at_the_bottom)(void);
static volatile int sink;

static struct unwind_frame start_here(void)
{
    struct unwind_frame frame = {.valid = 0};
    return frame;
}

static uint64_t stack_end(void)
{
    /* Far enough for these tests, near enough to be mapped. */
    extern char **environ;
    return (uint64_t)(uintptr_t)environ & ~7ull;
}

/* The whole stack, what a sanitizer keeps between the variables included. */
static __attribute__((no_sanitize("address"))) uint64_t word_at(uint64_t address)
{
    return *(volatile uint64_t *)(uintptr_t)address;
}

static void copy_stack(unsigned char *copy, uint64_t from, size_t n)
{
    for (size_t i = 0; i < n; i += sizeof from)
        memcpy(copy + i, &(uint64_t){word_at(from + i)}, sizeof from);
}

static __attribute__((noinline)) void walk_live(void)
{
    n_expected = backtrace(expected, MAX);
    struct unwind_frame frame = start_here();
    unwind_here(&frame);
    uint64_t sp = frame.reg[UNWIND_SP];
    struct unwind_stack stack = {.low = sp, .high = stack_end(), .bytes = (const unsigned char *)(uintptr_t)sp};
    walked.n = 0;
    walked.flags = 0;
    stacks_walk(&walked, &frame, &stack);
    sink++;
}

/* As a sample sees it: the registers at a moment, and a copy of the stack from there. */
static __attribute__((noinline)) void walk_copy(void)
{
    static unsigned char copy[COPY_BYTES];
    n_expected = backtrace(expected, MAX);
    struct unwind_frame frame = start_here();
    unwind_here(&frame);
    uint64_t sp = frame.reg[UNWIND_SP];
    size_t n = stack_end() - sp < sizeof copy ? (stack_end() - sp) & ~(size_t)7 : sizeof copy;
    copy_stack(copy, sp, n);
    struct unwind_stack stack = {.low = sp, .high = sp + n, .bytes = copy};
    walked.n = 0;
    walked.flags = 0;
    stacks_walk(&walked, &frame, &stack);
    sink++;
}

static __attribute__((noinline)) int plain(int n)
{
    at_the_bottom();
    return n + 1;
}

static __attribute__((noinline)) int saves_registers(int n)
{
    int a = n * 3, b = n * 5, c = n * 7, d = n * 11;
    sink += plain(n);
    sink += a + b;
    sink += c * d;
    return a ^ b ^ c ^ d;
}

static __attribute__((noinline)) int moves_the_stack(int n)
{
    volatile char *space = alloca((size_t)n + 100);
    space[0] = 1;
    sink += saves_registers(n);
    return space[0];
}

/* Over-aligned locals: the frame is found by a load through the frame pointer. */
static __attribute__((noinline)) int realigns(int n)
{
    volatile double wide[4] __attribute__((aligned(64))) = {n};
    volatile char *space = alloca((size_t)n + 40);
    space[0] = 2;
    sink += moves_the_stack(n);
    return (int)wide[0] + space[0];
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) int with_frame_pointer(int n)
{
    sink += realigns(n);
    return n;
}

static int compare(const void *a, const void *b)
{
    sink += 0;
    return *(const int *)a - *(const int *)b;
}

static int compare_and_walk(const void *a, const void *b)
{
    static int once;
    if (once++ == 0)
        sink += with_frame_pointer(3);
    return compare(a, b);
}

/* Through a C library function without frame pointers of ours. */
static __attribute__((noinline)) void through_the_library(int n)
{
    int values[] = {3, 2, 1, n};
    if (n)
        qsort(values, 4, sizeof *values, compare_and_walk);
    sink += with_frame_pointer(n);
}

/* backtrace() begins with its own caller (and that of a sanitizer with a frame of its own before), the walk with the
 * caller of that; start code is cut from the walk only. */
static void check_addresses(unsigned at_least)
{
    int first = 1;
    assert_int_equal(walked.flags, 0);
    while (first < INNERMOST && expected[first] != (void *)(uintptr_t)walked.address[0])
        first++;
    assert_in_range(walked.n, at_least, n_expected - first);
    for (unsigned i = 0; i < walked.n; i++)
        assert_ptr_equal((void *)(uintptr_t)walked.address[i], expected[first + i]);
}

/* The frames are still there, but for the innermost, which has returned. */
static void check_walk(void)
{
    check_addresses(5);
    for (unsigned i = 1; i < walked.n; i++)
        assert_int_equal(word_at(walked.slot[i]), walked.address[i]);
}

static void walk_and_check_live(void)
{
    walk_live();
    check_walk();
}

static void test_live(void **state)
{
    (void)state;
    at_the_bottom = walk_and_check_live;
    for (int n = 0; n < 3; n++)
        through_the_library(n);
}

static void test_copy(void **state)
{
    (void)state;
    at_the_bottom = walk_copy;
    for (int n = 0; n < 3; n++) {
        through_the_library(n);
        check_addresses(7);
    }
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    (void)context;
    walk_live();
}

static __attribute__((noinline)) int interrupted(int n)
{
    raise(SIGUSR1);
    sink += n;
    return n;
}

static void test_through_a_signal_frame(void **state)
{
    (void)state;
    /* Where the code that handlers return to must be read, an emulator may not let us (qemu). */
    if (UNWIND_SIGNAL_REGS != 0 && syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0) != 0)
        skip();
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGUSR1, &action, &before);
    sink += interrupted(1);
    sigaction(SIGUSR1, &before, NULL);
    check_addresses(5);
}

/* A window that ends early cuts the walk at the right place. */
static void test_short_window(void **state)
{
    (void)state;
    static unsigned char copy[256];
    struct unwind_frame frame = start_here();
    unwind_here(&frame);
    uint64_t sp = frame.reg[UNWIND_SP];
    for (size_t n = 0; n <= sizeof copy; n += 8) {
        struct unwind_frame innermost = frame;
        copy_stack(copy, sp, n);
        struct unwind_stack stack = {.low = sp, .high = sp + n, .bytes = copy};
        struct stack_walk walk = {.n = 0};
        stacks_walk(&walk, &innermost, &stack);
        assert_int_equal(walk.flags, WW_STACK_CUT);
        for (unsigned i = 0; i < walk.n; i++)
            assert_in_range(walk.slot[i], sp, sp + n - 8);
    }
}

/* Whatever the registers and the stack hold: it ends, within the window. */
/* A nested function whose address was taken is called through code on the stack, further out than the stack's end. */
static void test_trampoline(void **state)
{
    (void)state;
    uint64_t top[2] = {(uint64_t)(uintptr_t)test_short_window + 1, 0}, low = (uint64_t)(uintptr_t)top, slot = 0;
    struct unwind_stack stack = {.low = low, .high = low + sizeof top, .bytes = (const unsigned char *)top};
    struct unwind_frame frame = {.interrupted = true};
    const bool is_pushed = UNWIND_RA == UNWIND_PC; /* by the call */
    unwind_set(&frame, UNWIND_RA, top[0]);
    unwind_set(&frame, UNWIND_PC, low + 4096);
    unwind_set(&frame, UNWIND_SP, low);
    unwind_set(&frame, UNWIND_BP, 42);
    assert_int_equal(unwind_step(&frame, &stack, &slot), UNWIND_FRAME);
    assert_int_equal(frame.reg[UNWIND_PC], top[0]);
    assert_int_equal(frame.reg[UNWIND_SP], low + (is_pushed ? sizeof top[0] : 0));
    assert_int_equal(frame.reg[UNWIND_BP], 42);
    assert_int_equal(slot, is_pushed ? low : 0);
    assert_false(frame.interrupted);

    top[0] = low; /* no code, so no return address either */
    frame.interrupted = true;
    unwind_set(&frame, UNWIND_RA, top[0]);
    unwind_set(&frame, UNWIND_PC, low + 4096);
    unwind_set(&frame, UNWIND_SP, low);
    assert_int_equal(unwind_step(&frame, &stack, &slot), UNWIND_CUT);
}

static void test_garbage(void **state)
{
    (void)state;
    static uint64_t words[512];
    uint64_t random = 88172645463325252u, low = 0x7ffe00000000u;
    uint64_t codes[] = {(uint64_t)(uintptr_t)plain + 4, (uint64_t)(uintptr_t)realigns + 40,
                        (uint64_t)(uintptr_t)qsort + 9, low + 64, 0};
    for (unsigned trial = 0; trial < 20000; trial++) {
        struct unwind_frame frame = {.valid = 0x1ffff, .interrupted = trial & 1};
        for (unsigned i = 0; i < 512 + UNWIND_N_REGS; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            uint64_t value = random % 3 == 0   ? codes[random / 3 % 5]
                             : random % 3 == 1 ? low + random / 3 % 5000
                                               : random;
            *(i < 512 ? &words[i] : &frame.reg[i - 512]) = value;
        }
        frame.reg[UNWIND_SP] = low + (random & 0xff8);
        struct unwind_stack stack = {.low = low, .high = low + sizeof words, .bytes = (const unsigned char *)words};
        struct stack_walk walk = {.n = 0};
        stacks_walk(&walk, &frame, &stack);
        assert_true(walk.n <= STACK_MAX_FRAMES);
    }
}

static int init(void **state)
{
    (void)state;
    stacks_learn_process();
    void *warm[4];
    backtrace(warm, 4);
    return unwind_init() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_through_a_signal_frame),
        cmocka_unit_test(test_short_window),
        cmocka_unit_test(test_trampoline),
        cmocka_unit_test(test_garbage),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
