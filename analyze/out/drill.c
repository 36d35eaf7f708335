/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drilling down: all sites; one cause (ranks, then where it is felt, class by class with its steps); one site (which
 * ranks wait, which causes, its classes). Every number of the overview is found again here with its parts.
 */
#include "analyze/out/amount.h"
#include "analyze/out/explain.h"
#include "analyze/out/label.h"
#include "analyze/out/page.h"
#include "analyze/out/report.h"
#include <stdlib.h>

enum { INDENT = 2, HANG = 4, DEEP = 6 };

struct drill {
    struct arena arena;
    struct page page;
    struct label_book book;
    const struct analysis *analysis;
    const struct report_options *options;
};

static void drill_init(struct drill *drill, FILE *out, const struct analysis *analysis,
                       const struct report_options *options)
{
    *drill = (struct drill){.page = {.out = out, .width = options->width}, .analysis = analysis, .options = options};
    drill->book = (struct label_book){&drill->arena, analysis, options->full_paths, !options->full_paths};
}

/* Sites. */

static const char *cell_site(struct arena *arena, const void *data, unsigned row)
{
    const struct drill *drill = data;
    struct label_book book = drill->book;
    book.arena = arena;
    return arena_printf(arena, "%u %s", row + 1, label_site(&book, row));
}

static const char *cell_site_kind(struct arena *arena, const void *data, unsigned row)
{
    const struct drill *drill = data;
    return arena_strdup(arena, wait_kind_name(drill->analysis->sites[row].kind));
}

static const char *cell_site_waiting(struct arena *arena, const void *data, unsigned row)
{
    const struct drill *drill = data;
    return arena_strdup(arena, amount_duration(drill->analysis->sites[row].waiting_ns).text);
}

static const char *cell_site_share(struct arena *arena, const void *data, unsigned row)
{
    const struct analysis *analysis = ((const struct drill *)data)->analysis;
    double all_ns = analysis->waiting_ns;
    return arena_strdup(arena, amount_share(all_ns > 0 ? analysis->sites[row].waiting_ns / all_ns : 0).text);
}

static const char *cell_site_instances(struct arena *arena, const void *data, unsigned row)
{
    const struct drill *drill = data;
    return arena_strdup(arena, amount_count(drill->analysis->sites[row].n_instances).text);
}

static const struct page_column site_columns[] = {
    {"  where ranks wait", PAGE_WRAP, cell_site},   {"kind", PAGE_LEFT, cell_site_kind},
    {"waiting", PAGE_RIGHT, cell_site_waiting},     {"of all", PAGE_RIGHT, cell_site_share},
    {"instances", PAGE_RIGHT, cell_site_instances},
};

void report_sites(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    struct drill drill;
    drill_init(&drill, out, analysis, options);
    unsigned n = options->n_top && options->n_top < analysis->n_sites ? options->n_top : analysis->n_sites;
    if (!n)
        page_line(&drill.page, "No rank waits for another.");
    else
        page_table(&drill.page, &(struct page_table){.columns = site_columns,
                                                     .n_columns = sizeof site_columns / sizeof *site_columns,
                                                     .n_rows = n,
                                                     .data = &drill});
    arena_release(&drill.arena);
}

/* Classes and their steps. */

struct drill_class {
    const struct drill *drill;
    const struct wait_class *class;
    const uint32_t *shown; /* of the class's steps */
};

static const struct class_step *shown_step(const void *data, unsigned row)
{
    const struct drill_class *shown = data;
    return &shown->class->steps[shown->shown[row]];
}

static const char *cell_step_rank(struct arena *arena, const void *data, unsigned row)
{
    return arena_printf(arena, "%u", shown_step(data, row)->rank);
}

static const char *cell_step(struct arena *arena, const void *data, unsigned row)
{
    const struct drill_class *shown = data;
    struct label_book book = shown->drill->book;
    book.arena = arena;
    const struct class_step *step = shown_step(data, row);
    return arena_printf(arena, "%s%s", label_step(&book, step->step),
                        step->is_long_term ? " (through another rank's wait)" : "");
}

static const char *cell_step_duration(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_change(shown_step(data, row)->dur_ns).text);
}

static const char *cell_step_blame(struct arena *arena, const void *data, unsigned row)
{
    double blame_ns = shown_step(data, row)->blame_ns;
    return blame_ns > 0 ? arena_strdup(arena, amount_duration(blame_ns).text) : "";
}

static const char *cell_step_counts(struct arena *arena, const void *data, unsigned row)
{
    const struct class_step *step = shown_step(data, row);
    if (!step->executions)
        return "";
    return arena_printf(arena, "%c%s", step->executions > 0 ? '+' : '-',
                        amount_count((uint64_t)llabs(step->executions)).text);
}

static const struct page_column step_columns[] = {
    {"rank", PAGE_RIGHT, cell_step_rank},           {"step", PAGE_WRAP, cell_step},
    {"difference", PAGE_RIGHT, cell_step_duration}, {"blamed", PAGE_RIGHT, cell_step_blame},
    {"executions", PAGE_RIGHT, cell_step_counts},
};

static void drill_steps(struct drill *drill, const struct wait_class *class)
{
    uint32_t *shown = arena_array(&drill->arena, uint32_t, class->n_steps), n = 0;
    for (uint32_t i = 0; i < class->n_steps; i++)
        if (drill->options->all_steps || !class->steps[i].is_redundant)
            shown[n++] = i;
    struct drill_class data = {.drill = drill, .class = class, .shown = shown};
    page_table(&drill->page, &(struct page_table){.columns = step_columns,
                                                  .n_columns = sizeof step_columns / sizeof *step_columns,
                                                  .n_rows = n,
                                                  .indent = DEEP,
                                                  .data = &data});
    uint32_t n_left = class->n_steps - n;
    if (n_left)
        page_paragraph(&drill->page, DEEP, DEEP,
                       arena_printf(&drill->arena,
                                    "%u %s that both sides share or that matter little left out (--all-steps)", n_left,
                                    n_left == 1 ? "step" : "steps"));
}

static void drill_class(struct drill *drill, const struct wait_class *class)
{
    const struct trace *trace = drill->analysis->trace;
    double first_ns = class->first_ns > trace->start_ns ? (double)(class->first_ns - trace->start_ns) : 0;
    page_tab(&drill->page, HANG);
    page_put(&drill->page, "class %u:", class->number);
    page_put(&drill->page, " %s %s", amount_count(class->n_instances).text,
             class->n_instances == 1 ? "instance" : "instances");
    page_piece(&drill->page, DEEP, "%s waiting", amount_duration(class->waiting_ns).text);
    page_piece(&drill->page, DEEP, "first %s after the start", amount_duration(first_ns).text);
    page_end(&drill->page);
    drill_steps(drill, class);
}

static bool in_classes(const struct cause_site *at, uint32_t number)
{
    for (uint32_t i = 0; i < at->n_classes; i++)
        if (at->classes[i] == number)
            return true;
    return false;
}

/* One cause. */

struct drill_ranks {
    const struct cause *cause;
};

static const struct cause_rank *cause_rank(const void *data, unsigned row)
{
    const struct cause *cause = ((const struct drill_ranks *)data)->cause;
    return row < cause->n_ranks ? &cause->ranks[row] : &cause->others[row - cause->n_ranks];
}

static const char *cell_rank(struct arena *arena, const void *data, unsigned row)
{
    return arena_printf(arena, "%u", cause_rank(data, row)->rank);
}

static const char *cell_rank_blame(struct arena *arena, const void *data, unsigned row)
{
    double blame_ns = cause_rank(data, row)->blame_ns;
    return blame_ns > 0 ? arena_strdup(arena, amount_duration(blame_ns).text) : "-";
}

static const char *cell_rank_time(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_duration(cause_rank(data, row)->time_ns).text);
}

/* A place is counted on all ranks or on none. */
static bool is_counted(const struct cause *cause)
{
    for (uint32_t i = 0; i < cause->n_ranks + cause->n_others; i++)
        if (cause_rank(&(struct drill_ranks){cause}, i)->executions)
            return true;
    return false;
}

static const char *cell_rank_executions(struct arena *arena, const void *data, unsigned row)
{
    if (!is_counted(((const struct drill_ranks *)data)->cause))
        return "not counted";
    return arena_strdup(arena, amount_count(cause_rank(data, row)->executions).text);
}

static const char *cell_rank_cost(struct arena *arena, const void *data, unsigned row)
{
    const struct cause_rank *rank = cause_rank(data, row);
    if (!rank->executions)
        return "";
    double cost_ns = rank->computing_ns / (double)rank->executions;
    return rank->cost_error > 0
               ? arena_printf(arena, "%s +-%s", amount_cost(cost_ns).text, amount_share(rank->cost_error).text)
               : arena_strdup(arena, amount_cost(cost_ns).text);
}

static const struct page_column rank_columns[] = {
    {"rank", PAGE_RIGHT, cell_rank},
    {"makes others wait", PAGE_RIGHT, cell_rank_blame},
    {"time in it", PAGE_RIGHT, cell_rank_time},
    {"executions", PAGE_RIGHT, cell_rank_executions},
    {"each", PAGE_RIGHT, cell_rank_cost},
};

static void drill_cause_ranks(struct drill *drill, const struct cause *cause)
{
    struct drill_ranks data = {cause};
    page_table(&drill->page, &(struct page_table){.columns = rank_columns,
                                                  .n_columns = sizeof rank_columns / sizeof *rank_columns,
                                                  .n_rows = cause->n_ranks + cause->n_others,
                                                  .indent = INDENT,
                                                  .data = &data});
}

/* All decisions by which the two sides part; the first one stands in the explanation as well. */
static void drill_partings(struct drill *drill, const struct cause *cause)
{
    for (uint32_t i = 0; i < cause->n_partings; i++) {
        const struct parting *parting = &cause->partings[i];
        if (!i)
            page_line(&drill->page, "%*sdecided in %s(), with the part of the difference in instructions:", INDENT, "",
                      parting->routine);
        page_paragraph(&drill->page, HANG, DEEP,
                       arena_printf(&drill->arena, "%s   %s", amount_share(parting->share).text,
                                    explain_parting(&drill->arena, parting, "the others")));
    }
    if (cause->n_partings)
        page_end(&drill->page);
}

static void drill_cause_site(struct drill *drill, const struct cause_site *at)
{
    const struct wait_site *site = &drill->analysis->sites[at->site];
    page_end(&drill->page);
    page_tab(&drill->page, INDENT);
    page_words(&drill->page, HANG, arena_printf(&drill->arena, "waiting at %s", label_site(&drill->book, at->site)));
    page_piece(&drill->page, HANG, "%s (site %u)", wait_kind_name(site->kind), at->site + 1);
    page_piece(&drill->page, HANG, "%s", amount_duration(at->waiting_ns).text);
    page_piece(&drill->page, HANG, "%s of %s instances", amount_count(at->n_instances).text,
               amount_count(site->n_instances).text);
    page_end(&drill->page);
    for (uint32_t i = 0; i < site->n_classes; i++)
        if (in_classes(at, site->classes[i].number))
            drill_class(drill, &site->classes[i]);
}

void report_cause(FILE *out, const struct analysis *analysis, uint32_t number, const struct report_options *options)
{
    struct drill drill;
    drill_init(&drill, out, analysis, options);
    const struct cause *cause = &analysis->causes[number];
    page_put(&drill.page, "cause %u   ", number + 1);
    page_words(&drill.page, INDENT, label_cause(&drill.book, number));
    page_end(&drill.page);
    page_tab(&drill.page, INDENT);
    page_put(&drill.page, "%s waiting", amount_duration(cause->waiting_ns).text);
    page_piece(&drill.page, INDENT, "%s of all", amount_share(cause->share).text);
    page_piece(&drill.page, INDENT, "%s directly, %s through other ranks' waits",
               amount_duration(cause->direct_ns).text, amount_duration(cause->waiting_ns - cause->direct_ns).text);
    page_piece(&drill.page, INDENT, "if balanced %s (estimate)", amount_gain(cause->if_balanced_ns).text);
    page_piece(&drill.page, INDENT, "saves at most %s, if it took no time", amount_gain(cause->if_gone_ns).text);
    if (cause->last_rank != TRACE_NONE)
        page_piece(&drill.page, INDENT, "rank %u then becomes the slowest", cause->last_rank);
    page_end(&drill.page);
    page_tab(&drill.page, INDENT);
    page_words(&drill.page, INDENT, explain_cause(&drill.arena, cause));
    page_piece(&drill.page, INDENT, "(%s)", label_kind(&drill.book, cause));
    page_end(&drill.page);
    page_end(&drill.page);
    drill_partings(&drill, cause);
    drill_cause_ranks(&drill, cause);
    for (uint32_t i = 0; i < cause->n_sites; i++)
        drill_cause_site(&drill, &cause->sites[i]);
    arena_release(&drill.arena);
}

/* One site. */

static void drill_site_ranks(struct drill *drill, const struct wait_site *site)
{
    for (uint32_t rank = 0; rank < drill->analysis->trace->n_ranks; rank++)
        if (site->rank_waiting_ns && site->rank_waiting_ns[rank] > 0)
            page_line(&drill->page, "%*srank %u waits %s", INDENT, "", rank,
                      amount_duration(site->rank_waiting_ns[rank]).text);
}

struct site_cause {
    double waiting_ns;
    uint32_t cause;
};

static int by_falling_waiting(const void *a, const void *b)
{
    const struct site_cause *x = a, *y = b;
    if (x->waiting_ns != y->waiting_ns)
        return x->waiting_ns < y->waiting_ns ? 1 : -1;
    return (x->cause > y->cause) - (x->cause < y->cause);
}

/* The causes felt at a site, the largest first; those below 1 % only on request. */
static void drill_site_causes(struct drill *drill, uint32_t number)
{
    const struct analysis *analysis = drill->analysis;
    struct site_cause *felt = arena_array(&drill->arena, struct site_cause, analysis->n_causes);
    uint32_t n = 0, n_shown = 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        for (uint32_t k = 0; k < analysis->causes[i].n_sites; k++)
            if (analysis->causes[i].sites[k].site == number)
                felt[n++] = (struct site_cause){analysis->causes[i].sites[k].waiting_ns, i};
    qsort(felt, n, sizeof *felt, by_falling_waiting);
    double least_ns = drill->options->all_steps ? 0 : 0.01 * analysis->sites[number].waiting_ns;
    for (; n_shown < n && (felt[n_shown].waiting_ns >= least_ns || !n_shown); n_shown++)
        page_paragraph(&drill->page, INDENT, HANG,
                       arena_printf(&drill->arena, "%s because of %s (cause %u)",
                                    amount_duration(felt[n_shown].waiting_ns).text,
                                    label_step(&drill->book, analysis->causes[felt[n_shown].cause].step),
                                    felt[n_shown].cause + 1));
    if (n_shown < n)
        page_line(&drill->page, "%*s%u more with less than 1 %% each left out (--all-steps)", INDENT, "", n - n_shown);
}

void report_site(FILE *out, const struct analysis *analysis, uint32_t number, const struct report_options *options)
{
    struct drill drill;
    drill_init(&drill, out, analysis, options);
    const struct wait_site *site = &analysis->sites[number];
    page_put(&drill.page, "site %u   ", number + 1);
    page_words(&drill.page, INDENT, label_site(&drill.book, number));
    page_end(&drill.page);
    page_line(&drill.page, "  %s   %s waiting   %s instances", wait_kind_name(site->kind),
              amount_duration(site->waiting_ns).text, amount_count(site->n_instances).text);
    page_end(&drill.page);
    drill_site_ranks(&drill, site);
    drill_site_causes(&drill, number);
    for (uint32_t i = 0; i < site->n_classes; i++)
        drill_class(&drill, &site->classes[i]);
    arena_release(&drill.arena);
}
