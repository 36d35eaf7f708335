/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that was killed while its spool was on a disk of the node: the run directory holds links to the files. */
#pragma once
#include <stddef.h>

/* Replaces every link in `spool_dir` (RUNDIR/spool) by the file that it leads to. Files of other nodes
 * are left, and so, with a warning, are those that are not safely this user's own. Returns 0, or -1 after error(). */
int spool_bring_home(const char *spool_dir);
/* The node on whose disk the file lies that `link` leads to: its name, or words for it where the link does not tell. */
void spool_link_node(const char *link, char *node, size_t size_bytes);
