/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait trend: versions over time, each cause as bars, and the first run at which it changed. */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/cmd/runs.h"
#include "analyze/out/series.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <string.h>

enum { OPT_TOP = OPT_OTHER, OPT_FORMAT, OPT_WIDTH };
static const struct option_row rows[] = {
    {"top", OPT_TOP, "N", "show the N causes with most waiting (default 10; 0 = all)"},
    {"format", OPT_FORMAT, "text|json", "text (default), or json, whose fields docs/json.md describes"},
    {"width", OPT_WIDTH, "N", "columns of the text (default: the terminal's, or 110)"},
    TERMINAL_ROWS,
    {0},
};

const struct manual manual_trend = {
    .synopsis = "[OPTIONS] RUN...",
    .about = "Shows runs of a program in the order in which they were recorded: each cause of waiting as a row of "
             "bars, and the first run at which it changed. Files made by whywait diff --keep stand for their runs. Of "
             "one run that was recorded in windows (whywait record --window) it shows the windows.",
    .rows = rows,
};

int cmd_trend(int argc, char **argv)
{
    struct series_options print = {.n_top = 10, .width = terminal_width()};
    struct terminal_options terminal = {0};
    bool is_json = false;
    int option, status = 0;
    struct arena arena = {0};
    run_list runs = {0};
    while ((option = option_next(argc, argv, &manual_trend)) != -1) {
        if (terminal_option(&terminal, option))
            continue;
        if (option == OPT_TOP)
            print.n_top = option_number("top", optarg, 0);
        else if (option == OPT_WIDTH)
            print.width = option_number("width", optarg, 40);
        else if (option == OPT_FORMAT)
            is_json = option_is_json(optarg);
    }
    if (optind == argc)
        die("trend takes two runs at least, or one that was recorded in windows: whywait trend RUN...");
    bool is_one = optind + 1 == argc && !kept_is(argv[optind]);
    if (is_one)
        status = runs_add_windows(&arena, argv[optind], &runs);
    for (int i = optind; i < argc && status >= 0 && !is_one; i++) {
        int added = runs_add(&arena, argv[i], &runs);
        status = added ? added : status;
    }
    if (status >= 0 && runs.n < 2)
        status = error("%s holds one run, and trend takes two at least", argv[optind]);
    if (status >= 0) {
        struct series series;
        series_make(&series, runs.at, runs.n, true);
        print.look = terminal_look(&terminal);
        int pager = pager_begin(&terminal);
        if (is_json && series_print_json(stdout, &series))
            status = -1;
        else if (!is_json)
            series_print_trend(stdout, &series, &print);
        if (fflush(stdout) && status >= 0)
            status = error("cannot write the trend: %s", strerror(errno));
        pager_end(pager);
        series_release(&series);
    }
    vec_release(&runs);
    arena_release(&arena);
    return status < 0 ? 1 : status;
}
