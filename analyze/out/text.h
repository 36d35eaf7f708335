/* SPDX-License-Identifier: BSD-3-Clause */
/* Text from a recorded program (names, paths, arguments) made fit for a terminal. */
#pragma once
#include "wrap/base/arena.h"
#include <stddef.h>

/* The text with everything that could steer a terminal or hide what follows written as \xNN: control characters, bytes
 * that are no UTF-8, and the characters that change the direction of writing. */
char *text_escape(struct arena *arena, const char *text);
/* Columns that an escaped text takes (one a character). */
size_t text_columns(const char *escaped);
/* What of *escaped goes on a line of that many columns, broken at a blank, or behind "::", or anywhere; *escaped moves
 * on to what is left. */
const char *text_first_line(struct arena *arena, const char **escaped, size_t columns);
/* An escaped text cut to that many columns, the cut marked by "..."; the text itself when it fits. */
const char *text_cut(struct arena *arena, const char *escaped, size_t columns);
