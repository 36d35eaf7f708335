/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into the test programs, not counted itself: single steps (the trap flag of x86-64). Writes to the file
 * $COUNTS_STEPS for each interval:
 *     S                 an interval ends
 *     P address n       the instruction at this link-time address was executed n times
 */
#include "tests/run/counts/measured/steps.h"
#include "tests/run/counts/sync.h"
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { TRAP_FLAG = 0x100, MOST_BYTES = 1 << 20 };
extern const char __executable_start, etext;
static unsigned executed[MOST_BYTES]; /* by place in the program's code */

static void on_step(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    uint64_t address = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    uint64_t at = address - (uint64_t)(uintptr_t)&__executable_start;
    if (at < MOST_BYTES && address < (uint64_t)(uintptr_t)&etext)
        executed[at]++;
}

static void end_interval(void)
{
    static FILE *out;
    const char *path = getenv("COUNTS_STEPS");
    if (!out && !(out = fopen(path ? path : "/dev/null", "w")))
        abort();
    fprintf(out, "S\n");
    for (unsigned at = 0; at < MOST_BYTES; at++)
        if (executed[at])
            fprintf(out, "P %x %u\n", at, executed[at]);
    fflush(out);
    memset(executed, 0, sizeof executed);
    counts_sync();
}

void steps_begin(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_step;
    sigaction(SIGTRAP, &action, NULL);
    end_interval();
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
}

void steps_end(void)
{
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG);
    end_interval();
}
