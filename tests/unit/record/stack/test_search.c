/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks that begin in code without frame information: who called it is searched on the copied stack and proved. And the
 * reading of call instructions that this rests on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/stack/call_site.h"
#include "wrap/record/stack/pages.h"
#include "wrap/record/stack/stacks.h"
#include <alloca.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 32 << 10, STALE_DEPTH = 40 };

/* A kernel as libraries have them: registers pushed, a large block on an aligned stack, the frame pointer used for
 * numbers. It tells its registers, as a sample would find them. */
void kernel_without_table(void);
void kernel_that_spoils_nothing(void);
extern const char kernel_inside[], plain_kernel_inside[];
uint64_t kernel_sp, kernel_bp;
void kernel_copies(void);
__asm__(".text\n"
        "kernel_without_table:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    mov %rsp, %rbx\n"
        "    sub $12288, %rsp\n"
        "    and $-4096, %rsp\n"
        "    mov $0x3ff0000000000000, %rbp\n"
        "    mov %rsp, kernel_sp(%rip)\n"
        "    mov %rbp, kernel_bp(%rip)\n"
        "kernel_inside:\n"
        "    call kernel_copies\n"
        "    mov %rbx, %rsp\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        "kernel_that_spoils_nothing:\n"
        "    sub $1032, %rsp\n"
        "    mov %rsp, kernel_sp(%rip)\n"
        "    mov %rbp, kernel_bp(%rip)\n"
        "plain_kernel_inside:\n"
        "    call kernel_copies\n"
        "    add $1032, %rsp\n"
        "    ret\n");

static unsigned char copy[COPY_BYTES];
static size_t n_copied;
static struct stack_walk walked;
static volatile int sink;

static __attribute__((no_sanitize("address"))) uint64_t word_at(uint64_t address)
{
    return *(volatile uint64_t *)(uintptr_t)address;
}

void kernel_copies(void)
{
    extern char **environ;
    uint64_t end = (uint64_t)(uintptr_t)environ & ~7ull;
    n_copied = end - kernel_sp < COPY_BYTES ? end - kernel_sp : COPY_BYTES;
    for (size_t i = 0; i < n_copied; i += sizeof end)
        memcpy(copy + i, &(uint64_t){word_at(kernel_sp + i)}, sizeof end);
}

/* `known`: a place that certainly holds a return address; 0 = none, and nothing is searched. */
static void walk_from(const char *pc, uint64_t known_slot)
{
    static struct stack_pages pages;
    struct unwind_known known = {.n = 1, .slot = {known_slot}};
    struct unwind_frame frame = {.valid = 1u << UNWIND_PC | 1u << UNWIND_SP | 1u << UNWIND_BP, .interrupted = true};
    frame.reg[UNWIND_PC] = (uint64_t)(uintptr_t)pc;
    frame.reg[UNWIND_SP] = kernel_sp;
    frame.reg[UNWIND_BP] = kernel_bp;
    pages.n = 0;
    struct unwind_stack stack = {.low = kernel_sp,
                                 .high = kernel_sp + n_copied,
                                 .bytes = copy,
                                 .beyond = &pages,
                                 .known = known_slot ? &known : NULL};
    walked.n = 1;
    walked.flags = 0;
    walked.address[0] = frame.reg[UNWIND_PC];
    walked.slot[0] = 0;
    stacks_walk(&walked, &frame, &stack);
}

/* Each names itself by the address that its callee returns to. */
static uint64_t in_moving, in_top, top_slot, above_slot;

static __attribute__((noipa)) void plain(void (*kernel)(void))
{
    kernel();
    sink++;
}

/* Unchecked: AddressSanitizer lets a block of alloca keep the marks of what stood there before. */
static __attribute__((noipa, no_sanitize("address"))) void moves_the_stack(void (*kernel)(void), int n)
{
    volatile char *space = alloca((size_t)n + 100);
    space[0] = 1;
    in_moving = (uint64_t)(uintptr_t)__builtin_return_address(0);
    kernel();
    sink += space[0];
}

/* Leaves return addresses all over the stack below its caller. Without a frame pointer: a frame that has one is placed
 * by a saved word, which fits by chance (search.h). */
static __attribute__((noipa, optimize("omit-frame-pointer"))) int leaves_addresses(int depth)
{
    volatile char space[200];
    space[0] = (char)depth;
    if (depth > 0)
        sink += leaves_addresses(depth - 1);
    sink++;
    return space[0];
}

static __attribute__((noipa, optimize("no-omit-frame-pointer"))) void top(bool moves)
{
    in_top = (uint64_t)(uintptr_t)__builtin_return_address(0);
    top_slot = (uint64_t)(uintptr_t)__builtin_frame_address(0) + sizeof top_slot;
    sink += leaves_addresses(STALE_DEPTH);
    if (moves)
        moves_the_stack(kernel_without_table, 300);
    else
        plain(kernel_without_table);
    sink++;
}

static bool walk_has(uint64_t address)
{
    for (unsigned i = 0; i < walked.n; i++)
        if (walked.address[i] == address)
            return true;
    return false;
}

static bool walk_enters(uint64_t function)
{
    struct unwind_place place;
    for (unsigned i = 1; i < walked.n; i++)
        if (unwind_place(walked.address[i], &place) && place.function == function)
            return true;
    return false;
}

static uint64_t address_of(void (*function)(void))
{
    return (uint64_t)(uintptr_t)function;
}

static void test_kernel(void **state)
{
    (void)state;
    top(false);
    walk_from(kernel_inside, top_slot);
    assert_int_equal(walked.flags, 0);
    assert_true(walk_enters(address_of((void (*)(void))plain)));
    assert_true(walk_has(in_top));
    assert_false(walk_enters(address_of((void (*)(void))leaves_addresses)));
    walk_from(kernel_inside, 0);
    assert_int_equal(walked.flags, WW_STACK_CUT);
    assert_int_equal(walked.n, 1);
}

static uint64_t in_library, library_frame_bytes;

/* By the library that calls it: where that goes on, and how far from there its own return address stands. */
static __attribute__((noipa, no_sanitize("address"))) int sees_caller(const void *a, const void *b)
{
    extern char **environ;
    struct unwind_frame frame;
    uint64_t here = 0, further_out = 0;
    unwind_here(&frame);
    struct unwind_stack stack = {.low = frame.reg[UNWIND_SP],
                                 .high = (uint64_t)(uintptr_t)environ & ~7ull,
                                 .bytes = (const unsigned char *)(uintptr_t)frame.reg[UNWIND_SP]};
    assert_int_equal(unwind_step(&frame, &stack, &here), UNWIND_FRAME);
    in_library = frame.reg[UNWIND_PC];
    assert_int_equal(unwind_step(&frame, &stack, &further_out), UNWIND_FRAME);
    library_frame_bytes = further_out - here;
    return *(const int *)a - *(const int *)b;
}

static __attribute__((noipa, optimize("no-omit-frame-pointer"))) void calls_plain(void)
{
    top_slot = (uint64_t)(uintptr_t)__builtin_frame_address(0) + sizeof top_slot;
    plain(kernel_that_spoils_nothing);
    sink++;
}

/* What another library left behind may fit: its return address stood where the kernel's caller has its own now. A
 * kernel is its own library's. */
static void test_frame_of_another_library(void **state)
{
    (void)state;
    const int one = 1;
    size_t n = 1;
    assert_ptr_equal(lfind(&one, &one, &n, sizeof one, sees_caller), &one);
    calls_plain();
    walk_from(plain_kernel_inside, top_slot);
    uint64_t left_at = walked.slot[1] - library_frame_bytes;
    assert_true(left_at > kernel_sp);
    memset(copy, 0, left_at - kernel_sp);
    memcpy(copy + (left_at - kernel_sp), &in_library, sizeof in_library);
    for (uint64_t at = left_at + sizeof at; at < walked.slot[1]; at += sizeof at) /* registers that it had saved */
        memcpy(copy + (at - kernel_sp), &kernel_bp, sizeof kernel_bp);
    walk_from(plain_kernel_inside, top_slot);
    assert_int_equal(walked.flags, 0);
    assert_true(walk_enters(address_of((void (*)(void))plain)));
    assert_false(walk_has(in_library));
}

/* Its caller is addressed through the frame pointer, which the kernel has put away. */
static void test_frame_pointer(void **state)
{
    (void)state;
    top(true);
    walk_from(kernel_inside, top_slot);
    assert_int_equal(walked.flags, 0);
    assert_true(walk_enters(address_of((void (*)(void))moves_the_stack)));
    assert_true(walk_has(in_moving));
    assert_true(walk_has(in_top));
}

/* Not the frame pointer's own caller, where the kernel leaves that alone. */
static __attribute__((noipa, optimize("no-omit-frame-pointer"))) void has_frame_pointer(void)
{
    above_slot = (uint64_t)(uintptr_t)__builtin_frame_address(0) + sizeof above_slot;
    kernel_that_spoils_nothing();
    sink++;
}

static void test_kernel_without_frame(void **state)
{
    (void)state;
    has_frame_pointer();
    walk_from(plain_kernel_inside, above_slot);
    assert_int_equal(walked.flags, 0);
    assert_true(walk_enters(address_of(has_frame_pointer)));
}

/* A walk that ends well proves nothing by itself: the start of the program is found on the stack more than once. */
static void test_unproved(void **state)
{
    (void)state;
    top(false);
    walk_from(kernel_inside, top_slot + 8);
    assert_int_equal(walked.n, 1);
    assert_int_equal(walked.flags, WW_STACK_CUT);
}

/* What is proved counts, also where further out nothing can be walked. */
static void test_known_place(void **state)
{
    (void)state;
    top(false);
    size_t from = top_slot + sizeof top_slot - kernel_sp;
    memset(copy + from, 0x11, n_copied - from);
    walk_from(kernel_inside, top_slot);
    assert_int_equal(walked.flags, WW_STACK_CUT);
    assert_true(walk_has(in_top));
}

/* A stack of nothing but return addresses and pointers into itself: it ends. */
static void test_garbage(void **state)
{
    (void)state;
    top(false);
    walk_from(kernel_inside, top_slot);
    uint64_t words[] = {walked.address[1], walked.address[2], kernel_sp + 64, (uint64_t)(uintptr_t)qsort + 9, 7};
    uint64_t random = 88172645463325252u;
    for (unsigned trial = 0; trial < 50; trial++) {
        for (size_t i = 0; i + sizeof random <= sizeof copy; i += sizeof random) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            memcpy(copy + i, &words[random % 5], sizeof random);
        }
        walk_from(kernel_inside, top_slot);
        assert_true(walked.n <= STACK_MAX_FRAMES);
    }
}

void called_directly(void);
extern const char after_direct[], after_register[], after_r12[], after_offset[], after_stack[], after_table[],
    after_stub[], after_none[];
__asm__(".text\n"
        ".type called_directly, @function\n"
        "called_directly:\n"
        "    call kernel_copies\n"
        "after_direct:\n"
        "    call *%rax\n"
        "after_register:\n"
        "    call *(%r12)\n"
        "after_r12:\n"
        "    call *0x100(%rbx)\n"
        "after_offset:\n"
        "    call *16(%rsp)\n"
        "after_stack:\n"
        "    call *qsort@GOTPCREL(%rip)\n"
        "after_table:\n"
        "    call qsort@PLT\n"
        "after_stub:\n"
        "    mov %rax, %rbx\n"
        "    mov %rax, %rbx\n"
        "    mov %rax, %rbx\n"
        "after_none:\n"
        "    ret\n");

static uint64_t callee_before(const char *address)
{
    struct unwind_place place = {0, 0};
    assert_true(unwind_place((uint64_t)(uintptr_t)address, &place));
    return place.callee;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void test_call_sites(void **state)
{
    (void)state;
    int values[] = {2, 1};
    qsort(values, 2, sizeof *values, compare); /* so that the loader has looked it up */
    assert_int_equal(callee_before(after_direct), (uint64_t)(uintptr_t)kernel_copies);
    assert_int_equal(callee_before(after_register), CALL_SITE_INDIRECT);
    assert_int_equal(callee_before(after_r12), CALL_SITE_INDIRECT);
    assert_int_equal(callee_before(after_offset), CALL_SITE_INDIRECT);
    assert_int_equal(callee_before(after_stack), CALL_SITE_INDIRECT);
    assert_int_equal(callee_before(after_table), (uint64_t)(uintptr_t)qsort);
    uint64_t through_stub = callee_before(after_stub);
    assert_true(through_stub == (uint64_t)(uintptr_t)qsort || through_stub == CALL_SITE_INDIRECT);
    assert_int_equal(callee_before(after_none), CALL_SITE_NONE);
}

static int init(void **state)
{
    (void)state;
    stacks_learn_process();
    return unwind_init() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel),        cmocka_unit_test(test_frame_of_another_library),
        cmocka_unit_test(test_frame_pointer), cmocka_unit_test(test_kernel_without_frame),
        cmocka_unit_test(test_unproved),      cmocka_unit_test(test_known_place),
        cmocka_unit_test(test_garbage),       cmocka_unit_test(test_call_sites),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
