/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait report: which loops make the ranks wait. */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/cmd/runs.h"
#include "analyze/archive/live.h"
#include "analyze/archive/run.h"
#include "analyze/out/json_report.h"
#include "analyze/out/report.h"
#include "analyze/out/routines.h"
#include "analyze/pipeline.h"
#include "analyze/profile/profile.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct options {
    const char *path; /* NULL = the newest run here */
    char **runs;      /* several, to be summed up */
    int n_runs;
    bool is_json, by_space, list_sites, list_ranks, list_critical, list_routines, as_graph, bytes_by_routine,
        only_causing, has_top;
    const char *routine; /* NULL = none */
    struct routines_options routines;
    uint32_t cause, site; /* from 1; 0 = none */
    struct load_choice choice;
    uint32_t watch_s; /* 0 = a report of a whole run, once */
    struct report_options text;
    struct terminal_options terminal;
};

enum {
    OPT_TOP = OPT_OTHER,
    OPT_CAUSE,
    OPT_SITES,
    OPT_RANKS,
    OPT_CRITICAL,
    OPT_SITE,
    OPT_ROUTINES,
    OPT_ROUTINE,
    OPT_GRAPH,
    OPT_SORT,
    OPT_MATCH,
    OPT_DESCENDANTS,
    OPT_ANCESTORS,
    OPT_CAUSING,
    OPT_BY,
    OPT_FROM,
    OPT_UNTIL,
    OPT_THRESHOLD,
    OPT_ALL,
    OPT_ALL_STEPS,
    OPT_FULL_PATHS,
    OPT_FORMAT,
    OPT_WATCH,
    OPT_WIDTH,
};

static const struct option_row rows[] = {
    {"top", OPT_TOP, "N", "show N causes (default 5; 0 = all), sites or routines (20)"},
    {"cause", OPT_CAUSE, "N",
     "show cause N: its ranks, what is inside it, the calls where others wait, classes and steps"},
    {"sites", OPT_SITES, NULL, "list the MPI calls at which ranks wait"},
    {"ranks", OPT_RANKS, NULL,
     "where the time of each rank went, ranks that are alike in one row, and who waits for whom"},
    {"critical", OPT_CRITICAL, NULL, "the critical path, and what of it is imbalance"},
    {"site", OPT_SITE, "N", "show site N: who waits there, why, its classes and steps"},
    {"routines", OPT_ROUTINES, NULL, "list routines by the time spent in them and in what they call (gprof's profile)"},
    {"routine", OPT_ROUTINE, "NAME", "show one routine: its ranks, callers and callees"},
    {"graph", OPT_GRAPH, NULL,
     "with --routines: gprof's graph, each routine with callers above it and what it calls below, cycles as wholes"},
    {"sort", OPT_SORT, "total|self|calls|name", "with --routines: the order (total)"},
    {"match", OPT_MATCH, "TEXT", "with --routines: those whose names contain TEXT"},
    {"descendants", OPT_DESCENDANTS, "NAME", "with --routines: what this routine calls, directly or not"},
    {"ancestors", OPT_ANCESTORS, "NAME", "with --routines: what leads to this routine"},
    {"causing", OPT_CAUSING, NULL, "with --routines or --routine: not time, but the waiting it causes on other ranks"},
    {"by", OPT_BY, "waiting|space",
     "space: where memory is allocated (recorded with --space) instead of why ranks wait; with --routines or --routine "
     "bytes, not time"},
    {"from", OPT_FROM, "TIME",
     "only the part of the run from that time after its start, in seconds or with a unit (20, 20s, 500ms, 2m)"},
    {"until", OPT_UNTIL, "TIME", "until that time after its start"},
    {"threshold", OPT_THRESHOLD, "D",
     "instances of a wait up to D apart are of one class: 0.25, more for fewer classes, at most 2 (--cause --all "
     "shows distances)"},
    {"all", OPT_ALL, NULL, "everything, however long it gets; else a view has at most two screens, and json 1 MB"},
    {"all-steps", OPT_ALL_STEPS, NULL,
     "with --cause or --site: also steps that both sides share or that matter little"},
    {"full-paths", OPT_FULL_PATHS, NULL,
     "source files as the debug information has them, and names with all template arguments"},
    {"format", OPT_FORMAT, "text|json", "text (default), or json, whose fields docs/json.md describes"},
    {"watch", OPT_WATCH, "[=S]",
     "of a run that is still going: what ranks wait for so far, again every S seconds (5) until it ends; it is not "
     "disturbed"},
    {"width", OPT_WIDTH, "N", "columns of the text (default: the terminal's, or 110)"},
    TERMINAL_ROWS,
    {0},
};

const struct manual manual_report = {
    .synopsis = "[OPTIONS] [RUN...]",
    .about = "Says which loops make the ranks wait. RUN is a run directory or the anchor file (.otf2) of any OTF2 "
             "archive with MPI events; without it, the newest *.whywait directory here. Of several runs: mean, spread, "
             "smallest and largest.",
    .rows = rows,
    .after = "Exit status: 0; 1 when there is no report; 2 when it lacks something (the program's file has gone or "
             "changed, the archive is cut off, records are missing).",
};

static enum routines_order parse_order(const char *text)
{
    static const char *const orders[] = {[ROUTINES_BY_TOTAL] = "total",
                                         [ROUTINES_BY_SELF] = "self",
                                         [ROUTINES_BY_CALLS] = "calls",
                                         [ROUTINES_BY_NAME] = "name"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (!strcmp(text, orders[i]))
            return (enum routines_order)i;
    die("--sort: \"%s\" is neither total, self, calls nor name", text);
}

/* Those that only switch something on; NULL: it is another one. */
static bool *option_switch(struct options *options, int option)
{
    switch (option) {
    case OPT_RANKS:
        return &options->list_ranks;
    case OPT_CRITICAL:
        return &options->list_critical;
    case OPT_SITES:
        return &options->list_sites;
    case OPT_ROUTINES:
        return &options->list_routines;
    case OPT_GRAPH:
        return &options->as_graph;
    case OPT_CAUSING:
        return &options->only_causing;
    case OPT_ALL_STEPS:
        return &options->text.all_steps;
    case OPT_FULL_PATHS:
        return &options->text.full_paths;
    default:
        return NULL;
    }
}

/* Likewise those whose argument is taken as it stands. */
static const char **option_name(struct options *options, int option)
{
    switch (option) {
    case OPT_ROUTINE:
        return &options->routine;
    case OPT_MATCH:
        return &options->routines.match;
    case OPT_DESCENDANTS:
        return &options->routines.below;
    case OPT_ANCESTORS:
        return &options->routines.above;
    default:
        return NULL;
    }
}

static double parse_threshold(const char *text)
{
    char *end;
    double threshold = strtod(text, &end);
    if (end == text || *end || !(threshold > 0 && threshold <= 2))
        die("--threshold: \"%s\" is no distance above 0 and up to 2", text);
    return threshold;
}

static bool parse_by_space(const char *text)
{
    bool by_space = !strcmp(text, "space");
    if (!by_space && strcmp(text, "waiting"))
        die("--by: \"%s\" is neither waiting nor space", text);
    return by_space;
}

static void parse_value(struct options *options, int option)
{
    switch (option) {
    case OPT_TOP:
        options->text.n_top = option_number("top", optarg, 0);
        options->has_top = true;
        options->text.hide_small = false;
        break;
    case OPT_CAUSE:
        options->cause = option_number("cause", optarg, 1);
        break;
    case OPT_SITE:
        options->site = option_number("site", optarg, 1);
        break;
    case OPT_SORT:
        options->routines.order = parse_order(optarg);
        break;
    case OPT_BY:
        options->by_space = parse_by_space(optarg);
        break;
    case OPT_FROM:
        options->choice.from_ns = option_seconds("from", optarg);
        break;
    case OPT_UNTIL:
        options->choice.until_ns = option_seconds("until", optarg);
        break;
    case OPT_THRESHOLD:
        options->choice.threshold = parse_threshold(optarg);
        break;
    case OPT_ALL:
        options->text.all = options->text.all_steps = true;
        break;
    case OPT_FORMAT:
        options->is_json = option_is_json(optarg);
        break;
    case OPT_WATCH:
        options->watch_s = optarg ? option_number("watch", optarg, 1) : 5;
        break;
    case OPT_WIDTH:
        options->text.width = option_number("width", optarg, 20);
        break;
    }
}

static void parse_option(struct options *options, int option)
{
    bool *is_on = option_switch(options, option);
    const char **name = option_name(options, option);
    if (is_on)
        *is_on = true;
    else if (name)
        *name = optarg;
    else if (!terminal_option(&options->terminal, option))
        parse_value(options, option);
}

/* The number of views that the text report is to show instead of its overview; *name is the option of one of them. */
static int count_views(const struct options *options, const char **name)
{
    const struct {
        bool is_wanted;
        const char *name;
    } views[] = {
        {options->cause > 0, "--cause"},         {options->site > 0, "--site"},
        {options->list_sites, "--sites"},        {options->list_ranks, "--ranks"},
        {options->list_critical, "--critical"},  {options->list_routines, "--routines"},
        {options->routine != NULL, "--routine"}, {options->by_space && !options->bytes_by_routine, "--by space"}};
    int n = 0;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        n += views[i].is_wanted;
        *name = views[i].is_wanted ? views[i].name : *name;
    }
    return n;
}

/* Of options that do not go together, one message says so. */
static void check_options(const struct options *options)
{
    if (options->only_causing && !options->list_routines && !options->routine)
        die("--causing goes with --routines or --routine NAME");
    if ((options->as_graph || options->routines.order || options->routines.match || options->routines.below ||
         options->routines.above) &&
        !options->list_routines)
        die("--graph, --sort, --match, --descendants and --ancestors go with --routines");
    if (options->bytes_by_routine && options->only_causing)
        die("--causing and --by space are two things: give one of them");
    bool has_part = options->choice.from_ns || options->choice.until_ns != UINT64_MAX;
    const char *view = has_part ? "--from or --until" : NULL;
    int n_views = count_views(options, &view);
    if (!options->is_json && n_views > 1) /* JSON has room for several */
        die("give one of --cause, --sites, --site, --ranks, --critical, --routines, --routine and --by space at a "
            "time");
    if (options->choice.from_ns >= options->choice.until_ns)
        die("--from must be before --until");
    if (options->n_runs > 1 && view)
        die("%s shows one run, and you named %d: name one, or leave the option out", view, options->n_runs);
}

static struct options parse(int argc, char **argv)
{
    struct options options = {.choice = {.until_ns = UINT64_MAX},
                              .text = {.n_top = 5, .hide_small = true, .width = terminal_width()}};
    int option;
    while ((option = option_next(argc, argv, &manual_report)) != -1)
        parse_option(&options, option);
    if (options.text.all) {
        options.text.n_top = 0;
        options.has_top = true;
    } else if (!options.has_top && options.list_sites) {
        options.text.n_top = SITES_LISTED;
    }
    options.bytes_by_routine = options.by_space && (options.list_routines || options.routine);
    options.runs = argv + optind;
    options.n_runs = argc - optind;
    options.path = options.n_runs ? options.runs[0] : NULL;
    check_options(&options);
    return options;
}

static int print_routines(const struct options *options, const struct analysis *analysis, const struct profile *profile)
{
    struct routines_options routines = options->routines;
    routines.text = options->text;
    if (!options->has_top)
        routines.text.n_top = options->as_graph ? ENTRIES_SHOWN : ROUTINES_SHOWN;
    if (options->routine)
        return report_routine(stdout, analysis, profile, options->routine, &routines);
    return (options->as_graph ? report_routine_graph : report_routines)(stdout, analysis, profile, &routines);
}

static int lacks_bytes(const struct analysis *analysis)
{
    return error("%s has no allocated bytes: they need a program built by GCC with `mpicc $(whywait cc)`, and "
                 "`whywait record --space`",
                 analysis->trace->path);
}

static int print_space(const struct options *options, const struct analysis *analysis)
{
    struct report_options text = options->text;
    if (!options->has_top)
        text.n_top = ROUTINES_SHOWN;
    if (!analysis->n_allocations)
        return lacks_bytes(analysis);
    report_space(stdout, analysis, &text);
    return 0;
}

static int print(const struct options *options, struct analysis *analysis)
{
    if (options->cause > analysis->n_causes)
        return error("there is no cause %u: the run has %u", options->cause, analysis->n_causes);
    if (options->site > analysis->n_sites)
        return error("there is no site %u: the run has %u", options->site, analysis->n_sites);
    const struct profile *profile = NULL;
    if (options->list_routines || options->routine)
        profile = options->only_causing ? &analysis->blame_profile : &analysis->profile;
    if (profile == &analysis->profile && !profile->n_routines)
        return error("%s has no samples of call stacks: there is no routine profile", analysis->trace->path);
    struct profile bytes = {0};
    if (options->bytes_by_routine && !analysis->n_allocations)
        return lacks_bytes(analysis);
    if (options->bytes_by_routine) {
        bytes = profile_of_bytes(analysis);
        profile = &bytes;
    }
    if (options->is_json)
        return json_print(stdout, analysis,
                          &(struct json_options){.n_top = options->has_top ? options->text.n_top : 0,
                                                 .cause = options->cause,
                                                 .site = options->site,
                                                 .all = options->text.all,
                                                 .routines = profile});
    if (profile)
        return print_routines(options, analysis, profile);
    if (options->by_space)
        return print_space(options, analysis);
    if (options->cause)
        report_cause(stdout, analysis, options->cause - 1, &options->text);
    else if (options->site)
        report_site(stdout, analysis, options->site - 1, &options->text);
    else if (options->list_ranks)
        report_ranks(stdout, analysis, &options->text);
    else if (options->list_critical)
        report_critical(stdout, analysis, &options->text);
    else if (options->list_sites)
        report_sites(stdout, analysis, &options->text);
    else
        report_overview(stdout, analysis, &options->text);
    return 0;
}

/* One look at a run that goes on. Signals wait until the copy is gone again. */
static void look_at(const struct options *options, const char *run)
{
    struct loaded loaded = {0};
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    char *copy = live_copy(run);
    int status = copy ? load_analysis(&loaded, copy, false) : -1;
    live_drop(copy);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (status == 0) {
        loaded.trace->is_going = true;
        fputs(style_clear(&options->text.look), stdout);
        print(options, loaded.analysis);
        putchar('\n');
    }
    load_release(&loaded);
}

static double clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Until the run is over: a look, then a pause of the given length, or of ten times the CPU time that the look took: so
 * it takes a tenth of one CPU at most, and that at a low priority. At the lowest it would get none beside a program
 * that keeps every CPU busy. Returns the run, to be freed; NULL after error().
 */
static char *watch(const struct options *options)
{
    enum { LOW = 10, REST = 10, GRACE = 5 };
    char *run = run_find_directory(options->path);
    int n_over = 0;
    if (!run)
        return NULL;
    if (nice(LOW) < 0)
        errno = 0; /* it is low already */
    while (n_over < GRACE && !ferror(stdout) && !run_has_archive(run)) {
        double from_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
        enum live_state state = live_look(run);
        if (state == LIVE_GOING)
            look_at(options, run);
        fflush(stdout);
        /* When it is over, its processes may still be making the archive. */
        n_over = state == LIVE_OVER ? n_over + 1 : 0;
        double pause_s =
            state == LIVE_OVER ? 1 : fmax(options->watch_s, REST * (clock_s(CLOCK_PROCESS_CPUTIME_ID) - from_s));
        for (double until_s = clock_s(CLOCK_MONOTONIC) + pause_s;
             clock_s(CLOCK_MONOTONIC) < until_s && !run_has_archive(run);)
            usleep(200000);
    }
    fputs(style_clear(&options->text.look), stdout);
    return run;
}

int cmd_report(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    options.text.look = terminal_look(&options.terminal);
    char *watched = options.watch_s ? watch(&options) : NULL;
    if (options.watch_s && !watched)
        return 1;
    options.path = watched ? watched : options.path;
    struct loaded loaded;
    if (options.n_runs > 1)
        return runs_report(options.runs, options.n_runs, options.is_json,
                           &(struct series_options){.n_top = options.text.n_top,
                                                    .width = options.text.width,
                                                    .look = terminal_look(&options.terminal)},
                           &options.terminal);
    int status = load_analysis_part(&loaded, options.path, &options.choice);
    int pager = status == 0 && !options.watch_s ? pager_begin(&options.terminal) : 0;
    if (status == 0)
        status = print(&options, loaded.analysis);
    if (fflush(stdout) && status == 0)
        status = error("cannot write the report: %s", strerror(errno));
    pager_end(pager);
    if (status == 0 && load_is_degraded(&loaded))
        status = STATUS_DEGRADED;
    load_release(&loaded);
    free(watched);
    return status < 0 ? 1 : status;
}
