/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timeline as bytes for a page. Numbers are LEB128: seven bits a byte, the lowest first. Four streams
 * behind each other, each with all rows in order, because alike numbers side by side deflate better:
 *
 *   lengths of each cell, ns; cells of a row follow each other from the start of the run heads of each cell: 2 x (kind
 * + 1) + 1 of a cell with one part. Else 2 x (number of parts), 0 = nothing is known; in both cases this number twice
 * over, plus 1 if it has a wait parts    of each cell with several: kind, ns waits    of each cell with one: the row
 * that released it, the site (from 1; 0 = unknown), then a number: 1 if only times tell, plus 2 if it is one of several
 * in the cell, which is then followed by its length and by when it ended, ns from the begin of the cell
 *
 * The head, as JSON, has `rows` (rank, thread, cells), `kinds` ([state, cause or -1, name or null]),
 * `comms` ([name, [ranks]], those of all ranks left out), `resolution_ns` and the lengths of the streams in
 * bytes.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/timeline/timeline.h"
#include "wrap/base/containers.h"
#include <jansson.h>

struct bytes {
    VEC(unsigned char) all;
};

/* A new reference; fills `streams`, to be released. */
json_t *cells_encode(const struct analysis *analysis, const struct timeline *timeline, struct bytes *streams);
