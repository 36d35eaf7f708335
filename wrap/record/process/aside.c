/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One stack is kept. A thread that finds it taken, also by itself, makes one for once. Nobody waits for anybody.
 */
#include "wrap/record/process/aside.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

/* Memcheck takes a stack pointer that moves by less than 2 MB for the same stack: nothing lies nearer to ours. */
enum { STACK_BYTES = 256 << 10, APART_BYTES = 4 << 20, MAPPED_BYTES = STACK_BYTES + 2 * APART_BYTES };

/* Calls work(context) with the stack pointer at `top`. Debuggers and samplers find the way back by the frame pointer.
 */
void aside_call(void (*work)(void *context), void *context, char *top) __attribute__((visibility("hidden")));
#if defined(__x86_64__)
#define ASIDE_CALL                                                                                                     \
    "    .cfi_startproc\n"                                                                                             \
    "    pushq %rbp\n"                                                                                                 \
    "    .cfi_def_cfa_offset 16\n"                                                                                     \
    "    .cfi_offset %rbp, -16\n"                                                                                      \
    "    movq %rsp, %rbp\n"                                                                                            \
    "    .cfi_def_cfa_register %rbp\n"                                                                                 \
    "    movq %rdx, %rsp\n"                                                                                            \
    "    movq %rdi, %rax\n"                                                                                            \
    "    movq %rsi, %rdi\n"                                                                                            \
    "    call *%rax\n"                                                                                                 \
    "    leave\n"                                                                                                      \
    "    .cfi_def_cfa %rsp, 8\n"                                                                                       \
    "    ret\n"                                                                                                        \
    "    .cfi_endproc\n"
#elif defined(__aarch64__)
#define ASIDE_CALL                                                                                                     \
    "    .cfi_startproc\n"                                                                                             \
    "    stp x29, x30, [sp, -16]!\n"                                                                                   \
    "    .cfi_def_cfa_offset 16\n"                                                                                     \
    "    .cfi_offset 29, -16\n"                                                                                        \
    "    .cfi_offset 30, -8\n"                                                                                         \
    "    mov x29, sp\n"                                                                                                \
    "    .cfi_def_cfa_register 29\n"                                                                                   \
    "    mov x9, x0\n"                                                                                                 \
    "    mov x0, x1\n"                                                                                                 \
    "    mov sp, x2\n"                                                                                                 \
    "    blr x9\n"                                                                                                     \
    "    mov sp, x29\n"                                                                                                \
    "    .cfi_def_cfa_register 31\n"                                                                                   \
    "    ldp x29, x30, [sp], 16\n"                                                                                     \
    "    .cfi_def_cfa_offset 0\n"                                                                                      \
    "    .cfi_restore 29\n"                                                                                            \
    "    .cfi_restore 30\n"                                                                                            \
    "    ret\n"                                                                                                        \
    "    .cfi_endproc\n"
#endif
__asm__(".pushsection .text\n"
        ".balign 4\n"
        ".globl aside_call\n"
        ".hidden aside_call\n"
        ".type aside_call, @function\n"
        "aside_call:\n" ASIDE_CALL ".size aside_call, . - aside_call\n"
        ".popsection\n");

static _Atomic(char *) kept;

/* NULL: there is no memory. */
static char *stack_make(void)
{
    char *mapped = mmap(NULL, MAPPED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    if (mprotect(mapped + APART_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) == 0)
        return mapped + APART_BYTES;
    munmap(mapped, MAPPED_BYTES);
    return NULL;
}

void aside_run(void (*work)(void *context), void *context)
{
    int saved = errno;
    char *stack = atomic_exchange(&kept, NULL);
    if (!stack)
        stack = stack_make();
    if (!stack) {
        errno = saved;
        work(context);
        return;
    }
    errno = saved;
    aside_call(work, context, stack + STACK_BYTES);
    saved = errno;
    stack = atomic_exchange(&kept, stack);
    if (stack)
        munmap(stack - APART_BYTES, MAPPED_BYTES);
    errno = saved;
}
