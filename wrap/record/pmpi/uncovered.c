/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call that goes through a slot of the dynamic linker (slots.h) is sent through a stub. It adds one and jumps on, and
 * leaves the stack and every register as they were, but those that any stub of the linkage table may use.
 */
#include "wrap/record/pmpi/uncovered.h"
#include "wrap/never_waits.h"
#include "wrap/record/pmpi/next.h"
#include "wrap/record/pmpi/slots.h"
#include "wrap/record/process/say.h"
#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define N_STUBS 64
#define STUB_BYTES 64

/* The stubs name these: targets are filled before a stub is used. */
__attribute__((visibility("hidden"), used)) uint64_t uncovered_calls[N_STUBS];
__attribute__((visibility("hidden"), used)) void *uncovered_targets[N_STUBS];
static char names[N_STUBS][64];
static unsigned n_names;

#if defined(__x86_64__)
#define STUB                                                                                                           \
    "lock incq uncovered_calls+at(%rip)\n"                                                                             \
    "jmp *uncovered_targets+at(%rip)\n"
#elif defined(__aarch64__)
#define STUB                                                                                                           \
    "adrp x16, uncovered_calls+at\n"                                                                                   \
    "add x16, x16, :lo12:uncovered_calls+at\n"                                                                         \
    "1: ldxr x17, [x16]\n"                                                                                             \
    "add x17, x17, 1\n"                                                                                                \
    "stxr w15, x17, [x16]\n"                                                                                           \
    "cbnz w15, 1b\n"                                                                                                   \
    "adrp x16, uncovered_targets+at\n"                                                                                 \
    "ldr x16, [x16, :lo12:uncovered_targets+at]\n"                                                                     \
    "br x16\n"
#endif
extern __attribute__((visibility("hidden"))) const char uncovered_stubs[];
__asm__(".text\n"
        ".balign 64\n"
        ".globl uncovered_stubs\n"
        ".hidden uncovered_stubs\n"
        ".type uncovered_stubs, %function\n"
        "uncovered_stubs:\n"
        ".set at, 0\n"
        ".rept 64\n" STUB ".balign 64\n"
        ".set at, at+8\n"
        ".endr\n"
        ".size uncovered_stubs, .-uncovered_stubs\n");

static void *stub_of(unsigned i)
{
    return (void *)(uintptr_t)(uncovered_stubs + (size_t)i * STUB_BYTES);
}

/* "MPI_Send", not "MPI_COMM_DUP_FN": that is handed to MPI, and compared there. */
static bool is_function_of_mpi(const char *name)
{
    const char *first = !strncmp(name, "MPI_", 4) ? name + 4 : !strncmp(name, "MPIX_", 5) ? name + 5 : "";
    return *first && (islower((unsigned char)first[1]) || first[1] == '_') && !never_waits(name);
}

static bool is_of_mpi(const char *object)
{
    const char *slash = strrchr(object, '/'), *base = slash ? slash + 1 : object;
    return !strncmp(base, "libmpi", 6) || !strncmp(base, "libpmpi", 7) || !strncmp(base, "libopen_mpi", 11);
}

static void *count_calls(const struct slot *slot, void *ourselves)
{
    if (!is_function_of_mpi(slot->name) || is_of_mpi(slot->object) || dlsym(ourselves, slot->name))
        return NULL;
    void *target = dlsym(RTLD_DEFAULT, slot->name);
    unsigned i = 0;
    while (i < n_names && strncmp(names[i], slot->name, sizeof *names - 1) != 0)
        i++;
    if (!target || i == N_STUBS)
        return NULL;
    if (i == n_names) {
        snprintf(names[n_names++], sizeof *names, "%s", slot->name);
        uncovered_targets[i] = target;
    }
    return stub_of(i);
}

void uncovered_watch(void)
{
    Dl_info ours;
    void *ourselves = dladdr(&uncovered_targets, &ours) ? dlopen(ours.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!ourselves)
        return;
    slots_rewrite(count_calls, ourselves);
    dlclose(ourselves);
}

/* In words of one size, so that ranks that differ by little share a note. */
static const char *how_many(uint64_t n)
{
    return n == 1     ? "one call"
           : n < 10   ? "a few calls"
           : n < 100  ? "dozens of calls"
           : n < 1000 ? "hundreds of calls"
                      : "thousands of calls";
}

void uncovered_note(void)
{
    for (unsigned i = 0; i < n_names; i++) {
        uint64_t n = __atomic_load_n(&uncovered_calls[i], __ATOMIC_RELAXED);
        if (n)
            say_note("not recorded: %s (%s); the recorder does not know this function, and time in it counts as "
                     "computing",
                     names[i], how_many(n));
    }
}
