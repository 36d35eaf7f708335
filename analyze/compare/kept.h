/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs in a small file: what a comparison needs of each (run.h), as JSON, so that a measure to compare with can be kept
 * beside the source while the run directories are thrown away. Fields are described in docs/json.md.
 */
#pragma once
#include "analyze/compare/run.h"
#include "wrap/base/containers.h"
#include <stdio.h>

typedef VEC(struct run *) run_list;

/* Whether a path names such a file: an archive's anchor and a directory are none. */
bool kept_is(const char *path);
/* Appends the file's runs. Returns 0, or -1 after error(). */
int kept_read(struct arena *arena, const char *path, run_list *runs);
/* Returns 0, or -1 after error(). */
int kept_write(const char *path, struct run *const *runs, size_t n_runs);
