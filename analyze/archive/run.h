/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs: which one the user means, and the archive in it, which is made from the spool where there is none yet. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The anchor file of `path`: a run directory, a directory with exactly one run or anchor in it, or an anchor; NULL
 * means the newest *.whywait directory here. To be freed; NULL after error(). */
char *run_find_archive(const char *path);
/* Likewise the run directory, whether or not it has an archive. To be freed; NULL after error(). */
char *run_find_directory(const char *path);
/* Makes the archive of a run directory from the parts of its ranks. WHYWAIT_KEEP_SPOOL in the environment keeps the
 * spool. Returns 0, or -1 after error(). */
int run_join(const char *directory);
/* The same from whatever its spool holds, of a run that never came to make the parts. */
int run_salvage(const char *directory);

/* True for a directory *.whywait with an archive, its parts or a spool in it. */
bool run_is_run(const char *path);
/* True when its archive has been made. */
bool run_has_archive(const char *path);
/* Names of the runs in a directory, in no order: adds to *n, each and (by vec_free) the array to be freed. Returns 0,
 * or -1 after error(). */
int run_names(const char *directory, char ***names, size_t *n);
