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
#include "analyze/files/folder.h"
#include <stdint.h>
#include <sys/types.h>

/* What is kept of a run: its folders, made when the first file comes, and the bytes for which there is room. */
struct keeping {
    const struct folder *run;
    struct folder code, sources;
    off_t code_left, sources_left;
};

struct keeping keep_begin(const struct folder *run);
/* Keeps the build at `path`. False when the run has no place for builds. */
bool keep_build(struct keeping *keeping, const char *path, const uint8_t *build_id, uint32_t n_bytes);
/* An editor may write into the file that it has read, so that sources are always copies. */
void keep_source(struct keeping *keeping, const char *file);
void keep_end(struct keeping *keeping);

/* Where a source is kept, by its path as the debug information has it. It has the date of the original. To be freed. */
char *keep_source_path(const char *run_dir, const char *file);
