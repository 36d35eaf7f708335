/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides the next step for the user: one for each cause, for transfers and for the machine's row.
 *
 * Once the kind of a cause, its balance and its threads are known.
 */
#pragma once
#include "analyze/result/result.h"

enum thread_sharing thread_sharing_of(const struct analysis *analysis, const struct cause *cause);
enum advice advice_of(const struct analysis *analysis, const struct cause *cause);
/* True when all late ranks run on one node, and the others do not. */
bool late_have_own_node(const struct trace *trace, const struct cause *cause);
/* False for a call of MPI that only looks, or sets something up. */
bool step_moves_data(const struct analysis *analysis, uint32_t step);
enum advice advice_of_transfer(const struct analysis *analysis, uint32_t step);
/* ADVICE_NONE where CPUs are not most of the waiting, or nothing tells why they were short. */
enum advice advice_of_machine(const struct analysis *analysis);
