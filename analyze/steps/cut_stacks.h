/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks of which the outer part was not recorded: a sample copies the top of the stack, and a kernel may keep blocks
 * of data there that are larger than the copy (Eigen, arrays of Fortran). Without callers a row would name a loop of
 * the library, not the user's. If all whole stacks lead to the same routine by one way, the cut ones came that way,
 * too. A recursion may be deeper than stacks are recorded, and leads to its routines by many ways: then the one counts
 * that leads into it.
 */
#pragma once
#include "analyze/code/code.h"
#include "analyze/trace/trace.h"

/* Gives the outermost frames of such stacks (is_cut) the caller that their routine has in all other stacks. Those whose
 * routine is called in several ways, or is nowhere seen with a caller, stay as they are. `code` may be NULL. */
void cut_stacks_join(struct trace *trace, struct code *code);
