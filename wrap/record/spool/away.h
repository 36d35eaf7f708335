/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A spool away from the run directory: on a disk of the node, when the run directory lies on a network file system or
 * the user says so. While the program runs, the run directory holds links to the files, so that a run that was killed
 * can be salvaged on the same node; at the end the files themselves take the place of the links.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Makes a private directory for this rank in `wish`, or, when `wish` is empty and run_dir lies on a network file
 * system, in the first of $TMPDIR, /tmp and /var/tmp that is local and has room. False: there is no reason to, there
 * is no such place (which is noted), or, with errno != 0, it cannot be done in `wish`. */
bool away_choose(const char *run_dir, const char *wish, char *dir, size_t size_bytes);
/* Copies all files of `dir` over the links in `home`, and removes `dir`. False with errno when something stays behind.
 */
bool away_bring_home(const char *dir, const char *home);
