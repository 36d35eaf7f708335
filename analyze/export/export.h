/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run in the formats of other tools: one file a format. All write to `out` and return 0, or -1 after error(); whether
 * everything could be written is for the caller to ask of the stream.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/timeline/timeline.h"
#include <stdio.h>

/* Executions by source line and rank, and the ways that conditions went: lcov's tracefile, or one object of gcov's JSON
 * a module and rank. Reads the traces' events; of several runs of one build, counts are summed. */
struct coverage_run {
    struct trace *trace;
    struct code *code;
};
int export_coverage(FILE *out, const struct coverage_run *runs, size_t n_runs, bool as_json);

/*
 * One table of the report as CSV: a header line, then a line a row. A table is a list of docs/json.md, named by the way
 * to it ("causes", "sites.classes"), or by a short name (export_csv_tables). Columns are the fields of its items that
 * hold one value each. A list of values is one cell, divided by blanks. A list of objects is a table of its own. A row
 * of a list within a list begins with what identifies the items that it belongs to. Rows of several runs stand below
 * each other, with the run's name before them.
 */
struct export_run {
    const struct analysis *analysis;
    const char *name;
};
int export_csv(FILE *out, const struct export_run *runs, size_t n_runs, const char *table);
/* "causes, sites ..." */
extern const char export_csv_tables[];

/* The graph of routines for Graphviz: routines and calls with at least `least` of all time (or, only what causes
 * waiting, of that), in [0, 1]. Several runs are added up. */
int export_dot(FILE *out, const struct export_run *runs, size_t n_runs, bool only_causing, double least);

/* Trace events for Perfetto and chrome://tracing, in the order of time. Reads the trace's events once more. */
int export_chrome(FILE *out, const struct analysis *analysis, const struct timeline *timeline);

/* Folded stacks for flame graphs: call path and cause, with the waiting blamed on it there in microseconds. */
int export_folded(FILE *out, const struct analysis *analysis);

/* Time, blame and, where they were counted, executions by routine and source line, and calls, in callgrind's format.
 * Reads the events once more when there are counts. Several runs are added up. */
int export_callgrind(FILE *out, const struct export_run *runs, size_t n_runs);
