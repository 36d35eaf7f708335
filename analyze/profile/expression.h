/* SPDX-License-Identifier: BSD-3-Clause */
/* How a report calls an expression of a script, by its text alone. */
#pragma once
#include <stddef.h>

struct arena;

/*
 * Of a call the function, "np.sqrt()". Of an operator, the one that is applied last: "the + of a * b + c". Other short
 * texts are what they are: "x[rows]". NULL where none of this is sure, and for a single name. In `arena`.
 */
const char *expression_name(struct arena *arena, const char *text, size_t bytes);
