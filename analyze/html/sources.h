/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sources that a page shows: of each file that a cause, a part of one or a waiting call lies in, the lines around
 * them, as out/original.h has it.
 */
#pragma once
#include "analyze/counts/coverage.h"
#include "analyze/result/result.h"
#include <jansson.h>

/* A new reference: an array of objects with `file`, `state` ("same": not written to since; "changed"; "missing";
 * "unknown": the archive does not say when it was recorded), a `warning` or null, `reason` of a missing one, `facts` of
 * lines, `loops`, and `pieces`, arrays of the first line's number and lines of text. `coverage` is read, or NULL.
 * *are_cut is set, after warn(), where one could not be read to its end. */
json_t *sources_read(const struct analysis *analysis, const char *directory, struct coverage *coverage, bool *are_cut);
/* Likewise: objects with `routine`, `module` and `loops` for code that is blamed and has no source. */
json_t *sources_bare(const struct analysis *analysis);
