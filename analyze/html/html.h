/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One page for a browser: what the reports tell, with a timeline, in one file that needs no network and no server.
 *
 * The page's numbers are those of the JSON report, which it carries as it is, and its timeline (cells.h). Both are
 * deflated, which a browser undoes itself. What draws them (view/) is the same for every run and part of the program.
 *
 *     html_begin(&page, out, title); html_run(&page, ...) for each run; html_comparison(&page, ...); html_end(&page);
 */
#pragma once
#include "analyze/compare/compare.h"
#include "analyze/counts/coverage.h"
#include "analyze/result/result.h"
#include "analyze/timeline/timeline.h"
#include <stdio.h>

struct html {
    FILE *out;
    unsigned n_runs;
    int status;
    struct intern held;   /* the sources whose text is in it */
    bool are_sources_cut; /* after warn() */
};

/* Each returns 0, or -1 after error() when the page cannot be written; so do all that follow then. */
int html_begin(struct html *html, FILE *out, const char *title);
struct html_sources {
    bool are_left_out;
    const char *directory;     /* where to look for those that are not where they were compiled; NULL = nowhere */
    struct coverage *coverage; /* read; NULL: nothing was counted */
};
int html_run(struct html *html, const struct analysis *analysis, const struct timeline *timeline,
             const struct html_sources *sources);
int html_comparison(struct html *html, const struct comparison *comparison);
int html_end(struct html *html);
void html_release(struct html *html);
