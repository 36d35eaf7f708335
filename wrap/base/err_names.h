/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to names, beyond err.h: the tool reaches some folders by paths that mean nothing to its user, and some
 * formats quote what a terminal must not get. */
#pragma once
#include <stddef.h>

/* From now on a message that has `path` in it has `name` there; NULL ends that. In a name, those that are known already
 * have their turn. */
void err_name(const char *path, const char *name);

/* As plain_text, but control characters stay as they are: for formats that quote them. */
size_t plain_direction(char *to, const char *text);
