/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whywait export: exact counts of a run as executions by source line and rank, and the ways that conditions went, in
 * formats that line-coverage tools read. Counts are summed over the run and over a rank's threads, without what ran
 * while the program had switched recording off; calls in flight at a thread's last synchronisation are accounted for.
 */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/out/page.h"
#include "analyze/code/code.h"
#include "analyze/counts/counts.h"
#include "analyze/load.h"
#include "analyze/archive/run.h"
#include "analyze/trace/trace.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *path;
    bool as_json;
};

static const char usage[] = "Usage: whywait export [OPTIONS] [RUN]\n"
                            "Prints how often each source line was executed, rank by rank, of a program that\n"
                            "was built with $(whywait cc).\n"
                            "\n"
                            "  --format lcov|gcov-json   lcov (default), or one object a module and rank\n"
                            "  --help                    this text\n";

static struct options parse(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"format", required_argument, NULL, 'f'}, {"help", no_argument, NULL, 'h'}, {0}};
    struct options options = {0};
    while (option_next(argc, argv, long_options, usage) != -1) {
        options.as_json = strcmp(optarg, "gcov-json") == 0;
        if (!options.as_json && strcmp(optarg, "lcov") != 0)
            die("--format %s: there are lcov and gcov-json", optarg);
    }
    options.path = option_run(argc, argv);
    return options;
}

/* Calls in flight where something begins (-1) and where it ends (1). */
struct border {
    uint32_t frame;
    int32_t sign;
};

/* What is gathered while the events go by. */
struct gathering {
    struct arena arena;
    struct trace *trace;
    struct code *code;
    struct counts **counts; /* by module; NULL = none */
    bool *is_off;           /* by rank: the program has switched recording off */
    struct location {
        uint64_t *values;            /* by point of the trace */
        VEC(struct trace_bin) taken; /* bins whose call has not come yet */
        VEC(struct border) borders;  /* of what was recorded, but for the end of the run */
        uint32_t last_frame;         /* of the call at which the last bins were taken */
        bool is_taken, was_off;      /* bins came; recording was off at the last call at which they did */
    } * locations;
};

static void open_modules(struct gathering *g)
{
    struct trace *trace = g->trace;
    g->counts = arena_array(&g->arena, struct counts *, trace->n_modules);
    bool *has_points = arena_array(&g->arena, bool, trace->n_modules);
    for (uint32_t p = 0; p < trace->n_points; p++)
        if (trace->points[p].module < trace->n_modules)
            has_points[trace->points[p].module] = true;
    for (uint32_t m = 0; m < trace->n_modules; m++) {
        const struct trace_module *module = &trace->modules[m];
        if (!has_points[m])
            continue;
        enum code_state state = code_module_state(g->code, m);
        if (state == CODE_CHANGED || state == CODE_MISSING)
            warn("%s is not the file that ran (or is gone): its counts are left out", module->path);
        else if (counts_open(code_module_file(g->code, m), &g->counts[m]))
            g->counts[m] = NULL;
        if (g->counts[m])
            counts_keep_only(g->counts[m], g->trace->only);
    }
}

static bool location_is_off(const struct gathering *g, uint32_t at)
{
    uint32_t rank = g->trace->locations[at].rank;
    return rank < g->trace->n_ranks && g->is_off[rank];
}

/* What was counted while recording was off is left out. */
static void take_bins(struct gathering *g, struct location *location, bool is_off)
{
    if (!location->values)
        location->values = arena_array(&g->arena, uint64_t, g->trace->n_points);
    for (size_t i = 0; i < location->taken.n && !is_off; i++)
        if (location->taken.at[i].point < g->trace->n_points)
            location->values[location->taken.at[i].point] += location->taken.at[i].value;
    location->taken.n = 0;
}

static void take_event(struct gathering *g, const struct event *event)
{
    struct location *location = &g->locations[event->loc];
    uint32_t rank = g->trace->locations[event->loc].rank;
    if (event->kind == EV_BINS) {
        for (uint32_t i = 0; i < event->n_bins; i++)
            *vec_push(&location->taken) = event->bins[i];
        location->is_taken = true;
    } else if (event->kind == EV_ENTER && location->is_taken) {
        /* The call at which bins were taken. */
        bool is_off = location_is_off(g, event->loc);
        take_bins(g, location, is_off);
        if (is_off != location->was_off && location->last_frame != TRACE_NONE)
            *vec_push(&location->borders) = (struct border){location->last_frame, is_off ? 1 : -1};
        location->last_frame = event->frame;
        location->was_off = is_off;
        location->is_taken = false;
    } else if (event->kind == EV_CONTROL && rank < g->trace->n_ranks) {
        g->is_off[rank] = !event->flags;
    }
}

/* The counts of one thread in one module, added to the rank's. */
static void add_location(struct gathering *g, const struct location *location, uint32_t module, struct counts_sum *sum)
{
    const struct trace *trace = g->trace;
    VEC(struct counts_bin) bins = {0};
    VEC(struct counts_frame) frames = {0};
    struct counts_result result = {.keeps_flows = true};
    for (uint32_t p = 0; p < trace->n_points; p++)
        if (trace->points[p].module == module && location->values[p])
            *vec_push(&bins) = (struct counts_bin){trace->points[p].number, location->values[p]};
    for (size_t i = 0; i < location->borders.n; i++)
        trace_walk (trace, f, location->borders.at[i].frame)
            if (trace->frames[f].module == module && trace->frames[f].is_return)
                *vec_push(&frames) = (struct counts_frame){trace->frames[f].address, location->borders.at[i].sign};
    counts_solve(g->counts[module], bins.at, bins.n, frames.at, frames.n, &result);
    counts_sum_add(sum, &result);
    for (size_t i = 0; i < result.faults.n; i++)
        warn("the counts of %s contradict each other and are left out",
             counts_function(g->counts[module], result.faults.at[i].function)->name);
    vec_release(&bins);
    vec_release(&frames);
    counts_result_release(&result);
}

/* What is printed of one rank: lines and functions, both by file. */
struct listing {
    struct arena arena;
    struct counts_line_count *lines;
    struct counts_head *heads;
    struct counts_branch *branches;
    size_t n_lines, n_heads, n_branches;
};

/* The functions of a file begin at *at, where it was left after the file before. */
static size_t heads_of(const struct listing *listing, const char *file, size_t *at)
{
    size_t n = 0;
    while (*at < listing->n_heads && strcmp(listing->heads[*at].file, file) < 0)
        ++*at;
    while (*at + n < listing->n_heads && strcmp(listing->heads[*at + n].file, file) == 0)
        n++;
    return n;
}

/* The branches of a line begin at *at, where it was left after the line before. */
static size_t branches_of(const struct listing *listing, const struct counts_line_count *line, size_t *at)
{
    size_t n = 0;
    const struct counts_branch *branches = listing->branches;
    for (; *at < listing->n_branches; ++*at) {
        int by_file = strcmp(branches[*at].file, line->file);
        if (by_file > 0 || (by_file == 0 && branches[*at].line >= line->line))
            break;
    }
    while (*at + n < listing->n_branches && branches[*at + n].line == line->line &&
           strcmp(branches[*at + n].file, line->file) == 0)
        n++;
    return n;
}

/* Conditions of a line are numbered from 0. */
static void print_lcov_branches(const struct listing *listing, const struct counts_line_count *line, size_t *at)
{
    unsigned condition = 0;
    size_t n = branches_of(listing, line, at);
    for (const struct counts_branch *branch = listing->branches + *at; n-- > 0; branch++) {
        printf("BRDA:%u,%u,%u,", line->line, condition, branch->way);
        if (branch->executions)
            printf("%llu\n", (unsigned long long)branch->taken);
        else
            printf("-\n");
        condition += n > 0 && branch[1].way == 0;
    }
}

static void print_lcov(uint32_t rank, struct listing *listing)
{
    const struct counts_line_count *lines = listing->lines;
    size_t at_head = 0, at_branch = 0;
    for (size_t i = 0; i < listing->n_lines; i++) {
        if (i == 0 || strcmp(lines[i].file, lines[i - 1].file) != 0) {
            printf("%sTN:rank_%u\nSF:%s\n", i ? "end_of_record\n" : "", rank,
                   text_escape(&listing->arena, lines[i].file));
            size_t n = heads_of(listing, lines[i].file, &at_head);
            const struct counts_head *heads = listing->heads + at_head;
            for (size_t k = 0; k < n; k++)
                printf("FN:%u,%s\n", heads[k].line, text_escape(&listing->arena, heads[k].name));
            for (size_t k = 0; k < n; k++)
                printf("FNDA:%llu,%s\n", (unsigned long long)heads[k].calls,
                       text_escape(&listing->arena, heads[k].name));
        }
        print_lcov_branches(listing, &lines[i], &at_branch);
        printf("DA:%u,%llu\n", lines[i].line, (unsigned long long)lines[i].executions);
    }
    if (listing->n_lines)
        printf("end_of_record\n");
}

static json_t *json_functions(struct listing *listing, const char *file, size_t *at)
{
    json_t *array = json_array();
    size_t n = heads_of(listing, file, at);
    for (const struct counts_head *head = listing->heads + *at; n-- > 0; head++)
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:i, s:I}", "name", text_escape(&listing->arena, head->name),
                                        "demangled_name", text_escape(&listing->arena, head->source_name), "start_line",
                                        (int)head->line, "execution_count", (json_int_t)head->calls));
    return array;
}

static json_t *json_branches(const struct listing *listing, const struct counts_line_count *line, size_t *at)
{
    json_t *array = json_array();
    size_t n = branches_of(listing, line, at);
    for (const struct counts_branch *branch = listing->branches + *at; n-- > 0; branch++)
        json_array_append_new(
            array, json_pack("{s:I, s:b, s:b}", "count", (json_int_t)branch->taken, "fallthrough", 0, "throw", 0));
    return array;
}

/* The lines of the file that begins at *at, which moves behind it. */
static json_t *json_lines(struct listing *listing, size_t *at, size_t *at_branch)
{
    json_t *array = json_array();
    const struct counts_line_count *lines = listing->lines;
    for (const char *file = lines[*at].file; *at < listing->n_lines && strcmp(lines[*at].file, file) == 0; ++*at)
        json_array_append_new(array, json_pack("{s:i, s:I, s:s, s:b, s:o}", "line_number", (int)lines[*at].line,
                                               "count", (json_int_t)lines[*at].executions, "function_name",
                                               text_escape(&listing->arena, lines[*at].function), "unexecuted_block",
                                               lines[*at].executions == 0, "branches",
                                               json_branches(listing, &lines[*at], at_branch)));
    return array;
}

static void print_json(uint32_t rank, struct listing *listing)
{
    json_t *files = json_array();
    char name[32];
    snprintf(name, sizeof name, "rank %u", rank);
    for (size_t i = 0, at_head = 0, at_branch = 0; i < listing->n_lines;) {
        const char *file = listing->lines[i].file;
        json_t *functions = json_functions(listing, file, &at_head), *lines = json_lines(listing, &i, &at_branch);
        json_array_append_new(files, json_pack("{s:s, s:o, s:o}", "file", text_escape(&listing->arena, file),
                                               "functions", functions, "lines", lines));
    }
    json_t *all = json_pack("{s:s, s:s, s:s, s:o}", "format_version", "1", "gcc_version", "whywait " WHYWAIT_VERSION,
                            "data_file", name, "files", files);
    json_dumpf(all, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(all);
}

static void print_rank(struct gathering *g, uint32_t rank, bool as_json)
{
    for (uint32_t m = 0; m < g->trace->n_modules; m++) {
        struct counts_sum sum;
        struct listing listing = {0};
        if (!g->counts[m])
            continue;
        counts_sum_init(&sum, &listing.arena, g->counts[m]);
        for (uint32_t l = 0; l < g->trace->n_locations; l++)
            if (g->trace->locations[l].rank == rank && g->locations[l].values)
                add_location(g, &g->locations[l], m, &sum);
        listing.n_lines = counts_lines(&sum, &listing.arena, &listing.lines);
        listing.n_branches = counts_branches(&sum, &listing.arena, &listing.branches);
        listing.n_heads = counts_heads(&sum, &listing.arena, &listing.heads);
        (as_json ? print_json : print_lcov)(rank, &listing);
        arena_release(&listing.arena);
    }
}

static int gather(struct gathering *g)
{
    const struct event *event;
    g->locations = arena_array(&g->arena, struct location, g->trace->n_locations);
    g->is_off = arena_array(&g->arena, bool, g->trace->n_ranks);
    for (uint32_t l = 0; l < g->trace->n_locations; l++)
        g->locations[l].last_frame = TRACE_NONE;
    if (!g->trace->n_points && g->trace->only)
        return error("%s has no exact counts: nothing that ran was chosen by --only %s", g->trace->path,
                     g->trace->only);
    if (!g->trace->n_points)
        return error("%s has no exact counts: build the program with `mpicc $(whywait cc) ...`", g->trace->path);
    open_modules(g);
    while ((event = trace_next(g->trace)))
        take_event(g, event);
    for (uint32_t l = 0; l < g->trace->n_locations; l++) {
        struct location *location = &g->locations[l];
        if (location->is_taken)
            take_bins(g, location, location_is_off(g, l));
        if (!location->was_off && location->last_frame != TRACE_NONE)
            *vec_push(&location->borders) = (struct border){location->last_frame, 1};
    }
    return 0;
}

int cmd_export(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct gathering g = {0};
    int status = -1;
    char *anchor = run_find_archive(options.path);
    if (anchor && (g.trace = trace_open(anchor))) {
        g.code = load_code(g.trace);
        status = gather(&g);
        for (uint32_t rank = 0; status == 0 && rank < g.trace->n_ranks; rank++)
            print_rank(&g, rank, options.as_json);
        if (fflush(stdout) && status == 0)
            status = error("cannot write the counts: %s", strerror(errno));
        for (uint32_t m = 0; g.counts && m < g.trace->n_modules; m++)
            counts_close(g.counts[m]);
        for (uint32_t l = 0; g.locations && l < g.trace->n_locations; l++) {
            vec_release(&g.locations[l].taken);
            vec_release(&g.locations[l].borders);
        }
        code_close(g.code);
        trace_close(g.trace);
    }
    free(anchor);
    arena_release(&g.arena);
    return status ? 1 : 0;
}
