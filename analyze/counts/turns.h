/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations of a loop. A loop that asks its condition first asks once more than it goes round: that pass is no
 * iteration. Compilers turn most such loops round, so that they ask last, but not where the condition is long.
 */
#pragma once
#include "analyze/counts/function.h"
#include <stdbool.h>

/* True of a block in which a loop that asks first does so: the head, and what follows it, as long as it is of the same
 * line and calls nothing. False where a way back to the head may end the loop as well, and
 * in CFG_NONE. */
bool turns_asks(const struct counts_function *function, uint32_t loop, uint32_t block);
