/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations of a loop. A loop that asks its condition first asks once more than it goes round: that pass is no
 * iteration. Compilers turn most such loops round, so that they ask last, but not where the condition is long.
 */
#pragma once
#include "analyze/counts/function.h"
#include <stdbool.h>

/* Sets, by block, those in which a loop asks before it does anything: the head, and what follows it, as long as it is
 * of the same line and calls nothing. There are none where the loop may also end on a way back to the head. */
void turns_find_asking(const struct counts_function *function, uint32_t loop, bool *asks);
