/* SPDX-License-Identifier: BSD-3-Clause */
/* One cause: when it acts, its ranks, what is inside it, and the calls at which it is felt. */
#include "analyze/out/drill.h"
#include "analyze/out/amount.h"
#include "analyze/out/explain.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is shown of each list unless everything is asked for. */
enum { RANKS_SHOWN = 12, PARTS_SHOWN = 16, CALLS_SHOWN = 4 };

void drill_init(struct drill *drill, FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    *drill = (struct drill){
        .page = {.out = out, .width = options->width, .look = options->look}, .analysis = analysis, .options = options};
    drill->book = (struct label_book){&drill->arena, analysis, options->full_paths, !options->full_paths};
}

uint32_t drill_n_shown(const struct drill *drill, uint32_t n, uint32_t most)
{
    return drill->options->all || n < most ? n : most;
}

void drill_say_more(struct drill *drill, size_t indent, uint32_t n_left, const char *one, const char *many)
{
    if (n_left)
        page_line(&drill->page, "%*sand %u more %s (--all)", (int)indent, "", n_left, n_left == 1 ? one : many);
}

/* Ranks in one row: one, or several that spend about as long in it. */
struct alike {
    struct cause_rank *at; /* by falling time */
    uint32_t n;
};

struct drill_ranks {
    const struct cause *cause;
    struct alike *rows;
    uint32_t n_rows;
    bool is_counted; /* on all ranks or on none */
};

static const struct alike *alike_at(const void *data, unsigned row)
{
    return &((const struct drill_ranks *)data)->rows[row];
}

static const char *cell_rank(struct arena *arena, const void *data, unsigned row)
{
    const struct alike *alike = alike_at(data, row);
    uint32_t *ranks = arena_array(arena, uint32_t, alike->n);
    if (alike->n == 1)
        return arena_printf(arena, "%u", alike->at->rank);
    for (uint32_t i = 0; i < alike->n; i++)
        ranks[i] = alike->at[i].rank;
    return arena_printf(arena, "%u ranks: %s", alike->n, strchr(amount_ranks(arena, ranks, alike->n), ' ') + 1);
}

static const char *cell_rank_blame(struct arena *arena, const void *data, unsigned row)
{
    const struct alike *alike = alike_at(data, row);
    double blame_ns = 0;
    for (uint32_t i = 0; i < alike->n; i++)
        blame_ns += alike->at[i].blame_ns;
    return blame_ns > 0 ? arena_strdup(arena, amount_duration(blame_ns).text) : "-";
}

/* "1.20 s", "1.20 s to 1.31 s" */
static const char *range(struct arena *arena, struct amount low, struct amount high)
{
    return strcmp(low.text, high.text) ? arena_printf(arena, "%s to %s", low.text, high.text)
                                       : arena_strdup(arena, low.text);
}

static const char *cell_rank_time(struct arena *arena, const void *data, unsigned row)
{
    const struct alike *alike = alike_at(data, row);
    return range(arena, amount_duration(alike->at[alike->n - 1].time_ns), amount_duration(alike->at->time_ns));
}

static const char *cell_rank_executions(struct arena *arena, const void *data, unsigned row)
{
    const struct alike *alike = alike_at(data, row);
    uint64_t low = UINT64_MAX, high = 0;
    if (!((const struct drill_ranks *)data)->is_counted)
        return "not counted";
    for (uint32_t i = 0; i < alike->n; i++) {
        low = alike->at[i].executions < low ? alike->at[i].executions : low;
        high = alike->at[i].executions > high ? alike->at[i].executions : high;
    }
    return range(arena, amount_count(low), amount_count(high));
}

/* Of all ranks of the row together. */
static const char *cell_rank_cost(struct arena *arena, const void *data, unsigned row)
{
    const struct alike *alike = alike_at(data, row);
    double computing_ns = 0, executions = 0, variance_ns2 = 0;
    for (uint32_t i = 0; i < alike->n; i++) {
        computing_ns += alike->at[i].computing_ns;
        executions += (double)alike->at[i].executions;
        variance_ns2 += pow(alike->at[i].cost_error * alike->at[i].computing_ns, 2);
    }
    if (!(executions > 0))
        return "";
    const char *cost = arena_strdup(arena, amount_cost(computing_ns / executions).text);
    return variance_ns2 > 0 ? arena_printf(arena, "%s +-%s", cost, amount_share(sqrt(variance_ns2) / computing_ns).text)
                            : cost;
}

static const struct page_column rank_columns[] = {
    {"rank", PAGE_WRAP, STYLE_PLAIN, cell_rank},
    {"makes others wait", PAGE_RIGHT, STYLE_PLAIN, cell_rank_blame},
    {"time in it", PAGE_RIGHT, STYLE_PLAIN, cell_rank_time},
    {"executions", PAGE_RIGHT, STYLE_PLAIN, cell_rank_executions},
    {"each", PAGE_RIGHT, STYLE_PLAIN, cell_rank_cost},
};

static int by_falling_time(const void *a, const void *b)
{
    const struct cause_rank *left = a, *right = b;
    if (left->time_ns != right->time_ns)
        return left->time_ns > right->time_ns ? -1 : 1;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Rows of ranks whose times are within a factor. */
static void add_alike(struct drill_ranks *data, struct cause_rank *ranks, uint32_t n, double factor)
{
    for (uint32_t i = 0; i < n; i++) {
        struct alike *last = data->n_rows ? &data->rows[data->n_rows - 1] : NULL;
        bool joins = last && last->at + last->n == &ranks[i] && i && ranks[i].time_ns * factor >= last->at->time_ns;
        if (joins)
            last->n++;
        else
            data->rows[data->n_rows++] = (struct alike){&ranks[i], 1};
    }
}

/* The late ones, then the others. Many ranks share rows: those that differ least, as few as it takes. */
static void drill_cause_ranks(struct drill *drill, const struct cause *cause)
{
    uint32_t n = cause->n_ranks + cause->n_others;
    struct cause_rank *ranks = arena_array(&drill->arena, struct cause_rank, n + 1);
    struct drill_ranks data = {.cause = cause, .rows = arena_array(&drill->arena, struct alike, n + 1)};
    for (uint32_t i = 0; i < n; i++) {
        ranks[i] = i < cause->n_ranks ? cause->ranks[i] : cause->others[i - cause->n_ranks];
        data.is_counted |= ranks[i].executions > 0;
    }
    bool each = drill->options->all || n <= RANKS_SHOWN;
    if (!each) {
        qsort(ranks, cause->n_late, sizeof *ranks, by_falling_time);
        qsort(ranks + cause->n_late, n - cause->n_late, sizeof *ranks, by_falling_time);
    }
    for (double factor = each ? 0 : 1.1;; factor = 1 + 2 * (factor - 1)) {
        data.n_rows = 0;
        add_alike(&data, ranks, cause->n_late, factor);
        add_alike(&data, ranks + cause->n_late, n - cause->n_late, factor);
        if (each || data.n_rows <= RANKS_SHOWN)
            break;
    }
    page_table(&drill->page, &(struct page_table){.columns = rank_columns,
                                                  .n_columns = sizeof rank_columns / sizeof *rank_columns,
                                                  .n_rows = data.n_rows,
                                                  .indent = DRILL_INDENT,
                                                  .data = &data});
}

/* What is inside a cause: its parts as a tree. */

struct drill_parts {
    const struct drill *drill;
    const struct cause *cause;
    const uint32_t *shown; /* of the cause's parts */
};

static const struct cause_part *shown_part(const void *data, unsigned row)
{
    const struct drill_parts *parts = data;
    return &parts->cause->parts[parts->shown[row]];
}

static const char *cell_part(struct arena *arena, const void *data, unsigned row)
{
    const struct cause_part *part = shown_part(data, row);
    struct label_book book = ((const struct drill_parts *)data)->drill->book;
    book.arena = arena;
    const char *label = label_step(&book, part->step);
    if (part->call_line && part->depth)
        label = arena_printf(arena, "%s, called on line %u", label, part->call_line);
    return arena_printf(arena, "%*s%s", 2 * (int)part->depth, "", label);
}

static const char *cell_part_blame(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_duration(shown_part(data, row)->waiting_ns).text);
}

static const char *cell_part_share(struct arena *arena, const void *data, unsigned row)
{
    double all_ns = ((const struct drill_parts *)data)->cause->waiting_ns;
    return arena_strdup(arena, amount_share(all_ns > 0 ? shown_part(data, row)->waiting_ns / all_ns : 0).text);
}

static double part_time(const struct cause_part *part, const struct cause *cause, bool is_late)
{
    double sum_ns = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < part->n_ranks; i++) {
        bool named = false;
        for (uint32_t k = 0; k < cause->n_late && !named; k++)
            named = cause->ranks[k].rank == part->ranks[i].rank;
        sum_ns += named == is_late ? part->ranks[i].time_ns : 0;
    }
    n = is_late ? cause->n_late : cause->n_ranks + cause->n_others - cause->n_late;
    return n ? sum_ns / n : 0;
}

static const char *cell_part_late(struct arena *arena, const void *data, unsigned row)
{
    const struct cause_part *part = shown_part(data, row);
    double ns = part_time(part, ((const struct drill_parts *)data)->cause, true);
    return part->n_ranks ? arena_strdup(arena, amount_duration(ns).text) : "";
}

static const char *cell_part_others(struct arena *arena, const void *data, unsigned row)
{
    const struct cause_part *part = shown_part(data, row);
    double ns = part_time(part, ((const struct drill_parts *)data)->cause, false);
    return part->n_ranks ? arena_strdup(arena, amount_duration(ns).text) : "";
}

static const struct page_column part_columns[] = {
    {"inside", PAGE_WRAP, STYLE_PLAIN, cell_part},
    {"waiting", PAGE_RIGHT, STYLE_PLAIN, cell_part_blame},
    {"of it", PAGE_RIGHT, STYLE_PLAIN, cell_part_share},
    {"late ranks' time", PAGE_RIGHT, STYLE_PLAIN, cell_part_late},
    {"others'", PAGE_RIGHT, STYLE_PLAIN, cell_part_others},
};

static int by_falling_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left < right) - (left > right);
}

/* The largest, with what is around them: that is never smaller than what is inside. */
static void drill_parts(struct drill *drill, const struct cause *cause)
{
    double *sizes = arena_array(&drill->arena, double, cause->n_parts + 1);
    uint32_t *shown = arena_array(&drill->arena, uint32_t, cause->n_parts + 1), n = 0;
    if (cause->n_parts < 2)
        return;
    for (uint32_t i = 0; i < cause->n_parts; i++)
        sizes[i] = cause->parts[i].waiting_ns;
    qsort(sizes, cause->n_parts, sizeof *sizes, by_falling_size);
    uint32_t most = drill_n_shown(drill, cause->n_parts, PARTS_SHOWN);
    for (uint32_t i = 0; i < cause->n_parts && n < most; i++)
        if (cause->parts[i].waiting_ns >= sizes[most - 1])
            shown[n++] = i;
    page_end(&drill->page);
    page_table(&drill->page, &(struct page_table){.columns = part_columns,
                                                  .n_columns = sizeof part_columns / sizeof *part_columns,
                                                  .n_rows = n,
                                                  .indent = DRILL_INDENT,
                                                  .data = &(struct drill_parts){drill, cause, shown}});
    drill_say_more(drill, DRILL_INDENT, cause->n_parts - n, "place", "places");
}

/* All decisions by which the two sides part; the first one stands in the explanation as well. */
static void drill_partings(struct drill *drill, const struct cause *cause)
{
    for (uint32_t i = 0; i < cause->n_partings; i++) {
        const struct parting *parting = &cause->partings[i];
        if (!i)
            page_line(&drill->page,
                      "%*sdecided in %s(), with the part of the difference in instructions:", DRILL_INDENT, "",
                      parting->routine);
        page_paragraph(&drill->page, DRILL_HANG, DRILL_DEEP,
                       arena_printf(&drill->arena, "%s   %s", amount_share(parting->share).text,
                                    explain_parting(&drill->arena, parting, "the others")));
    }
    if (cause->n_partings)
        page_end(&drill->page);
}

/* How far two ranks were late at other times: 0 to 2. */
static double when_differs(const struct when_rank *one, const struct when_rank *other)
{
    double sum = 0, other_sum = 0, distance = 0;
    for (int i = 0; i < WHEN_PARTS; i++) {
        sum += (double)one->ns[i];
        other_sum += (double)other->ns[i];
    }
    for (int i = 0; i < WHEN_PARTS && sum > 0 && other_sum > 0; i++)
        distance += fabs((double)one->ns[i] / sum - (double)other->ns[i] / other_sum);
    return distance;
}

/* One line of blocks over the run, and one a rank where ranks are late at different times. */
static void drill_when(struct drill *drill, const struct cause *cause)
{
    static const double DIFFERENT = 0.5;
    const char *sentence = when_sentence(&drill->arena, drill->analysis, cause->when_ns, cause->every);
    double most = 0;
    page_line(&drill->page, "%*swhen: |%s|   %s", DRILL_INDENT, "",
              style_sparkline(&drill->arena, &drill->page.look, cause->when_ns, WHEN_PARTS),
              sentence ? sentence : "all through the run");
    for (uint32_t i = 1; i < cause->n_when_ranks; i++)
        most = fmax(most, when_differs(&cause->when_ranks[0], &cause->when_ranks[i]));
    for (uint32_t i = 0; i < cause->n_when_ranks && most > DIFFERENT; i++) {
        double ns[WHEN_PARTS];
        for (int part = 0; part < WHEN_PARTS; part++)
            ns[part] = (double)cause->when_ranks[i].ns[part];
        page_line(&drill->page, "%*s      |%s|   rank %u is late", DRILL_INDENT, "",
                  style_sparkline(&drill->arena, &drill->page.look, ns, WHEN_PARTS), cause->when_ranks[i].rank);
    }
    page_end(&drill->page);
}

/* The one where most of it is felt with its classes; of the others `--site` shows them. */
static void drill_cause_site(struct drill *drill, const struct cause_site *at, bool in_full)
{
    const struct wait_site *site = &drill->analysis->sites[at->site];
    page_end(&drill->page);
    page_tab(&drill->page, DRILL_INDENT);
    page_words(&drill->page, DRILL_HANG,
               arena_printf(&drill->arena, "waiting at %s", label_site(&drill->book, at->site)));
    page_piece(&drill->page, DRILL_HANG, "%s (site %u)", wait_kind_name(site->kind), at->site + 1);
    page_piece(&drill->page, DRILL_HANG, "%s", amount_duration(at->waiting_ns).text);
    page_piece(&drill->page, DRILL_HANG, "%s of %s %s", amount_count(at->n_instances).text,
               amount_count(site->n_instances).text, site->n_instances == 1 ? "instance" : "instances");
    page_end(&drill->page);
    drill_exchange(drill, &site->exchange);
    if (in_full)
        drill_classes(drill, site, at);
}

void report_cause(FILE *out, const struct analysis *analysis, uint32_t number, const struct report_options *options)
{
    struct drill drill;
    drill_init(&drill, out, analysis, options);
    const struct cause *cause = &analysis->causes[number];
    page_put(&drill.page, "cause %u   ", number + 1);
    page_words(&drill.page, DRILL_INDENT, label_cause(&drill.book, number));
    page_end(&drill.page);
    page_tab(&drill.page, DRILL_INDENT);
    page_put(&drill.page, "%s waiting", amount_duration(cause->waiting_ns).text);
    page_piece(&drill.page, DRILL_INDENT, "%s of all", amount_share(cause->share).text);
    page_piece(&drill.page, DRILL_INDENT, "%s directly, %s through other ranks' waits",
               amount_duration(cause->direct_ns).text, amount_duration(cause->waiting_ns - cause->direct_ns).text);
    page_piece(&drill.page, DRILL_INDENT, "if balanced %s (estimate)", amount_gain(cause->if_balanced_ns).text);
    page_piece(&drill.page, DRILL_INDENT, "saves at most %s, if it took no time", amount_gain(cause->if_gone_ns).text);
    if (cause->last_rank != TRACE_NONE)
        page_piece(&drill.page, DRILL_INDENT, "rank %u then becomes the slowest", cause->last_rank);
    page_end(&drill.page);
    page_tab(&drill.page, DRILL_INDENT);
    page_words(&drill.page, DRILL_INDENT, explain_cause(&drill.arena, cause));
    page_piece(&drill.page, DRILL_INDENT, "(%s)", label_kind(&drill.book, cause));
    page_end(&drill.page);
    page_end(&drill.page);
    drill_when(&drill, cause);
    drill_partings(&drill, cause);
    drill_cause_ranks(&drill, cause);
    drill_parts(&drill, cause);
    uint32_t n_calls = drill_n_shown(&drill, cause->n_sites, CALLS_SHOWN);
    for (uint32_t i = 0; i < n_calls; i++)
        drill_cause_site(&drill, &cause->sites[i], options->all || i == 0);
    drill_say_more(&drill, DRILL_INDENT, cause->n_sites - n_calls, "call at which ranks wait",
                   "calls at which ranks wait");
    arena_release(&drill.arena);
}
