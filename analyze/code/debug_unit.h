/* SPDX-License-Identifier: BSD-3-Clause */
/* How the tables of one compilation unit are read; private to debug*.c. */
#pragma once
#include "analyze/code/debug.h"

/* Fills in rows, and the others scopes, pieces and noreturn. What cannot be read stays empty. */
void debug_read_lines(struct debug *debug, struct unit *unit);
void debug_read_scopes(struct debug *debug, struct unit *unit);
/* The number of a path in debug->files, "/./" removed. */
uint32_t debug_file(struct debug *debug, const char *path);
