/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that was killed while its spool was on a disk of the node: the run directory holds links to the files. */
#pragma once

/* Replaces every link in `spool_dir` (RUNDIR/spool) by the file that it leads to. Files that cannot be reached, or that
 * are not safely this user's own, are told by a warning and left. Returns 0, or -1 after error(). */
int spool_bring_home(const char *spool_dir);
