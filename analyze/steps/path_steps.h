/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of user regions, which archives of other recorders have: time in a region is the step of its call path.
 *
 * Recorders that see nothing but MPI put a region or two of their own around everything; those say nothing. A region
 * says something when its source is known, when it was entered after the first call of MPI, or left before the last one
 * but MPI_Finalize; and so do regions inside it. That is learned in the first reading.
 */
#pragma once
#include "analyze/steps/numbers.h"
#include "analyze/steps/sites.h"
#include "wrap/base/containers.h"

struct path_steps {
    VEC(bool) is_part;  /* by context: it is not around all of a location's calls of MPI */
    VEC(uint32_t) step; /* by context: plus 1, the step of time in it; 0 = it tells nothing, as far as is known */
};

void path_steps_release(struct path_steps *paths);
/* It is not around all calls. TRACE_NONE = no context, and nothing is learned. */
void path_steps_context_is_part(struct path_steps *paths, uint32_t context);
/* TRACE_NONE = it tells nothing, as far as is known. */
uint32_t path_step(struct path_steps *paths, struct sites *sites, uint32_t context);
/* Steps from this number on are none any more. */
void path_steps_forget(struct path_steps *paths, uint32_t from);
/* Gives away what a section has learned; adds it to what the run has. */
void path_steps_pack(struct path_steps *paths, struct packing *packing);
void path_steps_unpack(struct path_steps *paths, struct unpacking *unpacking, const struct numbers *numbers);
