/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/stack/search.h"
#include "wrap/record/process/loader.h"
#include "wrap/record/stack/call_site.h"
#include <link.h>
#include <sys/auxv.h>

enum { WORD = 8, SAVED_WORDS = 8, MAX_PARTS = 1024 };

/* The places of code, in order of address, as of the loader's counts. Not the dynamic linker's: it calls no kernel, but
 * leaves its frames where the kernel's block is, when it finds the library's routine for the first call. */
static struct {
    struct part {
        uint64_t low, high;
    } part[MAX_PARTS];
    unsigned n; /* MAX_PARTS: there may be more, and nothing is searched */
    struct loader_counts as_of;
} code;

static int add_parts(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    if (info->dlpi_addr == getauxval(AT_BASE))
        return 0;
    for (int i = 0; i < info->dlpi_phnum && code.n < MAX_PARTS; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        struct part part = {info->dlpi_addr + p->p_vaddr, info->dlpi_addr + p->p_vaddr + p->p_memsz};
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        unsigned at = code.n++;
        for (; at > 0 && code.part[at - 1].low > part.low; at--)
            code.part[at] = code.part[at - 1];
        code.part[at] = part;
    }
    return 0;
}

/* NULL = none. Nearly all words of a stack are not between the first part and the last. */
static const struct part *part_of(uint64_t address)
{
    unsigned low = 0, high = code.n;
    if (!code.n || address < code.part[0].low || address >= code.part[code.n - 1].high)
        return NULL;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (code.part[middle].high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code.n && address >= code.part[low].low ? &code.part[low] : NULL;
}

/* From `frame`, whose return address was read at `slot`. */
static bool arrives(struct unwind_frame frame, const struct unwind_stack *stack, const struct unwind_known *known,
                    uint64_t slot)
{
    uint64_t callee = 0;
    for (unsigned i = 0; i < UNWIND_MAX_FRAMES; i++) {
        struct unwind_place place = {0, 0};
        uint64_t pc = frame.reg[UNWIND_PC];
        if (!frame.interrupted && (!part_of(pc) || !unwind_place(pc, &place) || place.callee == CALL_SITE_NONE))
            return false;
        /* The call that returns here must go to the function that was left, as far as both are known. */
        if (!frame.interrupted && callee != 0 && place.callee != CALL_SITE_INDIRECT && place.callee != callee)
            return false;
        if (unwind_is_known(known, slot))
            return true;
        callee = place.function;
        if (unwind_step(&frame, stack, &slot) != UNWIND_FRAME)
            return false;
    }
    return false;
}

/* With the frame pointer as it is, then with each of the last words that were pushed before the kernel began. */
static bool is_proved(struct unwind_frame *frame, const struct unwind_stack *stack, const struct unwind_known *known,
                      uint64_t slot)
{
    uint64_t saved;
    if (arrives(*frame, stack, known, slot))
        return true;
    for (uint64_t at = slot - WORD; at >= stack->low && slot - at <= SAVED_WORDS * WORD; at -= WORD) {
        if (!window_read(stack, at, &saved) || saved <= slot || saved % WORD != 0)
            continue;
        unwind_set(frame, UNWIND_BP, saved);
        if (arrives(*frame, stack, known, slot))
            return true;
    }
    return false;
}

/* Of the words that lead into `part`, or into any other code. */
static bool search_part(struct unwind_frame *frame, const struct unwind_stack *stack, const struct part *part,
                        bool is_inside, uint64_t *slot)
{
    struct unwind_stack quiet = *stack;
    struct unwind_place place;
    uint64_t value;
    quiet.known = NULL;
    for (uint64_t at = frame->reg[UNWIND_SP]; at < stack->high && window_read(stack, at, &value); at += WORD) {
        value = unwind_bare(value);
        const struct part *into = part_of(value);
        if (!into || (into == part) != is_inside || !unwind_place(value, &place) || place.callee == CALL_SITE_NONE)
            continue;
        struct unwind_frame caller = *frame;
        caller.valid &= ~(1ull << UNWIND_RA | 1ull << UNWIND_SP);
        caller.valid |= UNWIND_BY_POINTER & ~(1ull << UNWIND_BP);
        caller.reg[UNWIND_PC] = value;
        caller.reg[UNWIND_SP] = at + WORD;
        caller.interrupted = false;
        if (!is_proved(&caller, &quiet, stack->known, at))
            continue;
        *frame = caller;
        *slot = at;
        return true;
    }
    return false;
}

/* What calls nobody leaves its return address in the register, where there is one. */
static bool search_register(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot)
{
    if (UNWIND_RA == UNWIND_PC || !frame->interrupted || !unwind_is_valid(frame, UNWIND_RA))
        return false;
    struct unwind_stack quiet = *stack;
    struct unwind_frame caller = *frame;
    quiet.known = NULL;
    caller.valid &= ~(1ull << UNWIND_RA);
    caller.reg[UNWIND_PC] = unwind_bare(frame->reg[UNWIND_RA]);
    caller.interrupted = false;
    if (!arrives(caller, &quiet, stack->known, 0))
        return false;
    *frame = caller;
    *slot = 0;
    return true;
}

static bool search_caller(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot)
{
    if (!unwind_is_valid(frame, UNWIND_SP) || frame->reg[UNWIND_SP] % WORD != 0)
        return false;
    struct loader_counts now = loader_count();
    if (now.n_adds != code.as_of.n_adds || now.n_subs != code.as_of.n_subs) {
        code.as_of = now;
        code.n = 0;
        dl_iterate_phdr(add_parts, NULL);
    }
    if (code.n == MAX_PARTS)
        return false;
    const struct part *own = part_of(frame->reg[UNWIND_PC]);
    return search_register(frame, stack, slot) || search_part(frame, stack, own, true, slot) ||
           search_part(frame, stack, own, false, slot);
}

enum unwind_result search_step(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot)
{
    return search_caller(frame, stack, slot) ? UNWIND_FRAME : unwind_step_pointers(frame, stack, slot);
}
