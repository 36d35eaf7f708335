/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact counts of a whole run as executions by source line and rank, and the ways that conditions went. Counts are
 * summed over the run and over a rank's threads, without what ran while the program had switched recording off. Calls
 * in flight at a thread's last synchronisation are accounted for.
 */
#pragma once
#include "analyze/code/code.h"
#include "analyze/counts/counts.h"
#include "analyze/trace/trace.h"
#include <stdio.h>

struct coverage_location;
struct coverage {
    struct arena arena;
    struct trace *trace;
    struct code *code;
    struct counts **counts; /* by module; NULL = none */
    bool *is_off;           /* by rank: the program has switched recording off */
    struct coverage_location *locations;
};

/* One rank's executions in one module, all by file. */
struct coverage_listing {
    struct arena arena;
    struct counts_line_count *lines;
    struct counts_head *heads;
    struct counts_branch *branches;
    size_t n_lines, n_heads, n_branches;
};

/* Reads the trace's events; both are borrowed. Returns 0, or -1 after error() when nothing was counted; release in both
 * cases. */
int coverage_read(struct coverage *coverage, struct trace *trace, struct code *code);
/* Empty for a module without counts. Its arena is the caller's to release. */
void coverage_rank(struct coverage *coverage, uint32_t rank, uint32_t module, struct coverage_listing *listing);
/* The same of several runs, summed up: of each, what ran in that build of the module, a module of the first one. */
void coverage_rank_of_all(struct coverage *runs, size_t n_runs, uint32_t rank, uint32_t module,
                          struct coverage_listing *listing);
/* How often each routine's edges were taken, all ranks together, to place counters by (wrap/flow/measured.h). */
void coverage_write_measured(struct coverage *coverage, FILE *out);
void coverage_release(struct coverage *coverage);
