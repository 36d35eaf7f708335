/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks call stacks of optimised code by the call frame information (.eh_frame) of the loaded modules, on the
 * live stack of the calling thread as well as on a copy of registers and a stack window that the kernel took.
 *
 *     struct unwind_frame frame = ...;                 // the innermost frame
 *     while (unwind_step(&frame, &stack, &slot) == UNWIND_FRAME)
 *         ... frame.reg[UNWIND_PC] is the next return address, read from address `slot` ...
 *
 * Rules found for an address are kept in a table shared by all threads, so that a step costs some ten nanoseconds once
 * its address was seen. Nothing is ever read outside `stack` and the modules' own segments. If an address has no frame
 * information the frame-pointer chain is tried, and accepted only if it leads into a module.
 *
 * Re-entrance: any thread; takes the loader's lock when an address is seen for the first time, never malloc. Not for
 * signal handlers.
 */
#pragma once
#include "wrap/record/stack/registers.h"
#include "wrap/record/stack/window.h"
#include <stdbool.h>
#include <stdint.h>

enum unwind_result {
    UNWIND_FRAME, /* moved to the caller */
    UNWIND_END,   /* that was the outermost frame */
    UNWIND_CUT,   /* cannot go on: window exceeded, no information, or an inconsistent stack */
    UNWIND_BARE,  /* no information, and stack->known may prove who called (search.h); otherwise UNWIND_CUT or what
                     the frame pointer tells */
};

/* False when the table of rules cannot be allocated (nothing can be walked then). Once. */
bool unwind_init(void);
enum unwind_result unwind_step(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot);
/* By the frame pointer alone. */
enum unwind_result unwind_step_pointers(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot);
/* Modules were unloaded: what is known about addresses no longer holds. */
void unwind_forget(void);
/* True when `pc` lies in the code of a loaded module. */
bool unwind_is_code(uint64_t pc);
/* Facts about a return address: the call before it (call_site.h), and where the function that it lies in begins; 0 =
 * there is no frame information. False when it lies in no module. */
struct unwind_place {
    uint64_t callee, function;
};
bool unwind_place(uint64_t return_address, struct unwind_place *place);
/* Around fork(), so that a child never inherits a taken lock. */
void unwind_before_fork(void);
void unwind_after_fork(void);
