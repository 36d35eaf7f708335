/* SPDX-License-Identifier: BSD-3-Clause */
/* The source with blame in the margin. */
#pragma once
#include "analyze/counts/coverage.h"
#include "analyze/out/page.h"
#include "analyze/profile/line_facts.h"
#include "analyze/result/result.h"
#include <stdio.h>

struct source_options {
    unsigned width;
    struct look look;
    unsigned n_context;             /* lines shown around what is marked */
    const char *only_file;          /* files whose path ends so; NULL = all */
    uint32_t line_first, line_last; /* of these files these lines, marked or not; 0 = only what is marked */
    struct coverage *coverage;      /* read; NULL: nothing was counted */
    const char *directory;          /* where to look for files that are not where they were compiled; NULL = nowhere */
};

/* Every file with a cause or a waiting call of at least 1 % of all waiting, most blamed first. Only the marked parts.
 * With lines to show, the files that only_file names, whatever happens there. A file that cannot be read is named with
 * the reason. */
struct source_files {
    uint32_t n_shown, n_unreadable, n_cut; /* n_cut: not read to the end, after warn() */
    uint32_t n_lines;                      /* of the longest that could be read */
};
struct source_files source_print(FILE *out, const struct analysis *analysis, const struct source_options *options);

/* "75/25": per cent of the times that each way behind a condition was taken; several conditions apart by blanks. */
const char *source_ways(struct arena *arena, const struct line_facts *facts);
