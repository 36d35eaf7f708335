/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths and directories of a run. Every path is to be freed. */
#pragma once
#include <stdbool.h>

char *path_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool path_exists(const char *path);
/* Makes a private directory; one that is there is fine. Returns 0, or -1 after error(). */
int dir_make(const char *path);
/* Removes a directory with everything in it, never following a link; nothing there is fine. */
int dir_remove(const char *path);
/* Renames, after error() on failure. */
int path_rename(const char *from, const char *to);
