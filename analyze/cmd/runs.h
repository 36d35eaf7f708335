/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs named on a command line, as a comparison wants them: directories are analysed, kept files are read. */
#pragma once
#include "analyze/cmd/terminal.h"
#include "analyze/compare/kept.h"
#include "analyze/out/series.h"
#include "analyze/pipeline.h"

/* Appends what `path` names: one run, or all of a kept file. Returns 0, STATUS_DEGRADED, or -1
 * after error(). */
int runs_add(struct arena *arena, const char *path, run_list *runs);
/* The same of each window of a run that was recorded in windows, as if it were a run. */
int runs_add_windows(struct arena *arena, const char *path, run_list *runs);

/* Several runs of one kind, summed up. Returns the exit status of a command that does so. */
int runs_report(char *const *paths, int n_paths, bool is_json, const struct series_options *print,
                const struct terminal_options *terminal);
/* Whether two are one run: of one directory, or kept from one recording. */
bool runs_are_same(const struct run *a, const struct run *b);
/* A run that has been loaded with facts. */
struct run *runs_make(struct arena *arena, const struct loaded *loaded, const char *path);
