/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who called code without frame information? Kernels written in assembly (those of BLAS libraries, where programs spend
 * most of their time) have none, and may keep blocks of many kilobytes on the stack.
 *
 * Every word between the stack pointer and the end of the copied window is looked at, from the inside out. One is taken
 * for the return address when it follows a call instruction and the walk from it proves it: the walk arrives at a place
 * that is known to hold a return address, and every direct call on the way leads to the function that was walked out
 * of. Callers in the kernel's own library come first: nearly all are there, and what another library left behind may
 * fit by chance, where its return address stood in the slot that the kernel's caller has now. (The recorder's did: it
 * had called MPI from there.) No way leads through the dynamic linker. To end like a whole stack proves nothing: the
 * address of the program's very first function stands on the stack more than once. Addresses that calls before left
 * behind fail: where their walk comes back to a living frame, the call there leads to another function. Registers that
 * the kernel may have changed are taken as they are. A frame pointer may also be what the kernel saved beside its
 * return address. A wrong one seldom arrives. A frame left behind that is placed by its frame pointer fits when one of
 * those words points to a living frame whose call went through a pointer.
 *
 * On aarch64 a kernel that calls nobody has its return address in a register, which is tried first.
 *
 * Cost: a comparison for most words, some ten nanoseconds a frame for those that follow a call. One thread at a time.
 */
#pragma once
#include "wrap/record/stack/unwind.h"

/* Where unwind_step came to UNWIND_BARE: moves `frame` to the caller and sets `slot`, where the return address was
 * read. If none is proved the frame pointer leads on. */
enum unwind_result search_step(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot);
