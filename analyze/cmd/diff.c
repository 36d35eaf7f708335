/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whywait diff: what changed between runs, and what of that is more than scatter; as a gate for scripts, and of more
 * than two sides as a series.
 */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/cmd/runs.h"
#include "analyze/compare/gate.h"
#include "analyze/out/difference.h"
#include "analyze/out/series.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_ABOVE = 3 };

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_MARKDOWN };
struct options {
    const char *baseline, *keep;
    char **runs; /* with "vs" between the sides */
    int n_runs;
    enum format format;
    bool has_gate;
    struct gate gate;
    struct difference_options print;
    struct terminal_options terminal;
};

enum { OPT_PARTS = OPT_OTHER, OPT_TOP, OPT_KEEP, OPT_BASELINE, OPT_FAIL_ABOVE, OPT_FORMAT, OPT_WIDTH };
static const struct option_row rows[] = {
    {"parts", OPT_PARTS, NULL, "show the parts of causes as well"},
    {"top", OPT_TOP, "N", "show the N causes that changed most (default 10; 0 = all)"},
    {"keep", OPT_KEEP, "FILE",
     "write what a comparison needs of the runs to a small file, which can stand for them wherever a run is named"},
    {"baseline", OPT_BASELINE, "FILE", "the runs kept in FILE are those before"},
    {"fail-above", OPT_FAIL_ABOVE, "P%[:WHAT]",
     "end with status 3 when WHAT (cause, time, waiting, computing or executions; default: any of them) grew by more "
     "than P per cent"},
    {"format", OPT_FORMAT, "text|markdown|json", "text is the default; docs/json.md has the fields of json"},
    {"width", OPT_WIDTH, "N", "columns of the text (default: the terminal's, or 110)"},
    TERMINAL_ROWS,
    {0},
};

const struct manual manual_diff = {
    .synopsis = "[OPTIONS] BEFORE AFTER\n[OPTIONS] BEFORE... vs AFTER...\n[OPTIONS] --baseline FILE "
                "AFTER...\n[OPTIONS] RUN RUN RUN...\n--keep FILE RUN...",
    .about = "Compares runs of a program before and after a change: what was counted exactly, then waiting cause by "
             "cause, then what the run time's difference is made of. Several runs on each side tell a change from "
             "noise. Three runs and more without \"vs\" are a series over the number of ranks or the input, with the "
             "power by which each cause grows.",
    .rows = rows,
    .after = "Exit status: 0; 1 when there is no comparison; 2 when a run lacks something; 3 when something grew "
             "beyond the limit.",
};

static enum format parse_format(const char *text)
{
    static const char *const names[] = {"text", "json", "markdown"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i]))
            return (enum format)i;
    die("--format: \"%s\" is none of text, json and markdown", text);
}

static struct options parse(int argc, char **argv)
{
    struct options options = {.print = {.n_top = 10, .width = terminal_width()}};
    int option;
    while ((option = option_next(argc, argv, &manual_diff)) != -1) {
        if (terminal_option(&options.terminal, option))
            continue;
        if (option == OPT_TOP)
            options.print.n_top = option_number("top", optarg, 0);
        else if (option == OPT_WIDTH)
            options.print.width = option_number("width", optarg, 40);
        else if (option == OPT_FORMAT)
            options.format = parse_format(optarg);
        else if (option == OPT_PARTS)
            options.print.parts = true;
        else if (option == OPT_BASELINE)
            options.baseline = optarg;
        else if (option == OPT_KEEP)
            options.keep = optarg;
        else if (option == OPT_FAIL_ABOVE && !(options.has_gate = gate_parse(optarg, &options.gate)))
            die("--fail-above: \"%s\" is not like 5%% or 5%%:cause (or :time, :waiting, :computing, :executions)",
                optarg);
    }
    options.print.look = terminal_look(&options.terminal);
    options.runs = argv + optind;
    options.n_runs = argc - optind;
    if (options.keep && (options.baseline || !options.n_runs))
        die("--keep FILE takes runs, and nothing to compare them with");
    return options;
}

/* Runs by side. Without "vs" and a baseline, two are the two sides. */
struct sides {
    struct arena arena;
    run_list runs;
    VEC(uint32_t) side_of;
    uint32_t n;
    bool is_divided; /* it was said which are which */
};

static int sides_add(struct sides *sides, const char *path)
{
    int status = runs_add(&sides->arena, path, &sides->runs);
    while (sides->side_of.n < sides->runs.n)
        *vec_push(&sides->side_of) = sides->n;
    return status;
}

/* Returns 0, STATUS_DEGRADED, or -1 after error(). */
static int sides_read(struct sides *sides, const struct options *options)
{
    bool has_vs = false;
    int status = options->baseline ? sides_add(sides, options->baseline) : 0;
    for (int i = 0; i < options->n_runs; i++)
        has_vs |= !strcmp(options->runs[i], "vs");
    sides->n = options->baseline ? 1 : 0;
    for (int i = 0; i < options->n_runs && status >= 0; i++) {
        if (!strcmp(options->runs[i], "vs")) {
            sides->n++;
            continue;
        }
        int added = sides_add(sides, options->runs[i]);
        status = added ? added : status;
        sides->n += !has_vs && !options->baseline && !options->keep;
    }
    sides->n += has_vs || options->baseline || options->keep;
    sides->is_divided = has_vs || options->baseline;
    return status;
}

/* A run on both sides is compared with itself, mostly by a slip. */
static void warn_of_same_runs(const struct sides *sides)
{
    for (size_t i = 0; i < sides->runs.n; i++)
        for (size_t j = i + 1; j < sides->runs.n; j++)
            if (sides->side_of.at[i] != sides->side_of.at[j] && runs_are_same(sides->runs.at[i], sides->runs.at[j])) {
                warn("%s stands on both sides: compared with itself, it shows no change", sides->runs.at[i]->path);
                return;
            }
}

/* Returns the exit status. */
static int compare(const struct options *options, const struct sides *sides)
{
    struct comparison comparison;
    int status = 0;
    compare_make(&comparison, sides->runs.at, sides->side_of.at, sides->runs.n, sides->n);
    int pager = pager_begin(&options->terminal);
    if (options->format == FORMAT_JSON)
        status = difference_print_json(stdout, &comparison) ? 1 : 0;
    else if (options->format == FORMAT_MARKDOWN)
        difference_print_markdown(stdout, &comparison, &options->print);
    else
        difference_print(stdout, &comparison, &options->print);
    if (fflush(stdout) && !status)
        status = error("cannot write the comparison: %s", strerror(errno)) != 0;
    pager_end(pager);
    if (!status && options->has_gate) {
        gate_hits hits = {0};
        bool is_blind;
        gate_check(&comparison, &options->gate, &hits, &is_blind);
        difference_print_hits(stderr, &hits);
        if (is_blind)
            warn("one run on each side says nothing about times: only exact counts were checked");
        status = hits.n ? STATUS_ABOVE : 0;
        vec_release(&hits);
    }
    compare_release(&comparison);
    return status;
}

/* Runs without sides. Returns the exit status. */
static int compare_series(const struct options *options, const struct sides *sides)
{
    struct series series;
    int status = 0;
    uint32_t n_points = series_make(&series, sides->runs.at, sides->runs.n, false);
    if (n_points < 2)
        die("these runs have the same ranks, command and build: which are before? whywait diff A1 A2 vs B1 B2");
    if (options->format == FORMAT_MARKDOWN || options->has_gate)
        die("--format markdown and --fail-above compare two sides, not a series");
    const struct series_options print = {options->print.n_top, options->print.width, options->print.look};
    int pager = pager_begin(&options->terminal);
    if (options->format == FORMAT_JSON)
        status = series_print_json(stdout, &series) ? 1 : 0;
    else
        series_print(stdout, &series, &print);
    if (fflush(stdout) && !status)
        status = error("cannot write the comparison: %s", strerror(errno)) != 0;
    pager_end(pager);
    if (n_points == 2 && series.by != SERIES_RANKS)
        warn("two builds or inputs are shown as a series; for a comparison say where the second begins: whywait diff "
             "A... vs B...");
    series_release(&series);
    return status;
}

int cmd_diff(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct sides sides = {0};
    int read = sides_read(&sides, &options), status = read < 0;
    if (!status && options.keep) {
        status = kept_write(options.keep, sides.runs.at, sides.runs.n) != 0;
    } else if (!status && !sides.is_divided && sides.n > 2) {
        status = compare_series(&options, &sides);
    } else if (!status) {
        for (uint32_t side = 0; side < sides.n || side < 2; side++) {
            bool is_there = false;
            for (size_t i = 0; i < sides.side_of.n; i++)
                is_there |= sides.side_of.at[i] == side;
            if (!is_there || sides.n != 2)
                die("diff takes two runs, or several on each side: whywait diff A1 A2 vs B1 B2");
        }
        status = compare(&options, &sides);
        if (status == 0)
            warn_of_same_runs(&sides);
    }
    if (!status && read)
        status = STATUS_DEGRADED;
    vec_release(&sides.runs);
    vec_release(&sides.side_of);
    arena_release(&sides.arena);
    return status;
}
