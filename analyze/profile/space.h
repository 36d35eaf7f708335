/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where memory is allocated, from bins of bytes (recorded with --space): every point of the program at which counted
 * code asks for memory, with what each process asked for there. Copies of one source line in one routine (inlined,
 * unrolled, from templates) are one point. Routines that allocate for others (xmalloc) have no bytes of their own: what
 * they ask for is their callers', as far as these were built to count.
 *
 * Of a cause that is a loop, what is allocated in it and in the loops inside it is compared between the late ranks and
 * the others; of a routine, what is allocated in no loop of it.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/counts/executions.h"

/* Fills in the allocation points of the analysis from the packed bins of the whole run, by atom_key(rank, counter). */
void space_find(struct analysis *analysis, struct executions *executions, const struct sparse *bins);
/* Adds the bytes to the ranks of every cause. Causes and steps are complete. */
void space_add_to_causes(struct analysis *analysis);
