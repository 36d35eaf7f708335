/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait diff: which causes of waiting grew or shrank between runs, and what of that is noise. */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/out/difference.h"
#include "analyze/out/label.h"
#include "analyze/pipeline.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct options {
    char **runs; /* before, "vs" unless there are two runs only, after */
    int n_runs, n_before;
    bool is_json;
    unsigned n_top, width;
};

static const char usage[] = "Usage: whywait diff [OPTIONS] BEFORE AFTER\n"
                            "       whywait diff [OPTIONS] BEFORE... vs AFTER...\n"
                            "Compares runs of a program before and after a change, cause by cause. Several\n"
                            "runs on each side tell a change from noise.\n"
                            "\n"
                            "  --top N           show the N causes that changed most (default 10; 0 = all)\n"
                            "  --format FORMAT   text (default) or json (fields in docs/json.md)\n"
                            "  --width N         columns of the text (default: the terminal's, or 110)\n"
                            "  --help            this text\n";

static void parse_runs(struct options *options, int argc, char **argv)
{
    options->runs = argv;
    options->n_runs = argc;
    int n_vs = 0;
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "vs")) {
            options->n_before = i;
            n_vs++;
        }
    if (!n_vs && argc == 2)
        options->n_before = 1;
    int n_after = argc - options->n_before - n_vs;
    if (n_vs > 1 || !options->n_before || n_after < 1)
        die("diff takes two runs, or several on each side: whywait diff A1 A2 vs B1 B2");
}

static struct options parse(int argc, char **argv)
{
    static const struct option long_options[] = {{"top", required_argument, NULL, 't'},
                                                 {"format", required_argument, NULL, 'f'},
                                                 {"width", required_argument, NULL, 'w'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {0}};
    struct options options = {.n_top = 10, .width = terminal_width()};
    int option;
    while ((option = option_next(argc, argv, long_options, usage)) != -1) {
        if (option == 't')
            options.n_top = option_number("top", optarg, 0);
        else if (option == 'w')
            options.width = option_number("width", optarg, 40);
        else if (option == 'f')
            options.is_json = option_is_json(optarg);
    }
    parse_runs(&options, argc - optind, argv + optind);
    return options;
}

/* What every run must share to be comparable; taken from the first one. */
struct kind_of_run {
    char program[256];
    uint32_t n_ranks;
};

static void warn_of_differences(struct kind_of_run *first, const struct trace *trace, const char *path)
{
    const char *program = trace->program ? trace->program : "";
    if (!first->n_ranks) {
        first->n_ranks = trace->n_ranks;
        snprintf(first->program, sizeof first->program, "%s", program);
    } else if (first->n_ranks != trace->n_ranks) {
        warn("%s has %u ranks, the first run %u: times are sums over ranks", path, trace->n_ranks, first->n_ranks);
    } else if (strcmp(first->program, program) != 0) {
        warn("%s is a run of %s, the first one of %s", path, program, first->program);
    }
}

static int add_run(struct comparison *comparison, struct kind_of_run *first, const char *path, bool is_after)
{
    struct pipeline pipeline;
    struct arena scratch = {0};
    int status = pipeline_run(&pipeline, path);
    if (status == 0) {
        const struct analysis *analysis = pipeline.analysis;
        struct label_book book = {.arena = &scratch, .analysis = analysis};
        const char **names = arena_array(&scratch, const char *, analysis->n_causes);
        for (uint32_t i = 0; i < analysis->n_causes; i++)
            names[i] = label_step(&book, analysis->causes[i].step);
        warn_of_differences(first, pipeline.trace, path);
        pipeline_is_degraded(&pipeline);
        compare_add(comparison, analysis, is_after, names);
    }
    pipeline_release(&pipeline);
    arena_release(&scratch);
    return status;
}

int cmd_diff(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct comparison comparison = {0};
    struct kind_of_run first = {0};
    int status = 0;
    for (int i = 0; i < options.n_runs && status == 0; i++)
        if (options.n_runs == 2 || i != options.n_before)
            status = add_run(&comparison, &first, options.runs[i], i >= options.n_before);
    if (status == 0) {
        compare_finish(&comparison);
        if (options.is_json)
            status = difference_print_json(stdout, &comparison);
        else
            difference_print(stdout, &comparison, options.n_top, options.width);
    }
    if (fflush(stdout) && status == 0)
        status = error("cannot write the comparison: %s", strerror(errno));
    compare_release(&comparison);
    return status ? 1 : 0;
}
