/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait html: a page for a browser, in one file; of one run, or of runs before and after a change. */
#include "analyze/files/output.h"
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/cmd/runs.h"
#include "analyze/html/html.h"
#include "analyze/words/amount.h"
#include "analyze/words/label.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

struct options {
    char **runs; /* none = the newest here; of two sides with "vs" between them, unless there are two only */
    int n_runs, n_before;
    const char *sources; /* a directory; NULL = none */
    bool no_sources;
    const char *out; /* NULL = named after the run; "-" = stdout */
};

enum { OPT_SOURCE = OPT_OTHER, OPT_NO_SOURCES };
static const struct option_row rows[] = {
    {"output", 'o', "FILE", "where to (default: here, the first run's name with .html; - is the standard output)"},
    {"source", OPT_SOURCE, "DIR",
     "look in DIR for sources that are not where they were compiled; needed for runs that somebody else has made"},
    {"no-sources", OPT_NO_SOURCES, NULL, "leave the text of sources out of the page"},
    {0},
};

const struct manual manual_html = {
    .synopsis = "[OPTIONS] [RUN]\n[OPTIONS] BEFORE AFTER\n[OPTIONS] BEFORE... vs AFTER...",
    .about = "Writes one page for a browser that shows the run: what makes ranks wait, the timeline of all ranks, who "
             "waits for whom, and the source. The page needs no network and no other file. Of several runs it also "
             "says what changed.",
    .rows = rows,
};

static struct options parse(int argc, char **argv)
{
    struct options options = {0};
    int option;
    while ((option = option_next(argc, argv, &manual_html)) != -1)
        if (option == OPT_NO_SOURCES)
            options.no_sources = true;
        else
            *(option == 'o' ? &options.out : &options.sources) = optarg;
    options.runs = argv + optind;
    options.n_runs = argc - optind;
    options.n_before = options.n_runs == 2 ? 1 : 0;
    int n_vs = 0;
    for (int i = 0; i < options.n_runs; i++)
        if (!strcmp(options.runs[i], "vs")) {
            options.n_before = i;
            n_vs++;
        }
    if (options.n_runs > 1 && (!options.n_before || n_vs > 1 || options.n_before + n_vs == options.n_runs))
        die("html takes one run, two runs, or several on each side: whywait html A1 A2 vs B1 B2");
    return options;
}

/* The page while runs are added to it. */
struct writing {
    const struct options *options;
    struct arena arena;
    struct output output; /* begun with the first run, whose name it has */
    struct html html;
    run_list runs; /* of two sides */
    VEC(uint32_t) side_of;
};

static int begin(struct writing *writing, const struct trace *trace)
{
    const char *name = writing->options->out;
    if (!name) { /* "jacobi-4-20261120-2154.html" */
        char *run = arena_strdup(&writing->arena, label_base_name(trace->run_dir ? trace->run_dir : trace->path));
        char *end = strrchr(run, '.');
        if (end && end > run)
            *end = '\0';
        name = arena_printf(&writing->arena, "%s.html", run);
    }
    if (output_begin(&writing->output, name, writing->options->out ? OUTPUT_PRIVATE : OUTPUT_PRIVATE | OUTPUT_CHOSEN))
        return -1;
    return html_begin(&writing->html, writing->output.file, trace_title(trace));
}

/* Runs are read one after the other, so that memory holds one. Returns 0, STATUS_DEGRADED, or -1 after
 * error(). */
static int add_run(struct writing *writing, const char *path, uint32_t side)
{
    struct loaded loaded;
    bool is_compared = writing->options->n_runs > 1;
    int status = is_compared ? load_analysis_with_facts(&loaded, path, true) : load_analysis(&loaded, path, true);
    if (!status && !writing->output.file)
        status = begin(writing, loaded.trace);
    if (!status) {
        struct coverage coverage = {0};
        bool is_counted =
            loaded.trace->is_counted && loaded.code && coverage_read(&coverage, loaded.trace, loaded.code) == 0;
        const struct html_sources sources = {writing->options->no_sources, writing->options->sources,
                                             is_counted ? &coverage : NULL};
        status = html_run(&writing->html, loaded.analysis, &loaded.timeline, &sources);
        coverage_release(&coverage);
    }
    if (!status && is_compared) {
        *vec_push(&writing->runs) = runs_make(&writing->arena, &loaded, path);
        *vec_push(&writing->side_of) = side;
    }
    if (!status && (load_is_degraded(&loaded) || writing->html.are_sources_cut))
        status = STATUS_DEGRADED;
    load_release(&loaded);
    return status;
}

static int add_runs(struct writing *writing)
{
    const struct options *options = writing->options;
    int status = 0;
    if (options->n_runs < 2)
        return add_run(writing, options->n_runs ? options->runs[0] : NULL, 0);
    for (int i = 0; i < options->n_runs && status >= 0; i++) {
        if (i == options->n_before && !strcmp(options->runs[i], "vs"))
            continue;
        int added = add_run(writing, options->runs[i], i >= options->n_before);
        status = added ? added : status;
    }
    if (status >= 0) {
        struct comparison comparison;
        compare_make(&comparison, writing->runs.at, writing->side_of.at, writing->runs.n, 2);
        status = html_comparison(&writing->html, &comparison) ? -1 : status;
        compare_release(&comparison);
    }
    return status;
}

/* The page may be given away: so what is in it is told. */
static void print_made(const char *name, long n_bytes, const struct intern *held)
{
    struct page page = {.out = stdout, .width = terminal_width()};
    struct arena scratch = {0};
    const char *files = "";
    for (uint32_t i = 0; i < held->n; i++)
        files = arena_printf(&scratch, "%s%s %s", files, i ? "," : "", (const char *)intern_get(held, i));
    if (n_bytes >= 0)
        page_line(&page, "%s (%s): open it in a browser", name, amount_bytes((double)n_bytes).text);
    else
        page_line(&page, "%s: open it in a browser", name);
    if (held->n)
        page_paragraph(&page, 2, 4, arena_printf(&scratch, "has text of%s (--no-sources leaves it out)", files));
    arena_release(&scratch);
}

static int end(struct writing *writing, int status)
{
    if (!writing->output.file)
        return status;
    if (status >= 0 && html_end(&writing->html))
        status = -1;
    const char *name = writing->output.file == stdout ? NULL : writing->output.name;
    long n_bytes = name ? ftell(writing->output.file) : 0;
    if (output_end(&writing->output, status >= 0))
        status = -1;
    if (status >= 0 && name)
        print_made(name, n_bytes, &writing->html.held);
    return status;
}

int cmd_html(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct writing writing = {.options = &options};
    int status = end(&writing, add_runs(&writing));
    vec_release(&writing.runs);
    vec_release(&writing.side_of);
    html_release(&writing.html);
    arena_release(&writing.arena);
    return status < 0 ? 1 : status;
}
