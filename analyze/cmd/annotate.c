/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait annotate: the source with blame in the margin. */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/out/source.h"
#include "analyze/pipeline.h"
#include "wrap/base/err.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *path;
    struct source_options source;
    struct terminal_options terminal;
};

enum { OPT_FILE = OPT_OTHER, OPT_SOURCE, OPT_CONTEXT, OPT_WIDTH };
static const struct option_row rows[] = {
    {"file", OPT_FILE, "NAME", "only files whose path ends in NAME"},
    {"source", OPT_SOURCE, "DIR",
     "look in DIR for sources that are not where they were compiled; needed for runs that somebody else has made"},
    {"context", OPT_CONTEXT, "N", "lines around what is marked (default 3)"},
    {"width", OPT_WIDTH, "N", "columns (default: the terminal's, or 110)"},
    TERMINAL_ROWS,
    {0},
};

const struct manual manual_annotate = {
    .synopsis = "[OPTIONS] [FILE:LINES] [RUN]",
    .about = "Prints the source of the loops that make ranks wait, and of the calls at which they wait. The margin has "
             "what a loop causes, what is waited at a call, the time at the line itself and, of programs built with "
             "$(whywait cc), executions (least, mean and most on a rank; the mean alone where ranks are alike) and the "
             "ways that conditions went, in per cent. Brackets stand around loops. FILE:LINES (jacobi.c:40-60, "
             "jacobi.c:40) prints these lines, whatever they do; it may stand behind RUN.",
    .rows = rows,
};

/* "jacobi.c:40-60"; false when it is something else, and nothing has changed. */
static bool parse_lines(char *text, struct source_options *source)
{
    char *colon = strrchr(text, ':'), *end;
    if (!colon || colon == text || !isdigit((unsigned char)colon[1]))
        return false;
    unsigned long first = strtoul(colon + 1, &end, 10), last = first;
    if (*end == '-' && isdigit((unsigned char)end[1]))
        last = strtoul(end + 1, &end, 10);
    if (*end || !first || last < first || last > UINT32_MAX)
        return false;
    *colon = '\0';
    source->only_file = text;
    source->line_first = (uint32_t)first;
    source->line_last = (uint32_t)last;
    return true;
}

static struct options parse(int argc, char **argv)
{
    struct options options = {.source = {.n_context = 3, .width = terminal_width()}};
    int option;
    while ((option = option_next(argc, argv, &manual_annotate)) != -1) {
        if (terminal_option(&options.terminal, option))
            continue;
        if (option == OPT_FILE)
            options.source.only_file = optarg;
        else if (option == OPT_SOURCE)
            options.source.directory = optarg;
        else if (option == OPT_CONTEXT)
            options.source.n_context = option_number("context", optarg, 0);
        else if (option == OPT_WIDTH)
            options.source.width = option_number("width", optarg, 40);
    }
    for (int i = optind; i < argc && !options.source.line_first; i++)
        if (parse_lines(argv[i], &options.source))
            argv[i] = argv[optind++]; /* the run is what is left */
    options.path = option_run(argc, argv);
    return options;
}

int cmd_annotate(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct loaded loaded;
    struct coverage coverage = {0};
    int status = load_analysis(&loaded, options.path, false);
    bool is_counted = status == 0 && loaded.trace->is_counted && loaded.code;
    if (is_counted && coverage_read(&coverage, loaded.trace, loaded.code) == 0)
        options.source.coverage = &coverage;
    options.source.look = terminal_look(&options.terminal);
    int pager = status == 0 ? pager_begin(&options.terminal) : 0;
    bool is_degraded = status == 0 && load_is_degraded(&loaded);
    if (status == 0) {
        struct source_files files = source_print(stdout, loaded.analysis, &options.source);
        is_degraded |= files.n_cut > 0;
        if (!files.n_shown && files.n_unreadable)
            status = error("none of the sources can be read; --source DIR says where to look for them");
        else if (!files.n_shown)
            status = options.source.line_first ? error("%s has no line %u: it has %u", options.source.only_file,
                                                       options.source.line_first, files.n_lines)
                                               : error("no source to show: nothing waits for long%s",
                                                       options.source.only_file ? " because of this file"
                                                                                : ", or there is no debug information");
    }
    if (fflush(stdout) && status == 0)
        status = error("cannot write the source: %s", strerror(errno));
    pager_end(pager);
    coverage_release(&coverage);
    load_release(&loaded);
    return status ? 1 : is_degraded ? STATUS_DEGRADED : 0;
}
