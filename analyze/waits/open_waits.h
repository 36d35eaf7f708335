/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that had not ended when the trace did: who was waiting, for whom as far as the records tell, and what is wrong
 * with it. The partner is through with MPI, sent another message than the one awaited, or takes part in another
 * collective operation.
 *
 * The calls of a communicator have turns: the n-th collective call of each member. A rank that has not come to a turn
 * is waited for by those that have. One that is there with another operation, or another root, waits for them as they
 * wait for it.
 */
#pragma once
#include "analyze/waits/reader.h"

/* Names the waits, and the ranks that wait for each other in a ring. */
void open_waits_write(struct analysis *analysis, struct sites *sites, const struct reader *reader);
/* Ranks that wait for each other in a ring, in its order; 0 when there is none. `ring` has room for n_ranks. A rank
 * that polls may go on at any moment, and hangs only if that lasts longer than any wait that ended. */
uint32_t open_waits_ring(const struct analysis *analysis, uint32_t n_ranks, uint32_t *ring);
