/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths, and folders and files by path. Every path that is made is to be freed. */
#pragma once
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

char *path_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool path_exists(const char *path);
/* That of this tool, also without /proc, as in a bare container. False, and path is empty, when it is not known. */
bool path_of_tool(char path[PATH_MAX]);
/* Makes a private directory; one that is there is fine. Returns 0, or -1 after error(). */
int dir_make(const char *path);
/* Removes a directory with everything in it, never following a link; nothing there is fine. */
int dir_remove(const char *path);
/* The next entry of an open folder; NULL at its end, and with the errno in *why where the system could not read on. */
struct dirent *dir_next(DIR *entries, int *why);
/* Renames, after error() on failure. */
int path_rename(const char *from, const char *to);
/* All that is left of an open file to the beginning of another. Blocks of zeros become holes: spool files are made
 * larger than what is in them. 0, or -1 with errno. */
int file_copy(int from, int to);
