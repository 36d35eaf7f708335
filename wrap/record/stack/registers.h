/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers of the two architectures that the recorder runs on, by their DWARF numbers. All that the unwinder and the
 * samplers must know of an architecture stands here; instructions are read in call_site.c.
 *
 * On x86-64 a call pushes its return address, and the frame ends behind it. On aarch64 a call puts it into a register
 * (x30). A routine that calls others stores x29 and x30 as a pair, anywhere in its frame, and lets x29 point to them.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__)

enum { UNWIND_BP = 6, UNWIND_SP = 7, UNWIND_PC = 16, UNWIND_RA = UNWIND_PC, UNWIND_N_REGS };
enum { UNWIND_N_SAVED = 6, UNWIND_N_SAMPLED = 8 };
/* Registers that a routine leaves as they were, the frame pointer first. */
#define UNWIND_SAVED {UNWIND_BP, 3, 12, 13, 14, 15}
/* Those in the samples of the kernel: their bits in asm/perf_regs.h, and in the same order their DWARF numbers. */
#define UNWIND_SAMPLED_BITS (1u << 1 | 1u << 6 | 1u << 7 | 1u << 8 | 0xfu << 20)
#define UNWIND_SAMPLED {3, UNWIND_BP, UNWIND_SP, UNWIND_PC, 12, 13, 14, 15}
/* What is known of the caller that a frame pointer leads to. */
#define UNWIND_BY_POINTER (1ull << UNWIND_PC | 1ull << UNWIND_BP | 1ull << UNWIND_SP)
/* The code that a signal handler returns to has frame information. */
enum { UNWIND_SIGNAL_REGS = 0 };
#define UNWIND_SIGNAL_CODE {0, 0}

#elif defined(__aarch64__)

enum { UNWIND_BP = 29, UNWIND_RA = 30, UNWIND_SP = 31, UNWIND_PC = 32, UNWIND_N_REGS };
enum { UNWIND_N_SAVED = 11, UNWIND_N_SAMPLED = 14 };
#define UNWIND_SAVED {UNWIND_BP, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28}
#define UNWIND_SAMPLED_BITS (0x3fffull << 19)
#define UNWIND_SAMPLED {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, UNWIND_BP, UNWIND_RA, UNWIND_SP, UNWIND_PC}
/* Not the stack pointer: it is higher than the pair. */
#define UNWIND_BY_POINTER (1ull << UNWIND_PC | 1ull << UNWIND_BP)
/* The code that a signal handler returns to has no frame information: "mov x8, 139; svc 0". Above its stack pointer
 * lie a siginfo_t and a ucontext_t, with x0 to x30, the stack pointer and the program counter that were interrupted. */
enum { UNWIND_SIGNAL_REGS = 128 + offsetof(ucontext_t, uc_mcontext.regs) };
#define UNWIND_SIGNAL_CODE {0xd2801168, 0xd4000001}

#else
#error "whywait records on x86-64 and aarch64; elsewhere, build the folder analyze alone"
#endif

struct unwind_frame {
    uint64_t reg[UNWIND_N_REGS];
    uint64_t valid;   /* bit r: reg[r] is known */
    bool interrupted; /* PC is the next instruction itself, not a return address */
};

static inline bool unwind_is_valid(const struct unwind_frame *frame, unsigned reg)
{
    return frame->valid >> reg & 1;
}

static inline void unwind_set(struct unwind_frame *frame, unsigned reg, uint64_t value)
{
    frame->reg[reg] = value;
    frame->valid |= 1ull << reg;
}

/* The interrupted frame of which `value` are the registers UNWIND_SAMPLED. */
static inline void unwind_from_sample(struct unwind_frame *frame, const uint64_t value[UNWIND_N_SAMPLED])
{
    static const unsigned char number[UNWIND_N_SAMPLED] = UNWIND_SAMPLED;
    frame->valid = 0;
    for (unsigned i = 0; i < UNWIND_N_SAMPLED; i++)
        unwind_set(frame, number[i], value[i]);
    frame->interrupted = true;
}

#if defined(__x86_64__)

/* The registers here; the walk must end before the calling function returns. */
static inline __attribute__((always_inline)) void unwind_here(struct unwind_frame *frame)
{
    uint64_t value[UNWIND_N_SAMPLED];
    __asm__ volatile("lea 0(%%rip), %%rax\n\t"
                     "mov %%rbx, (%1)\n\t"
                     "mov %%rbp, 8(%1)\n\t"
                     "mov %%rsp, 16(%1)\n\t"
                     "mov %%rax, 24(%1)\n\t"
                     "mov %%r12, 32(%1)\n\t"
                     "mov %%r13, 40(%1)\n\t"
                     "mov %%r14, 48(%1)\n\t"
                     "mov %%r15, 56(%1)"
                     : "=m"(value)
                     : "r"(value)
                     : "rax");
    unwind_from_sample(frame, value);
}

/* In a signal handler: the frame that was interrupted. */
static inline void unwind_from_signal(struct unwind_frame *frame, const ucontext_t *context)
{
    const greg_t *g = context->uc_mcontext.gregs;
    const uint64_t value[UNWIND_N_SAMPLED] = {(uint64_t)g[REG_RBX], (uint64_t)g[REG_RBP], (uint64_t)g[REG_RSP],
                                              (uint64_t)g[REG_RIP], (uint64_t)g[REG_R12], (uint64_t)g[REG_R13],
                                              (uint64_t)g[REG_R14], (uint64_t)g[REG_R15]};
    unwind_from_sample(frame, value);
}

/* A return address as it is stored, without what a processor adds to it. */
static inline uint64_t unwind_bare(uint64_t address)
{
    return address;
}

#else

static inline __attribute__((always_inline)) void unwind_here(struct unwind_frame *frame)
{
    uint64_t value[UNWIND_N_SAMPLED];
    __asm__ volatile("stp x19, x20, [%1]\n\t"
                     "stp x21, x22, [%1, 16]\n\t"
                     "stp x23, x24, [%1, 32]\n\t"
                     "stp x25, x26, [%1, 48]\n\t"
                     "stp x27, x28, [%1, 64]\n\t"
                     "stp x29, x30, [%1, 80]\n\t"
                     "mov x16, sp\n\t"
                     "adr x17, .\n\t"
                     "stp x16, x17, [%1, 96]"
                     : "=m"(value)
                     : "r"(value)
                     : "x16", "x17");
    unwind_from_sample(frame, value);
}

static inline void unwind_from_signal(struct unwind_frame *frame, const ucontext_t *context)
{
    const mcontext_t *m = &context->uc_mcontext;
    uint64_t value[UNWIND_N_SAMPLED];
    for (unsigned i = 0; i < UNWIND_N_SAMPLED - 2; i++)
        value[i] = m->regs[19 + i];
    value[UNWIND_N_SAMPLED - 2] = m->sp;
    value[UNWIND_N_SAMPLED - 1] = m->pc;
    unwind_from_sample(frame, value);
}

/* "xpaclri": takes the signature off x30, and does nothing where processors know of none. */
static inline uint64_t unwind_bare(uint64_t address)
{
    register uint64_t x30 __asm__("x30") = address;
    __asm__("hint #7" : "+r"(x30));
    return x30;
}

#endif
