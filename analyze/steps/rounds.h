/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops that are around calls of MPI, on all of their call paths, and which of them a process has left between one
 * call and the next. A loop over neighbours makes several calls in a step, and the loop over steps goes on: who calls
 * something outside of the inner loop has left it. A loop is told by its place and by the path to the routine that it
 * is in; of two paths, the loops in common are the outermost.
 */
#pragma once
#include "analyze/steps/sites.h"

struct rounds {
    const struct sites *sites;
    struct intern loops;  /* (context of the caller, place) */
    VEC(uint32_t) around; /* of one site after the other, the innermost loop first */
    VEC(uint32_t) begins; /* by site: where its loops begin; and the end of the last */
};

/* All sites are known. */
void rounds_begin(struct rounds *rounds, const struct sites *sites);
void rounds_release(struct rounds *rounds);
/* The innermost loop around the call; TRACE_NONE. */
uint32_t rounds_innermost(const struct rounds *rounds, uint32_t site);
/* Loops around a call that are not around the next one, the innermost first. Returns how many. */
size_t rounds_left(const struct rounds *rounds, uint32_t from, uint32_t to, const uint32_t **loops);
