/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops that are around calls of MPI, on all of their call paths, and which of them a process has left between one
 * call and the next. A loop over neighbours makes several calls in a step, and the loop over steps goes on: who calls
 * something outside of the inner loop has left it. A loop is told by its place, by the path to the routine that it is
 * in, and by the loop around it.
 */
#pragma once
#include "analyze/steps/sites.h"

struct rounds {
    struct intern loops;     /* (loop around it, context of the caller, place): a loop comes after the one around it */
    VEC(uint32_t) outer;     /* by loop: the next one around it; TRACE_NONE */
    VEC(uint32_t) innermost; /* by site: the innermost loop around its calls; TRACE_NONE */
};

/* All sites are known. */
void rounds_begin(struct rounds *rounds, const struct sites *sites);
void rounds_release(struct rounds *rounds);
/* Whether `loop` is around `inner`, or the same; TRACE_NONE, no loop, is around all. */
bool rounds_is_around(const struct rounds *rounds, uint32_t loop, uint32_t inner);
