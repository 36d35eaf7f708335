/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait diff: which causes of waiting grew or shrank between runs, and what of that is noise. */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/out/difference.h"
#include "analyze/out/ending.h"
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
    bool is_counted;
};

static void note_differences(struct comparison *comparison, struct kind_of_run *first, const struct trace *trace,
                             const char *path)
{
    struct arena *arena = &comparison->arena;
    const char *program = trace->program ? trace->program : "";
    bool is_counted = trace->n_points > 0;
    if (!first->n_ranks) {
        *first = (struct kind_of_run){.n_ranks = trace->n_ranks, .is_counted = is_counted};
        snprintf(first->program, sizeof first->program, "%s", program);
    }
    if (first->n_ranks != trace->n_ranks)
        *vec_push(&comparison->notes) =
            arena_printf(arena, "%s has %u ranks, the first run %u: waiting is the sum over ranks.", path,
                         trace->n_ranks, first->n_ranks);
    if (strcmp(first->program, program) != 0)
        *vec_push(&comparison->notes) =
            arena_printf(arena, "%s is a run of %s, the first one of %s.", path, program, first->program);
    if (first->is_counted != is_counted)
        *vec_push(&comparison->notes) =
            arena_printf(arena,
                         "%s was %s to count, the first run was %s: counting takes time, and tells short loops "
                         "apart that samples do not.",
                         path, is_counted ? "built" : "not built", is_counted ? "not" : "so");
    bool is_whole = true;
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++)
        is_whole &= ending_is_orderly(trace, ending_main_thread(trace, rank));
    if (!is_whole)
        *vec_push(&comparison->notes) =
            arena_printf(arena, "%s did not come to its end: whywait report tells why.", path);
}

/* Returns 0; 2 when the run lacks something that its analysis should rest on; -1 after error(). */
static int add_run(struct comparison *comparison, struct kind_of_run *first, const char *path, bool is_after)
{
    struct loaded loaded;
    struct arena scratch = {0};
    int status = load_analysis(&loaded, path, false);
    if (status == 0) {
        const struct analysis *analysis = loaded.analysis;
        struct label_book book = {.arena = &scratch, .analysis = analysis};
        const char **names = arena_array(&scratch, const char *, analysis->n_steps + 1);
        for (uint32_t i = 0; i < analysis->n_causes; i++)
            for (uint32_t k = 0; k < analysis->causes[i].n_parts; k++)
                names[analysis->causes[i].parts[k].step] = label_step(&book, analysis->causes[i].parts[k].step);
        note_differences(comparison, first, loaded.trace, path);
        status = load_is_degraded(&loaded) ? 2 : 0;
        compare_add(comparison, analysis, is_after, names);
    }
    load_release(&loaded);
    arena_release(&scratch);
    return status;
}

/* As add_run, of all. */
static int add_runs(struct comparison *comparison, const struct options *options)
{
    struct kind_of_run first = {0};
    int status = 0;
    for (int i = 0; i < options->n_runs; i++) {
        if (options->n_runs > 2 && i == options->n_before)
            continue;
        int added = add_run(comparison, &first, options->runs[i], i >= options->n_before);
        if (added < 0)
            return added;
        status = added ? added : status;
    }
    return status;
}

int cmd_diff(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct comparison comparison = {0};
    int status = add_runs(&comparison, &options), failed = status < 0;
    if (!failed) {
        compare_finish(&comparison);
        if (options.is_json)
            failed = difference_print_json(stdout, &comparison);
        else
            difference_print(stdout, &comparison, options.n_top, options.width);
    }
    if (fflush(stdout) && !failed)
        failed = error("cannot write the comparison: %s", strerror(errno));
    compare_release(&comparison);
    return failed ? 1 : status;
}
