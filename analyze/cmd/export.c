/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait export: a run in the formats of other tools. */
#include "analyze/cmd/cmd.h"
#include "analyze/export/export.h"
#include "analyze/archive/run.h"
#include "analyze/pipeline.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *path;
    char **runs; /* several, of one build */
    int n_runs;
    const char *output; /* NULL = stdout */
    const char *table;
    bool only_causing;
    double least; /* share of all time that is shown, in [0, 1] */
    const struct format *format;
};

static const char usage[] = "Usage: whywait export [OPTIONS] [RUN...]\n"
                            "Writes a run for other tools; lcov and gcov-json sum up several of one build,\n"
                            "folded sums up several, and csv has one below the other.\n"
                            "\n"
                            "  --format FORMAT   one of these:\n"
                            "      lcov          executions of every source line, rank by rank, of a program\n"
                            "                    built with $(whywait cc) (default)\n"
                            "      gcov-json     the same, one object a module and rank\n"
                            "      chrome        all ranks over time, for Perfetto (ui.perfetto.dev) and\n"
                            "                    chrome://tracing: what each did, waits with an arrow from\n"
                            "                    what released them, calls, ranks in each cause\n"
                            "      folded        stacks for flame graphs: call path and cause, with the\n"
                            "                    waiting that it causes on other ranks, in microseconds\n"
                            "      callgrind     time, waiting caused and executions by routine and source\n"
                            "                    line, for KCachegrind and callgrind_annotate\n"
                            "      csv           one table of the report: --table says which\n"
                            "      dot           the graph of routines, for Graphviz\n"
                            "      otf2          the name of the archive, which OTF2's tools read as it is\n"
                            "  --table NAME      with csv: causes (default), sites, classes, steps, ranks,\n"
                            "                    routines, calls, critical, matrix, memory, or the way to\n"
                            "                    any list of docs/json.md (causes.by_rank)\n"
                            "  --causing         with dot: not time, but the waiting it causes on other ranks\n"
                            "  --least PERCENT   with dot: leave out what has less of all time (0.5)\n"
                            "  -o, --output FILE write there instead of to standard output\n"
                            "  --help            this text\n";

/* What a format takes: the run's name, the events of one or several, its analysis, or that with a timeline; or the
 * analyses of one or several with the options. */
struct format {
    const char *name;
    int (*write_name)(FILE *out, const char *anchor);
    int (*write_events)(FILE *out, const struct coverage_run *runs, size_t n_runs);
    int (*write_analysis)(FILE *out, const struct analysis *analysis);
    int (*write_chosen)(FILE *out, const struct options *options, const struct export_run *runs, size_t n_runs);
    int (*write_timeline)(FILE *out, const struct analysis *analysis, const struct timeline *timeline);
    bool takes_several;
};

static int write_lcov(FILE *out, const struct coverage_run *runs, size_t n_runs)
{
    return export_coverage(out, runs, n_runs, false);
}

static int write_gcov(FILE *out, const struct coverage_run *runs, size_t n_runs)
{
    return export_coverage(out, runs, n_runs, true);
}

static int write_csv(FILE *out, const struct options *options, const struct export_run *runs, size_t n_runs)
{
    return export_csv(out, runs, n_runs, options->table);
}

/* Who draws stacks adds up those that are equal. */
static int write_folded(FILE *out, const struct options *options, const struct export_run *runs, size_t n_runs)
{
    (void)options;
    int status = 0;
    for (size_t i = 0; i < n_runs && status == 0; i++)
        status = export_folded(out, runs[i].analysis);
    return status;
}

static int write_dot(FILE *out, const struct options *options, const struct export_run *runs, size_t n_runs)
{
    (void)n_runs;
    const struct analysis *analysis = runs[0].analysis;
    const struct profile *profile = options->only_causing ? &analysis->blame_profile : &analysis->profile;
    if (!profile->n_routines)
        return error("%s has no samples of call stacks: there is no graph of routines", analysis->trace->path);
    return export_dot(out, analysis, profile, options->least);
}

static int write_anchor(FILE *out, const char *anchor)
{
    fprintf(out, "%s\n", anchor);
    return 0;
}

static const struct format formats[] = {
    {"lcov", .write_events = write_lcov, .takes_several = true},
    {"gcov-json", .write_events = write_gcov, .takes_several = true},
    {"chrome", .write_timeline = export_chrome},
    {"folded", .write_chosen = write_folded, .takes_several = true},
    {"callgrind", .write_analysis = export_callgrind},
    {"csv", .write_chosen = write_csv, .takes_several = true},
    {"dot", .write_chosen = write_dot},
    {"otf2", .write_name = write_anchor},
};
static const char format_names[] = "lcov, gcov-json, chrome, folded, callgrind, csv, dot and otf2";

static struct options parse(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"format", required_argument, NULL, 'f'},
        {"table", required_argument, NULL, 't'},
        {"causing", no_argument, NULL, 'c'},
        {"least", required_argument, NULL, 'l'},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    /* Below half a percent, boxes are too many to read. */
    struct options options = {.table = "causes", .least = 0.005, .format = &formats[0]};
    int option;
    while ((option = option_next(argc, argv, long_options, usage)) != -1) {
        if (option == 't')
            options.table = optarg;
        else if (option == 'c')
            options.only_causing = true;
        else if (option == 'o')
            options.output = optarg;
        else if (option == 'l') {
            char *end;
            options.least = strtod(optarg, &end) / 100;
            if (end == optarg || *end || !(options.least >= 0 && options.least <= 1))
                die("--least: \"%s\" is no percentage", optarg);
        } else if (option == 'f') {
            options.format = NULL;
            for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
                if (!strcmp(optarg, formats[i].name))
                    options.format = &formats[i];
            if (!options.format)
                die("--format %s: there are %s", optarg, format_names);
        }
    }
    options.runs = argv + optind;
    options.n_runs = argc - optind;
    options.path = options.format->takes_several ? options.runs[0] : option_run(argc, argv);
    return options;
}

static int write_from_events(FILE *out, const struct options *options)
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
    if (status == 0)
        status = options->format->write_events(out, runs, (size_t)n);
    for (int i = 0; i < n_read; i++)
        load_release(&loaded[i]);
    arena_release(&scratch);
    return status;
}

static int write_from_analysis(FILE *out, const struct options *options)
{
    int n = options->format->takes_several && options->n_runs > 1 ? options->n_runs : 1, n_read = 0, status = 0;
    const struct format *format = options->format;
    struct arena scratch = {0};
    struct loaded *loaded = arena_array(&scratch, struct loaded, n);
    struct export_run *runs = arena_array(&scratch, struct export_run, n);
    for (; n_read < n && status == 0; n_read++) {
        const char *path = n > 1 ? options->runs[n_read] : options->path;
        status = load_analysis(&loaded[n_read], path, format->write_timeline);
        runs[n_read] = (struct export_run){loaded[n_read].analysis, path};
    }
    if (status == 0)
        status = format->write_timeline ? format->write_timeline(out, loaded[0].analysis, &loaded[0].timeline)
                 : format->write_chosen ? format->write_chosen(out, options, runs, (size_t)n)
                                        : format->write_analysis(out, loaded[0].analysis);
    for (int i = 0; i < n_read; i++)
        load_release(&loaded[i]);
    arena_release(&scratch);
    return status;
}

static int write_name(FILE *out, const struct options *options)
{
    char *anchor = run_find_archive(options->path);
    int status = anchor ? options->format->write_name(out, anchor) : -1;
    free(anchor);
    return status;
}

int cmd_export(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    FILE *out = options.output ? fopen(options.output, "w") : stdout;
    if (!out)
        die("cannot write %s: %s", options.output, strerror(errno));
    int status = options.format->write_name     ? write_name(out, &options)
                 : options.format->write_events ? write_from_events(out, &options)
                                                : write_from_analysis(out, &options);
    bool is_written = !fflush(out) && !ferror(out);
    if (!is_written && status == 0)
        status = error("cannot write %s: %s", options.output ? options.output : "the export", strerror(errno));
    if (options.output)
        fclose(out);
    return status ? 1 : 0;
}
