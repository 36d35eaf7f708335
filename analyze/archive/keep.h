/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * People change a program, build it anew, and compare the runs. So the run directory keeps the builds that ran, each
 * under its build id, and the sources that their stacks lead through. A small build is a copy: `cp` writes into the
 * file that is there, and into all links to it. A large one is a hard link where the file system allows it, which takes
 * no room, since linkers make a new file. Elsewhere it is a copy. Copies have a largest size. A file that cannot be
 * kept is no error. Its names and lines are lost only with the next change.
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
