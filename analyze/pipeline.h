/* SPDX-License-Identifier: BSD-3-Clause */
/* From a path to a result: every pass of the analysis, in order, and what finds and reads the run before them. */
#pragma once
#include "analyze/code/code.h"
#include "analyze/result/result.h"
#include "analyze/timeline/timeline.h"
#include "analyze/trace/trace.h"

/* Reads the trace twice, from its beginning. `code` may be NULL (then steps are regions). Both are borrowed by the
 * result. `timeline`, with its budget set, is filled in as well when it is not NULL. `threshold`: of classes
 * (classes.h), 0 = the usual one. Returns NULL after error(); to be freed by analysis_free. */
struct analysis *analysis_run(struct trace *trace, struct code *code, struct timeline *timeline, double threshold);
void analysis_free(struct analysis *analysis);

/* From a path to an analysis: the run is found, repaired if need be, read, and the passes are run. */
struct loaded {
    struct trace *trace;
    struct code *code; /* NULL for a foreign archive */
    struct analysis *analysis;
    struct timeline timeline; /* empty unless it was asked for */
};

/* The code of a trace's modules, each with its number in the trace; to be closed. It tells what called stacks that were
 * recorded in part. */
struct code *load_code(struct trace *trace);

/* `path` is a run directory, an archive's anchor (.otf2), a directory with one archive, or NULL for the newest run in
 * the working directory. Returns 0, or -1 after one line on stderr; load_release in both cases. */
int load_analysis(struct loaded *loaded, const char *path, bool with_timeline);
/* The same of a part of the run, in ns from its start (it ends with the run if that is earlier), and with another
 * threshold. */
struct load_choice {
    uint64_t from_ns, until_ns;
    double threshold; /* 0 = the usual one */
    bool with_facts;  /* exact counts, for comparing */
};
int load_analysis_part(struct loaded *loaded, const char *path, const struct load_choice *choice);
/* The same with exact counts, for comparing runs. */
int load_analysis_with_facts(struct loaded *loaded, const char *path, bool with_timeline);
/* Of a trace that is loaded and has parts (trace_set_parts): the present one, with exact counts, in place of an
 * analysis from before. */
int load_present_part(struct loaded *loaded);
/* The same without the analysis: definitions only. */
int load_trace(struct loaded *loaded, const char *path);
void load_release(struct loaded *loaded);

/* Says on stderr, in one line each, what the analysis lacks that it should rest on: a part of the archive, records,
 * files that the system failed to open, or the program's own file, without which its loops have no names. */
bool load_is_degraded(const struct loaded *loaded);
/* The same of what needs no names of loops: exact counts. */
bool load_lacks_counts(const struct loaded *loaded);
