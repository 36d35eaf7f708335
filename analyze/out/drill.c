/* SPDX-License-Identifier: BSD-3-Clause */
/* One cause: when it acts, its ranks, what is inside it, and the calls at which it is felt. */
#include "analyze/out/drill.h"
#include "analyze/blame/late.h"
#include "analyze/constants/readers.h"
#include "analyze/words/amount.h"
#include "analyze/words/brief.h"
#include "analyze/words/explain.h"
#include "analyze/words/headline.h"
#include "analyze/words/when.h"
#include <math.h>
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
    struct alike *rows;
    uint32_t n_rows;
};

/* "1.20 s", "1.20 s to 1.31 s" */
static const char *range(struct arena *arena, struct amount low, struct amount high)
{
    return strcmp(low.text, high.text) ? arena_printf(arena, "%s to %s", low.text, high.text)
                                       : arena_strdup(arena, low.text);
}

/* Of all threads that run it. */
static double time_in_it(const struct cause_rank *rank)
{
    return rank->time_is_not_theirs ? rank->worked_ns : rank->time_ns;
}

/* What a row's ranks spend, all together; `unknown` says why executions are not known, where they are not. */
static void put_alike(struct page_table *table, struct arena *arena, const struct alike *alike, const char *unknown)
{
    const struct cause_rank *at = alike->at, *last = &at[alike->n - 1];
    uint32_t *ranks = arena_array(arena, uint32_t, alike->n);
    uint64_t least = UINT64_MAX, most = 0;
    double blame_ns = 0, time_ns = 0, worked_ns = 0, executions = 0, variance_ns2 = 0;
    for (uint32_t i = 0; i < alike->n; i++) {
        ranks[i] = at[i].rank;
        blame_ns += at[i].blame_ns;
        time_ns += time_in_it(&at[i]);
        least = at[i].executions < least ? at[i].executions : least;
        most = at[i].executions > most ? at[i].executions : most;
        worked_ns += cause_rank_worked(&at[i]).value;
        executions += (double)at[i].executions;
        variance_ns2 += pow(cause_rank_worked(&at[i]).error, 2);
    }
    if (alike->n == 1)
        page_cell(table, "%u", at->rank);
    else
        page_cell(table, "%u ranks: %s", alike->n, strchr(amount_ranks(arena, ranks, alike->n), ' ') + 1);
    page_cell(table, "%s", blame_ns > 0 ? amount_duration(blame_ns).text : "-");
    page_cell(table, "%s", range(arena, amount_duration(time_in_it(last)), amount_duration(time_in_it(at))));
    page_cell(table, "%s", unknown ? unknown : range(arena, amount_count(least), amount_count(most)));
    /* Of time that is mostly no computing, what computing costs each time tells nothing. */
    bool has_cost = executions > 0 && worked_ns > 0 && 2 * worked_ns >= time_ns;
    bool has_error = has_cost && variance_ns2 > 0;
    page_cell(table, "%s%s%s", has_cost ? amount_cost(worked_ns / executions).text : "", has_error ? " +-" : "",
              has_error ? amount_share(sqrt(variance_ns2) / worked_ns).text : "");
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
    static const struct page_column columns[] = {
        {"rank", PAGE_WRAP, STYLE_PLAIN},        {"makes others wait", PAGE_RIGHT, STYLE_PLAIN},
        {"time in it", PAGE_RIGHT, STYLE_PLAIN}, {"executions", PAGE_RIGHT, STYLE_PLAIN},
        {"each", PAGE_RIGHT, STYLE_PLAIN},
    };
    struct page_table table = {
        .columns = columns, .n_columns = sizeof columns / sizeof *columns, .indent = DRILL_INDENT};
    uint32_t n = cause->n_ranks + cause->n_others;
    struct cause_rank *ranks = arena_array(&drill->arena, struct cause_rank, n + 1);
    struct drill_ranks data = {.rows = arena_array(&drill->arena, struct alike, n + 1)};
    bool is_known = false, is_counted = false; /* on all ranks or on none */
    for (uint32_t i = 0; i < n; i++) {
        ranks[i] = i < cause->n_ranks ? cause->ranks[i] : cause->others[i - cause->n_ranks];
        is_known |= ranks[i].executions > 0;
        is_counted |= ranks[i].instructions > 0;
    }
    bool each = drill->options->all || n <= RANKS_SHOWN;
    if (!each) {
        late_sort_by_time(ranks, cause->n_late);
        late_sort_by_time(ranks + cause->n_late, n - cause->n_late);
    }
    for (double factor = each ? 0 : TIMES_ALIKE;; factor = 1 + 2 * (factor - 1)) {
        data.n_rows = 0;
        add_alike(&data, ranks, cause->n_late, factor);
        add_alike(&data, ranks + cause->n_late, n - cause->n_late, factor);
        if (each || data.n_rows <= RANKS_SHOWN)
            break;
    }
    for (uint32_t i = 0; i < data.n_rows; i++)
        put_alike(&table, &drill->arena, &data.rows[i],
                  is_known                            ? NULL
                  : is_counted && cause->is_elsewhere ? "counted with others"
                                                      : "not counted");
    page_table(&drill->page, &table);
}

/* What is inside a cause: its parts as a tree. */

/* Of a part, the mean of the late ranks or of the others. */
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

static void put_part(struct page_table *table, struct drill *drill, const struct cause *cause,
                     const struct cause_part *part)
{
    char call[32] = "";
    if (part->call_line && part->depth)
        snprintf(call, sizeof call, ", called on line %u", part->call_line);
    page_cell(table, "%*s%s%s", 2 * (int)part->depth, "", label_step(&drill->book, part->step), call);
    page_cell(table, "%s", amount_duration(part->waiting_ns).text);
    page_cell(table, "%s", amount_share(cause->waiting_ns > 0 ? part->waiting_ns / cause->waiting_ns : 0).text);
    page_cell(table, "%s", part->n_ranks ? amount_duration(part_time(part, cause, true)).text : "");
    page_cell(table, "%s", part->n_ranks ? amount_duration(part_time(part, cause, false)).text : "");
}

/* The largest, with what is around them: that is never smaller than what is inside. */
static void drill_parts(struct drill *drill, const struct cause *cause)
{
    static const struct page_column columns[] = {
        {"inside", PAGE_WRAP, STYLE_PLAIN},   {"waiting", PAGE_RIGHT, STYLE_PLAIN},
        {"of it", PAGE_RIGHT, STYLE_PLAIN},   {"late ranks' time", PAGE_RIGHT, STYLE_PLAIN},
        {"others'", PAGE_RIGHT, STYLE_PLAIN},
    };
    struct page_table table = {
        .columns = columns, .n_columns = sizeof columns / sizeof *columns, .indent = DRILL_INDENT};
    double *sizes = arena_array(&drill->arena, double, cause->n_parts + 1);
    if (cause->n_parts < 2)
        return;
    for (uint32_t i = 0; i < cause->n_parts; i++)
        sizes[i] = cause->parts[i].waiting_ns;
    const uint32_t *order = order_falling(&drill->arena, sizes, cause->n_parts);
    uint32_t most = drill_n_shown(drill, cause->n_parts, PARTS_SHOWN), n = 0;
    for (uint32_t i = 0; i < cause->n_parts && n < most; i++)
        if (cause->parts[i].waiting_ns >= sizes[order[most - 1]]) {
            put_part(&table, drill, cause, &cause->parts[i]);
            n++;
        }
    page_end(&drill->page);
    page_table(&drill->page, &table);
    drill_say_more(drill, DRILL_INDENT, cause->n_parts - n, "place", "places");
}

/* All decisions by which the two sides part; the first one stands in the explanation as well. */
static void drill_partings(struct drill *drill, const struct cause *cause)
{
    for (uint32_t i = 0; i < cause->n_partings; i++) {
        const struct parting *parting = &cause->partings[i];
        if (!i)
            page_paragraph(&drill->page, DRILL_INDENT, DRILL_HANG,
                           arena_printf(&drill->arena, "decided in %s(), with the part of the difference in work:",
                                        brief_text(&drill->arena, parting->routine)));
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
    const char *sentence = when_in_full(&drill->arena, cause);
    double most = 0;
    page_line(&drill->page, "%*swhen: |%s|   %s", DRILL_INDENT, "",
              style_sparkline(&drill->arena, &drill->page.look, cause->when_ns, WHEN_PARTS), sentence ? sentence : "");
    for (uint32_t i = 1; i < cause->n_when_ranks; i++)
        most = fmax(most, when_differs(&cause->when_ranks[0], &cause->when_ranks[i]));
    for (uint32_t i = 0; i < cause->n_when_ranks && most > WHEN_DIFFERENT; i++) {
        double ns[WHEN_PARTS];
        for (int part = 0; part < WHEN_PARTS; part++)
            ns[part] = (double)cause->when_ranks[i].ns[part];
        page_line(&drill->page, "%*s      |%s|   rank %u is late", DRILL_INDENT, "",
                  style_sparkline(&drill->arena, &drill->page.look, ns, WHEN_PARTS), cause->when_ranks[i].rank);
    }
    page_end(&drill->page);
}

/* "5 of 13 calls with waits, 8 are for other causes" */
static const char *calls_felt(struct drill *drill, uint64_t n, uint64_t n_with_waits)
{
    const char *calls = amount_calls(&drill->arena, n, n_with_waits);
    uint64_t n_others = n_with_waits > n ? n_with_waits - n : 0;
    return n_others ? arena_printf(&drill->arena, "%s, %s %s for other causes", calls, amount_count(n_others).text,
                                   n_others == 1 ? "is" : "are")
                    : calls;
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
    page_piece(&drill->page, DRILL_HANG, "%s in %s", amount_duration(at->waiting_ns).text,
               calls_felt(drill, at->n_calls, site->n_calls));
    page_end(&drill->page);
    drill_wait_kind(drill, site->kind);
    drill_exchange(drill, &site->exchange);
    if (in_full)
        drill_classes(drill, site, at);
}

/* What goes with a cause may be more than the time that ranks are said to spend in it. */
static const char *gone_off(struct drill *drill, const struct cause *cause)
{
    if (cause->if_gone_off_ns < NEGLIGIBLE_SHARE * cause->if_gone_ns)
        return "";
    return arena_printf(&drill->arena, ", %s of that without a CPU", amount_duration(cause->if_gone_off_ns).text);
}

/* ", more than its waiting, since time without a CPU goes away with it" */
static const char *excess(struct drill *drill, const struct cause *cause)
{
    return cause->gain_excess ? arena_printf(&drill->arena, ", more than its waiting, since %s goes away with it",
                                             explain_excess(cause->gain_excess))
                              : "";
}

void report_cause(FILE *out, const struct analysis *analysis, uint32_t number, const struct report_options *options)
{
    struct drill drill;
    drill_init(&drill, out, analysis, options);
    const struct cause *cause = &analysis->causes[number];
    page_put(&drill.page, "cause %u   ", number + 1);
    page_words(&drill.page, DRILL_INDENT, label_cause_and_beside(&drill.book, number));
    page_end(&drill.page);
    page_tab(&drill.page, DRILL_INDENT);
    page_put(&drill.page, "%s waiting", amount_duration(cause->waiting_ns).text);
    page_piece(&drill.page, DRILL_INDENT, "%s of all waiting", amount_share(cause->share).text);
    double passed_on_ns = cause->waiting_ns - cause->direct_ns;
    if (passed_on_ns >= NEGLIGIBLE_SHARE * cause->waiting_ns)
        page_piece(&drill.page, DRILL_INDENT, "%s directly, %s through other ranks' waits",
                   amount_duration(cause->direct_ns).text, amount_duration(passed_on_ns).text);
    if (cause->remedy != REMEDY_NONE)
        page_piece(&drill.page, DRILL_INDENT, "if %s: %s (estimate%s)",
                   cause->remedy == REMEDY_AS_OTHERS ? "late ranks were as fast as the others" : "divided best",
                   explain_gain(&drill.arena, cause), excess(&drill, cause));
    if (cause->if_gone_ns < 1)
        page_piece(&drill.page, DRILL_INDENT, "if it took no time: nothing");
    else if (cause->remedy != REMEDY_NONE)
        page_piece(&drill.page, DRILL_INDENT, "if it took no time: at most %s%s",
                   amount_change(-cause->if_gone_ns).text, gone_off(&drill, cause));
    if (cause->last_rank != TRACE_NONE && cause->remedy == REMEDY_SHARE)
        page_piece(&drill.page, DRILL_INDENT, "rank %u then becomes the slowest", cause->last_rank);
    page_end(&drill.page);
    page_tab(&drill.page, DRILL_INDENT);
    page_words(&drill.page, DRILL_INDENT, explain_cause(&drill.arena, cause));
    page_piece(&drill.page, DRILL_INDENT, "(%s)", explain_kind_words(&drill.arena, cause));
    page_end(&drill.page);
    const char *instead = explain_instead(&drill.book, cause);
    if (instead)
        page_paragraph(&drill.page, DRILL_INDENT, DRILL_INDENT, instead);
    const char *like = cause->partition ? headline_member(&drill.arena, &analysis->partitions[cause->partition - 1])
                                        : explain_like(&drill.arena, analysis, number, NULL);
    if (like)
        page_paragraph(&drill.page, DRILL_INDENT, DRILL_INDENT, like);
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
