/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run is read when its program has been changed and built anew: that is what comparing runs is for. So the builds
 * that ran are kept in the run directory, each under its build id, and the sources that their stacks lead through. A
 * small build is a copy, since `cp` writes into the file that is there, and into all links to it. A large one is a hard
 * link where there can be one, since linkers make a new file: that takes nothing; else, as on another file system, it
 * is a copy as well. Copies have a largest size. Failing to keep a file is no error: its names and lines are lost only
 * when the file changes.
 */
#pragma once
#include "analyze/archive/join.h"

/* After the definitions have been written. */
void keep_what_ran(const struct join *join);
/* Keeps a source, by its path as the debug information has it. It has the date of the original. To be freed. */
char *keep_source_path(const char *run_dir, const char *file);
