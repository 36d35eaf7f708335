/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a jump of setjmp and longjmp leads. The C library keeps addresses in the buffer mangled with a secret of the
 * process.
 */
#pragma once
#include <setjmp.h>
#include <stdint.h>

#if defined(__x86_64__)

static inline uint64_t jump_stack_pointer(const struct __jmp_buf_tag *env)
{
    enum { SLOT = 6 };
    uint64_t value = (uint64_t)env->__jmpbuf[SLOT];
    __asm__("ror $0x11, %0\n\txor %%fs:0x30, %0" : "+r"(value));
    return value;
}

#elif defined(__aarch64__)

/* The secret is what a buffer of our own holds beside the stack pointer that is known. */
static __attribute__((noinline)) uint64_t jump_stack_pointer(const struct __jmp_buf_tag *env)
{
    enum { SLOT = 13 };
    struct __jmp_buf_tag ours[1];
    uint64_t sp;
    if (_setjmp(ours) != 0)
        return 0;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return (uint64_t)env->__jmpbuf[SLOT] ^ (uint64_t)ours->__jmpbuf[SLOT] ^ sp;
}

#endif
