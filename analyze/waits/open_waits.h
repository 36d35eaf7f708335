/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that had not ended when the trace did: who was waiting, and for whom as far as the records tell. */
#pragma once
#include "analyze/waits/reader.h"

/* Names the waits, and the ranks that wait for each other in a ring. */
void open_waits_write(struct analysis *analysis, struct sites *sites, const struct reader *reader);
/* Ranks that wait for each other in a ring, in its order; 0 when there is none. `ring` has room for n_ranks. */
uint32_t open_waits_ring(const struct analysis *analysis, uint32_t n_ranks, uint32_t *ring);
