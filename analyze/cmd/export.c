/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait export: a run in the formats of other tools. */
#include "analyze/files/output.h"
#include "analyze/cmd/cmd.h"
#include "analyze/export/export.h"
#include "analyze/archive/run.h"
#include "analyze/pipeline.h"
#include "wrap/base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum format {
    FORMAT_LCOV,
    FORMAT_GCOV,
    FORMAT_CHROME,
    FORMAT_FOLDED,
    FORMAT_CALLGRIND,
    FORMAT_CSV,
    FORMAT_DOT,
    FORMAT_OTF2,
    FORMAT_N
};

struct options {
    const char *path;
    char **runs; /* several, of one build */
    int n_runs;
    const char *output; /* NULL = stdout */
    const char *table;
    bool only_causing, has_format, has_least;
    double least; /* share of all time that is shown, in [0, 1] */
    enum format format;
};

enum { OPT_FORMAT = OPT_OTHER, OPT_TABLE, OPT_CAUSING, OPT_LEAST };
static const struct option_row rows[] = {
    {"format", OPT_FORMAT, "FORMAT", "one of these:"},
    {NULL, 0, "lcov",
     "executions of every source line, rank by rank, of a program built with $(whywait cc); the default"},
    {NULL, 0, "gcov-json", "the same, one object a module and rank"},
    {NULL, 0, "chrome",
     "all ranks over time, for Perfetto (ui.perfetto.dev) and chrome://tracing: what each did, waits with an arrow "
     "from what released them, calls, ranks in each cause"},
    {NULL, 0, "folded",
     "stacks for flame graphs: call path and cause, with the waiting that it causes on other ranks, in microseconds"},
    {NULL, 0, "callgrind",
     "time, waiting caused and executions by routine and source line, for KCachegrind and callgrind_annotate"},
    {NULL, 0, "csv", "one table of the report: --table says which"},
    {NULL, 0, "dot", "the graph of routines, for Graphviz"},
    {NULL, 0, "otf2", "the name of the archive, which OTF2's tools read as it is"},
    {"table", OPT_TABLE, "NAME",
     "with csv: causes (default), sites, classes, steps, ranks, routines, calls, critical, matrix, memory, or the way "
     "to any list of docs/json.md (causes.by_rank)"},
    {"causing", OPT_CAUSING, NULL, "with dot: not time, but the waiting it causes on other ranks"},
    {"least", OPT_LEAST, "PERCENT", "with dot: leave out what has less of all time (0.5)"},
    {"output", 'o', "FILE", "write there instead of to standard output"},
    {0},
};

const struct manual manual_export = {
    .synopsis = "[OPTIONS] [RUN...]",
    .about = "Writes a run for other tools. Several are summed up (lcov and gcov-json: of one build); csv has one "
             "below the other, and chrome and otf2 take one.",
    .rows = rows,
    .after = "Exit status: 0; 1 when nothing was written; 2 when a run lacks something.",
};

static const char *const format_names[FORMAT_N] = {[FORMAT_LCOV] = "lcov",
                                                   [FORMAT_GCOV] = "gcov-json",
                                                   [FORMAT_CHROME] = "chrome",
                                                   [FORMAT_FOLDED] = "folded",
                                                   [FORMAT_CALLGRIND] = "callgrind",
                                                   [FORMAT_CSV] = "csv",
                                                   [FORMAT_DOT] = "dot",
                                                   [FORMAT_OTF2] = "otf2"};

/* Of the events alone, not of an analysis. */
static bool reads_counts(enum format format)
{
    return format == FORMAT_LCOV || format == FORMAT_GCOV;
}

static bool takes_several(enum format format)
{
    return format != FORMAT_CHROME && format != FORMAT_OTF2;
}

/* An option of one format chooses it, and goes with no other. */
static void choose_format(struct options *options)
{
    bool has_dot = options->only_causing || options->has_least;
    if (options->table && has_dot)
        die("--table goes with --format csv, --causing and --least with --format dot: give one of them");
    if (options->table && options->has_format && options->format != FORMAT_CSV)
        die("--table goes with --format csv, not with %s", format_names[options->format]);
    if (has_dot && options->has_format && options->format != FORMAT_DOT)
        die("--causing and --least go with --format dot, not with %s", format_names[options->format]);
    if (options->table || has_dot) {
        options->format = options->table ? FORMAT_CSV : FORMAT_DOT;
        options->has_format = true;
    }
    if (!options->table)
        options->table = "causes";
}

static struct options parse(int argc, char **argv)
{
    /* Below half a percent, boxes are too many to read. */
    struct options options = {.least = 0.005, .format = FORMAT_LCOV};
    int option;
    while ((option = option_next(argc, argv, &manual_export)) != -1) {
        if (option == OPT_TABLE)
            options.table = optarg;
        else if (option == OPT_CAUSING)
            options.only_causing = true;
        else if (option == 'o')
            options.output = optarg;
        else if (option == OPT_LEAST) {
            char *end;
            options.least = strtod(optarg, &end) / 100;
            options.has_least = true;
            if (end == optarg || *end || !(options.least >= 0 && options.least <= 1))
                die("--least: \"%s\" is no percentage", optarg);
        } else if (option == OPT_FORMAT) {
            options.has_format = true;
            options.format = FORMAT_LCOV;
            while (options.format < FORMAT_N && strcmp(optarg, format_names[options.format]) != 0)
                options.format++;
            if (options.format == FORMAT_N)
                die("--format %s: there are lcov, gcov-json, chrome, folded, callgrind, csv, dot and otf2", optarg);
        }
    }
    options.runs = argv + optind;
    options.n_runs = argc - optind;
    options.path = options.runs[0];
    choose_format(&options);
    if (options.n_runs > 1 && !takes_several(options.format))
        die("--format %s is of one run over time, not of %d: times of several do not add up",
            format_names[options.format], options.n_runs);
    return options;
}

/* Returns 0, STATUS_DEGRADED, or -1 after error(); so do the others that write. */
static int write_counts(FILE *out, const struct options *options)
{
    int n = options->n_runs > 1 ? options->n_runs : 1, n_read = 0, status = 0;
    struct arena scratch = {0};
    struct loaded *loaded = arena_array(&scratch, struct loaded, n);
    struct coverage_run *runs = arena_array(&scratch, struct coverage_run, n);
    for (; n_read < n && status == 0; n_read++) {
        status = load_trace(&loaded[n_read], n > 1 ? options->runs[n_read] : options->path);
        if (status == 0)
            loaded[n_read].code = load_code(loaded[n_read].trace);
        runs[n_read] = (struct coverage_run){loaded[n_read].trace, loaded[n_read].code};
    }
    if (status == 0 && !options->has_format && !runs[0].trace->is_counted)
        status =
            error("%s has no exact counts, which the format lcov needs; name another one: --format chrome, folded, "
                  "callgrind, csv, dot or otf2",
                  runs[0].trace->path);
    if (status == 0)
        status = export_coverage(out, runs, (size_t)n, options->format == FORMAT_GCOV);
    for (int i = 0; i < n_read; i++) {
        if (status >= 0 && load_lacks_counts(&loaded[i]))
            status = STATUS_DEGRADED;
        load_release(&loaded[i]);
    }
    arena_release(&scratch);
    return status;
}

/* Who draws stacks adds up those of several runs that are equal. */
static int write_analyses(FILE *out, const struct options *options, const struct loaded *loaded,
                          const struct export_run *runs, size_t n)
{
    int status = 0;
    switch (options->format) {
    case FORMAT_CHROME:
        return export_chrome(out, runs[0].analysis, &loaded->timeline);
    case FORMAT_CALLGRIND:
        return export_callgrind(out, runs, n);
    case FORMAT_CSV:
        return export_csv(out, runs, n, options->table);
    case FORMAT_DOT:
        return export_dot(out, runs, n, options->only_causing, options->least);
    default:
        for (size_t i = 0; i < n && status == 0; i++)
            status = export_folded(out, runs[i].analysis);
        return status;
    }
}

static int write_analysis(FILE *out, const struct options *options)
{
    int n = takes_several(options->format) && options->n_runs > 1 ? options->n_runs : 1, n_read = 0, status = 0;
    struct arena scratch = {0};
    struct loaded *loaded = arena_array(&scratch, struct loaded, n);
    struct export_run *runs = arena_array(&scratch, struct export_run, n);
    for (; n_read < n && status == 0; n_read++) {
        const char *path = n > 1 ? options->runs[n_read] : options->path;
        status = load_analysis(&loaded[n_read], path, options->format == FORMAT_CHROME);
        runs[n_read] = (struct export_run){loaded[n_read].analysis, path};
    }
    if (status == 0)
        status = write_analyses(out, options, loaded, runs, (size_t)n);
    for (int i = 0; i < n_read; i++) {
        if (status >= 0 && load_is_degraded(&loaded[i]))
            status = STATUS_DEGRADED;
        load_release(&loaded[i]);
    }
    arena_release(&scratch);
    return status;
}

/* The archive is in this format already. */
static int write_name(FILE *out, const struct options *options)
{
    char *anchor = run_find_archive(options->path);
    if (anchor)
        fprintf(out, "%s\n", anchor);
    free(anchor);
    return anchor ? 0 : -1;
}

int cmd_export(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct output output;
    if (output_begin(&output, options.output, 0))
        return 1;
    int status = options.format == FORMAT_OTF2  ? write_name(output.file, &options)
                 : reads_counts(options.format) ? write_counts(output.file, &options)
                                                : write_analysis(output.file, &options);
    if (output_end(&output, status >= 0))
        status = -1;
    return status < 0 ? 1 : status;
}
