/* SPDX-License-Identifier: BSD-3-Clause */
/* The text report. All functions print to `out`, lines of at most `width` columns where the words allow it. */
#pragma once
#include "analyze/out/page.h"
#include "analyze/result/result.h"
#include <stdio.h>

/* Calls that the list of them has, where the user says nothing else. */
enum { SITES_LISTED = 20 };

struct report_options {
    unsigned width;
    unsigned n_top;  /* causes (or sites) shown; 0 = all */
    bool hide_small; /* in the overview: negligible causes (answer.negligible_ns), except the first */
    bool all_steps;  /* also the steps that pruning left out */
    bool all;        /* everything, however long; otherwise the largest of each list, on about two screens */
    bool full_paths; /* of source files */
    struct look look;
};

/* Head line, efficiency, causes, what was lost. */
void report_overview(FILE *out, const struct analysis *analysis, const struct report_options *options);
/* Sites at which ranks wait, and how much each rank waits. */
void report_sites(FILE *out, const struct analysis *analysis, const struct report_options *options);
/* One cause with its ranks, sites, classes and steps; number < n_causes. */
void report_cause(FILE *out, const struct analysis *analysis, uint32_t number, const struct report_options *options);
/* One site with its causes, ranks, classes and steps; number < n_sites. */
void report_site(FILE *out, const struct analysis *analysis, uint32_t number, const struct report_options *options);
/* Shares of the time of each rank, and who made whom wait. Ranks that are alike share a row unless `all`. */
void report_ranks(FILE *out, const struct analysis *analysis, const struct report_options *options);
/* Where memory is asked for, by falling bytes. */
void report_space(FILE *out, const struct analysis *analysis, const struct report_options *options);
/* The steps of the critical path. */
void report_critical(FILE *out, const struct analysis *analysis, const struct report_options *options);
