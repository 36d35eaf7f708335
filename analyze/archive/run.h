/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs: which one the user means, and the archive in it, which is made from the spool where there is none yet. */
#pragma once

/* The anchor file of `path`: a run directory, a directory with exactly one anchor, or an anchor; NULL means the newest
 * *.whywait directory here. To be freed; NULL after error(). */
char *run_find_archive(const char *path);
/* Makes the archive of a run directory from the parts of its ranks. WHYWAIT_KEEP_SPOOL in the environment keeps the
 * spool. Returns 0, or -1 after error(). */
int run_join(const char *directory);
/* The same from whatever its spool holds, of a run that never came to make the parts. */
int run_salvage(const char *directory);
