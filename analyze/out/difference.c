/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/difference.h"
#include "analyze/out/amount.h"
#include "analyze/out/json.h"
#include "analyze/out/label.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* Raised when a field of the comparison's JSON changes its meaning or goes. */
enum { DIFFERENCE_VERSION = 3 };

static const char *const group_names[GROUP_N] = {"run time", "waiting for the program's code",
                                                 "waiting for what passes inside MPI",
                                                 "waiting for the machine: ranks without a CPU"};
static const char *const kind_names[KIND_N] = {"more work", "slower",   "descheduled",
                                               "blocked",   "transfer", "more time"};

/* What is looked at while a table is printed. */
struct view {
    const struct comparison *comparison;
    VEC(size_t) rows;
};

static const struct compare_row *row_at(const void *data, unsigned row)
{
    const struct view *view = data;
    return &view->comparison->rows.at[view->rows.at[row]];
}

const char *difference_row_name(struct arena *arena, const struct compare_row *row, bool indent)
{
    const char *name = row->is_rest ? "others, each below 1 % of it" : row->name ? row->name : group_names[row->group];
    return arena_printf(arena, "%*s%s", indent ? (int)(2 * row->depth) : 0, "", name);
}

const char *difference_kinds(struct arena *arena, const struct comparison *comparison, const struct compare_row *row)
{
    static const double WORTH_TELLING = 0.1;
    const double *before = row->kind_ns, *after = row->kind_ns + KIND_N;
    const char *text = "";
    double most_ns = fmax(row->mean_ns[0], row->mean_ns[comparison->n_sides - 1]);
    for (int kind = 0; kind < KIND_N; kind++)
        if (kind != KIND_MORE_TIME && fmax(before[kind], after[kind]) > WORTH_TELLING * most_ns)
            text = arena_printf(arena, "%s%s%s %s -> %s", text, *text ? ", " : "", kind_names[kind],
                                amount_duration(before[kind]).text, amount_duration(after[kind]).text);
    return text;
}

static const char *cell_name(struct arena *arena, const void *data, unsigned row)
{
    return difference_row_name(arena, row_at(data, row), true);
}

static const char *cell_before(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_duration(row_at(data, row)->mean_ns[0]).text);
}

static const char *cell_after(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_duration(row_at(data, row)->mean_ns[1]).text);
}

static const char *cell_change(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_change(compare_change(row_at(data, row))).text);
}

static const char *cell_verdict(struct arena *arena, const void *data, unsigned row)
{
    static const char *const words[] = {"within noise", "less", "more", "too few runs"};
    const struct compare_row *at = row_at(data, row);
    if (at->verdict == COMPARE_TOO_FEW && at->runs_needed)
        return arena_printf(arena, "too few runs: take %u a side", at->runs_needed);
    if (at->verdict == COMPARE_TOO_FEW || !(at->level > 0) || !isfinite(at->test.least))
        return words[at->verdict];
    return arena_printf(arena, "%s (+-%s)", words[at->verdict], amount_duration(at->test.least).text);
}

static const struct page_column columns[] = {
    {"", PAGE_WRAP, STYLE_PLAIN, cell_name},
    {"before", PAGE_RIGHT, STYLE_PLAIN, cell_before},
    {"after", PAGE_RIGHT, STYLE_PLAIN, cell_after},
    {"change", PAGE_RIGHT, STYLE_PLAIN, cell_change},
    {"which is", PAGE_LEFT, STYLE_PLAIN, cell_verdict},
};

static void print_kinds(struct page *page, const void *data, unsigned row)
{
    const struct view *view = data;
    struct arena scratch = {0};
    const struct compare_row *at = row_at(data, row);
    const char *kinds = at->depth == 1 ? difference_kinds(&scratch, view->comparison, at) : "";
    if (*kinds)
        page_paragraph(page, 6, 8, kinds);
    arena_release(&scratch);
}

/* Groups, and of each its causes up to n_top, as long as they change by a thousandth of all waiting. */
static void choose_rows(struct view *view, const struct difference_options *options)
{
    const struct comparison *comparison = view->comparison;
    double waiting_ns = 0;
    for (int group = GROUP_PROGRAM; group < GROUP_N; group++) {
        const double *mean_ns = comparison->rows.at[comparison->group_row[group]].mean_ns;
        waiting_ns += fmax(mean_ns[0], mean_ns[1]);
    }
    unsigned n_causes = 0;
    bool is_shown = false;
    for (size_t i = 0; i < comparison->rows.n; i++) {
        const struct compare_row *row = &comparison->rows.at[i];
        if (!row->depth)
            n_causes = 0;
        if (row->depth == 1) {
            n_causes++;
            is_shown =
                !options->n_top || (n_causes <= options->n_top && fabs(compare_change(row)) >= 0.001 * waiting_ns);
        }
        if (!row->depth || (is_shown && (row->depth == 1 || options->parts)))
            *vec_push(&view->rows) = i;
    }
}

static const char *fact_place(struct arena *arena, const struct fact *fact)
{
    static const char *const words[FACT_N] = {
        "loop ", "", "calls of ", "bytes allocated at ", "calls of ", "messages sent by ", "bytes sent by "};
    bool is_mpi = fact->kind >= FACT_MPI_CALLS;
    const char *lines = fact->line_last > fact->line_first
                            ? arena_printf(arena, "%u-%u", fact->line_first, fact->line_last)
                            : arena_printf(arena, "%u", fact->line_first);
    const char *at = fact->file && fact->line_first ? arena_printf(arena, "%s:%s", fact->file, lines) : "";
    const char *routine = fact->routine ? fact->routine : "unknown code";
    if (!is_mpi)
        routine = label_routine(&(struct label_book){.arena = arena}, routine);
    if (fact->kind == FACT_WAY && fact->line_to)
        return arena_printf(arena, "the way from %s to line %u in %s", at, fact->line_to, routine);
    if (fact->kind == FACT_WAY)
        return arena_printf(arena, "a way behind the condition at %s in %s", at, routine);
    if (fact->kind == FACT_TRIPS || fact->kind == FACT_ALLOCATED)
        return arena_printf(arena, "%s%s in %s", words[fact->kind], at, routine);
    return arena_printf(arena, "%s%s%s%s", words[fact->kind], routine, *at ? " " : "", at);
}

/* The counts of a rank. */
static struct fact_count count_of(const struct fact *fact, uint32_t rank)
{
    struct fact_count count = {0};
    for (uint32_t i = 0; fact && i < fact->n_counts && fact->counts[i].rank <= rank; i++)
        count = fact->counts[i];
    return count;
}

static const char *fact_value(struct arena *arena, const struct fact *fact, struct fact_count count, bool each_time)
{
    if (!each_time || !count.of)
        return arena_strdup(arena, amount_count(count.n).text);
    if (fact->kind == FACT_WAY)
        return arena_printf(arena, "%.9g %%", 100.0 * (double)count.n / (double)count.of);
    uint64_t whole = count.n / count.of;
    return count.n % count.of ? arena_printf(arena, "%.10g", (double)count.n / (double)count.of)
                              : arena_strdup(arena, amount_count(whole).text);
}

/* Ranks whose counts go from the same value to the same value, as the first that has changed. */
struct changed_ranks {
    const char *before, *after;
    VEC(uint32_t) ranks;
    bool is_all, has_others; /* some ranks changed from or to other values */
};

static bool rank_has_changed(const struct compare_fact *fact, uint32_t rank)
{
    struct fact_count x = count_of(fact->before, rank), y = count_of(fact->after, rank);
    return fact->is_decision ? x.of && y.of && (unsigned __int128)x.n * y.of != (unsigned __int128)y.n * x.of
                             : x.n != y.n;
}

static void find_changed(struct arena *arena, const struct compare_fact *fact, uint32_t n_ranks,
                         struct changed_ranks *changed)
{
    const struct fact *some = fact->after ? fact->after : fact->before;
    changed->is_all = true;
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        if (!rank_has_changed(fact, rank)) {
            changed->is_all = false;
            continue;
        }
        const char *before = fact_value(arena, some, count_of(fact->before, rank), fact->is_decision);
        const char *after = fact_value(arena, some, count_of(fact->after, rank), fact->is_decision);
        if (!changed->ranks.n) {
            changed->before = before;
            changed->after = after;
        }
        if (!strcmp(before, changed->before) && !strcmp(after, changed->after))
            *vec_push(&changed->ranks) = rank;
        else
            changed->has_others = true;
    }
}

/* Whether a count of a rank is that of all ranks that did not change. */
static bool is_as_others(const struct compare_fact *fact, const struct fact *side, uint32_t rank, uint32_t n_ranks)
{
    struct fact_count mine = count_of(side, rank);
    bool is_seen = false;
    for (uint32_t other = 0; other < n_ranks; other++) {
        struct fact_count theirs = count_of(side, other);
        if (rank_has_changed(fact, other))
            continue;
        if (fact->is_decision ? (unsigned __int128)mine.n * theirs.of != (unsigned __int128)theirs.n * mine.of
                              : mine.n != theirs.n)
            return false;
        is_seen = true;
    }
    return is_seen;
}

const char *difference_fact(struct arena *arena, const struct compare_fact *fact)
{
    static const char *const each_time[FACT_N] = {[FACT_TRIPS] = " trips each time it is entered",
                                                  [FACT_WAY] = " of the time",
                                                  [FACT_MESSAGES] = " a call",
                                                  [FACT_SENT] = " a call"};
    const struct fact *some = fact->after ? fact->after : fact->before;
    struct changed_ranks changed = {0};
    uint32_t n_ranks = 0;
    for (int side = 0; side < 2; side++) {
        const struct fact *at = side ? fact->after : fact->before;
        if (at && at->n_counts && at->counts[at->n_counts - 1].rank + 1 > n_ranks)
            n_ranks = at->counts[at->n_counts - 1].rank + 1;
    }
    find_changed(arena, fact, n_ranks, &changed);
    const char *unit = fact->is_decision && each_time[some->kind] ? each_time[some->kind]
                       : some->kind == FACT_TRIPS                 ? " iterations"
                                                                  : "";
    const char *ranks = changed.is_all && !changed.has_others
                            ? "every rank"
                            : amount_ranks(arena, changed.ranks.at, (uint32_t)changed.ranks.n);
    const char *text = arena_printf(arena, "%s: %s -> %s%s on %s", fact_place(arena, some), changed.before,
                                    changed.after, unit, ranks);
    if (changed.has_others)
        text = arena_printf(arena, "%s, other changes on others", text);
    else if (changed.ranks.n && is_as_others(fact, fact->after, changed.ranks.at[0], n_ranks))
        text = arena_printf(arena, "%s, now as on the others", text);
    else if (changed.ranks.n && is_as_others(fact, fact->before, changed.ranks.at[0], n_ranks))
        text = arena_printf(arena, "%s, which was as on the others", text);
    if (fact->is_decision && some->kind == FACT_TRIPS)
        text = arena_printf(arena, "%s (%s -> %s in all)", text, amount_count(fact->before->sum).text,
                            amount_count(fact->after->sum).text);
    vec_release(&changed.ranks);
    return text;
}

/* Decisions explain the other counts; without any, all are told. Returns how many are left. */
static size_t facts_told(const struct comparison *comparison, unsigned n_top, size_t *n_told)
{
    size_t n_decisions = 0;
    for (size_t i = 0; i < comparison->facts.n; i++)
        n_decisions += comparison->facts.at[i].is_decision;
    *n_told = n_decisions && n_top ? n_decisions : comparison->facts.n;
    if (n_top && *n_told > n_top)
        *n_told = n_top;
    return comparison->facts.n - *n_told;
}

static void print_facts(struct page *page, const struct comparison *comparison, unsigned n_top)
{
    struct arena scratch = {0};
    size_t n_told, n_left = facts_told(comparison, n_top, &n_told);
    if (!comparison->facts.n)
        return;
    page_line(page, "counted exactly, the same in all runs of a side: these changes are certain");
    for (size_t i = 0; i < n_told; i++)
        page_paragraph(page, 2, 6, difference_fact(&scratch, &comparison->facts.at[i]));
    if (n_left)
        page_line(page, "  and %zu other %s, which may follow from %s (--top 0)", n_left,
                  n_left == 1 ? "count" : "counts", n_told == 1 ? "it" : "them");
    page_end(page);
    arena_release(&scratch);
}

static const char *share_name(struct arena *arena, const struct comparison *comparison,
                              const struct compare_share *share)
{
    static const char *const names[] = {"", "all other code", "inside MPI: transfer, and what it does itself",
                                        "the machine: no CPU although ready to run"};
    return share->kind == SHARE_CAUSE ? difference_row_name(arena, &comparison->rows.at[share->row], false)
                                      : names[share->kind];
}

static double share_change(const struct compare_share *share)
{
    return share->computing_ns[1] + share->imbalance_ns[1] - share->computing_ns[0] - share->imbalance_ns[0];
}

static void print_shares(struct page *page, const struct comparison *comparison, unsigned n_top)
{
    struct arena scratch = {0};
    double all_ns = compare_change(&comparison->rows.at[comparison->group_row[GROUP_RUN_TIME]]), told_ns = 0;
    size_t n = n_top && comparison->shares.n > n_top ? n_top : comparison->shares.n;
    page_line(page, "of the run time's %s", amount_change(all_ns).text);
    for (size_t i = 0; i < n; i++) {
        const struct compare_share *share = &comparison->shares.at[i];
        const char *text = arena_printf(&scratch, "%9s  %s", amount_change(share_change(share)).text,
                                        share_name(&scratch, comparison, share));
        if (share->kind == SHARE_CAUSE)
            text = arena_printf(&scratch, "%s: %s computing on every rank, %s waiting for it", text,
                                amount_change(share->computing_ns[1] - share->computing_ns[0]).text,
                                amount_change(share->imbalance_ns[1] - share->imbalance_ns[0]).text);
        page_paragraph(page, 2, 13, text);
        told_ns += share_change(share);
    }
    if (n < comparison->shares.n)
        page_paragraph(
            page, 2, 13,
            arena_printf(&scratch, "%9s  %zu more", amount_change(all_ns - told_ns).text, comparison->shares.n - n));
    page_end(page);
    arena_release(&scratch);
}

/* The values that runs of some sides have, each once. */
static const char *distinct(struct arena *arena, const struct comparison *comparison, uint32_t first_side,
                            uint32_t end_side, const char *(*value)(struct arena *, const struct run *))
{
    struct intern seen = {0};
    const char *text = "";
    for (size_t run = 0; run < comparison->n_runs; run++) {
        uint32_t side = comparison->side_of[run];
        const char *at = side >= first_side && side < end_side ? value(arena, comparison->runs[run]) : NULL;
        uint32_t n = (uint32_t)seen.n;
        if (at && intern_text(&seen, at) == n)
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", at);
    }
    intern_release(&seen);
    return text;
}

static const char *value_ranks(struct arena *arena, const struct run *run)
{
    return arena_printf(arena, "%u", run->n_ranks);
}

static const char *value_program(struct arena *arena, const struct run *run)
{
    return arena_strdup(arena, run->program);
}

static const char *value_hosts(struct arena *arena, const struct run *run)
{
    return arena_printf(arena, "%s%s", run->hosts, run->n_hosts > 4 ? " and more" : "");
}

static const char *value_build(struct arena *arena, const struct run *run)
{
    return run->build ? arena_printf(arena, "%08x", (unsigned)(run->build >> 32)) : arena_strdup(arena, "unknown");
}

static const char *value_counted(struct arena *arena, const struct run *run)
{
    return arena_strdup(arena, run->is_counted ? "built to count" : "not built to count");
}

static const char *value_end(struct arena *arena, const struct run *run)
{
    return arena_strdup(arena, run->is_whole ? "came to their end" : "did not come to their end");
}

const char **difference_notes(struct arena *arena, const struct comparison *comparison)
{
    static const struct attribute {
        const char *name;
        const char *(*value)(struct arena *, const struct run *);
        const char *consequence;
    } attributes[] = {
        {"number of ranks", value_ranks, "waiting is the sum over ranks"},
        {"program", value_program, "code is compared by file, routine and line"},
        {"build of the program", value_build, "code that has moved is found by its place in the source"},
        {"hosts", value_hosts, "their speed is in all times"},
        {"kind of build", value_counted, "counting takes time, and tells short loops apart that samples do not"},
        {"end", value_end, "whywait report tells why"},
    };
    enum { N = sizeof attributes / sizeof *attributes };
    const char **notes = arena_array(arena, const char *, N + 2);
    size_t n = 0;
    for (int i = 0; i < N; i++) {
        const char *first = distinct(arena, comparison, 0, 1, attributes[i].value), *text;
        bool is_one = !strstr(first, ", ");
        for (uint32_t side = 1; side < comparison->n_sides; side++)
            is_one &= !strcmp(first, distinct(arena, comparison, side, side + 1, attributes[i].value));
        if (is_one)
            continue;
        if (comparison->n_sides == 2)
            text = arena_printf(arena, "%s -> %s", first, distinct(arena, comparison, 1, 2, attributes[i].value));
        else
            text = distinct(arena, comparison, 0, comparison->n_sides, attributes[i].value);
        notes[n++] = arena_printf(arena, "%s: %s; %s", attributes[i].name, text, attributes[i].consequence);
    }
    if (comparison->facts_missing)
        notes[n++] = arena_printf(arena, "exact counts are not compared: %s", comparison->facts_missing);
    return notes;
}

static void count_runs(const struct comparison *comparison, char *text, size_t size)
{
    uint32_t n = comparison->n_of_side[0];
    snprintf(text, size, "%u %s before, %u after", n, n == 1 ? "run" : "runs", comparison->n_of_side[1]);
}

void difference_print(FILE *out, const struct comparison *comparison, const struct difference_options *options)
{
    struct page page = {.out = out, .width = options->width, .look = options->look};
    struct arena scratch = {0};
    struct view view = {.comparison = comparison};
    char runs[80];
    count_runs(comparison, runs, sizeof runs);
    page_line(&page, "%s: means of one run", runs);
    page_end(&page);
    print_facts(&page, comparison, options->n_top);
    choose_rows(&view, options);
    page_table(&page, &(struct page_table){.columns = columns,
                                           .n_columns = sizeof columns / sizeof *columns,
                                           .n_rows = (unsigned)view.rows.n,
                                           .data = &view,
                                           .after = print_kinds});
    page_end(&page);
    print_shares(&page, comparison, options->n_top);
    if (comparison->n_runs < 3)
        page_paragraph(&page, 0, 2,
                       "note: times of one run on each side do not tell a change from noise; record each side several "
                       "times: whywait diff A1 A2 A3 vs B1 B2 B3");
    else
        page_paragraph(&page, 0, 2,
                       "more, less: outside of what the runs' own scatter explains (+-), with 95 % for the table as a "
                       "whole; parts are tested only where the whole has changed");
    for (const char **note = difference_notes(&scratch, comparison); *note; note++)
        page_paragraph(&page, 0, 2, arena_printf(&scratch, "note: %s", *note));
    vec_release(&view.rows);
    arena_release(&scratch);
}

/* What would end a cell is written as its entity. */
static const char *markdown_text(struct arena *arena, const char *text)
{
    const char *escaped = text_escape(arena, text), *out = "";
    for (const char *at = escaped; *at; at++)
        out = *at == '|' ? arena_printf(arena, "%s&#124;", out) : arena_printf(arena, "%s%c", out, *at);
    return out;
}

void difference_print_markdown(FILE *out, const struct comparison *comparison, const struct difference_options *options)
{
    struct arena scratch = {0};
    struct view view = {.comparison = comparison};
    char runs[80];
    size_t n_told, n_left = facts_told(comparison, options->n_top, &n_told);
    count_runs(comparison, runs, sizeof runs);
    choose_rows(&view, options);
    fprintf(out, "**whywait**: %s\n\n| | before | after | change | |\n|---|---:|---:|---:|---|\n", runs);
    for (unsigned i = 0; i < view.rows.n; i++)
        fprintf(out, "| %s%s | %s | %s | %s | %s |\n", row_at(&view, i)->depth ? "&nbsp;&nbsp;" : "",
                markdown_text(&scratch, difference_row_name(&scratch, row_at(&view, i), false)),
                cell_before(&scratch, &view, i), cell_after(&scratch, &view, i), cell_change(&scratch, &view, i),
                cell_verdict(&scratch, &view, i));
    fputs(n_told ? "\nCounted exactly:\n" : "", out);
    for (size_t i = 0; i < n_told; i++)
        fprintf(out, "- %s\n", markdown_text(&scratch, difference_fact(&scratch, &comparison->facts.at[i])));
    if (n_left)
        fprintf(out, "- and %zu other counts\n", n_left);
    for (const char **note = difference_notes(&scratch, comparison); *note; note++)
        fprintf(out, "\nNote: %s\n", markdown_text(&scratch, *note));
    vec_release(&view.rows);
    arena_release(&scratch);
}

void difference_print_hits(FILE *out, const gate_hits *hits)
{
    struct arena scratch = {0};
    for (size_t i = 0; i < hits->n; i++) {
        const struct gate_hit *hit = &hits->at[i];
        const char *what =
            hit->row
                ? arena_printf(&scratch, "%s: %s -> %s", difference_row_name(&scratch, hit->row, false),
                               amount_duration(hit->row->mean_ns[0]).text, amount_duration(hit->row->mean_ns[1]).text)
                : difference_fact(&scratch, hit->fact);
        const char *share = isfinite(hit->share) ? arena_printf(&scratch, " (+%.3g %%)", 100 * hit->share) : "";
        fprintf(out, "whywait: above the limit: %s%s\n", text_escape(&scratch, what), share);
    }
    arena_release(&scratch);
}

static json_t *json_ns(double ns)
{
    return isfinite(ns) ? json_integer(llround(ns)) : json_null();
}

static json_t *json_row(const struct comparison *comparison, const struct compare_row *row)
{
    static const char *const verdicts[] = {"noise", "less", "more", "too-few-runs"};
    struct arena scratch = {0};
    json_t *runs = json_array(), *kinds = json_object();
    for (size_t i = 0; i < comparison->n_runs; i++)
        json_array_append_new(runs, json_ns(row->ns[i]));
    for (int kind = 0; kind < KIND_N && row->group != GROUP_RUN_TIME; kind++)
        json_object_set_new(kinds, cause_kind_name((enum cause_kind)kind),
                            json_pack("[o, o]", json_ns(row->kind_ns[kind]), json_ns(row->kind_ns[KIND_N + kind])));
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:s, s:I, s:o, s:o}", "name",
                  json_text(difference_row_name(&scratch, row, false)), "before_ns", json_ns(row->mean_ns[0]),
                  "after_ns", json_ns(row->mean_ns[1]), "change_ns", json_ns(compare_change(row)), "noise_ns",
                  row->level > 0 ? json_ns(row->test.least) : json_null(), "chance", row->test.chance, "level",
                  row->level, "verdict", verdicts[row->verdict], "runs_needed", (json_int_t)row->runs_needed, "runs_ns",
                  runs, "kinds", kinds);
    if (row->place) {
        json_object_set_new(object, "file", json_text(row->place->file));
        json_object_set_new(object, "routine", json_text(row->place->routine));
        json_object_set_new(object, "line_first", json_integer(row->place->line_first));
        json_object_set_new(object, "line_last", json_integer(row->place->line_last));
    }
    if (row->depth > 1)
        json_object_set_new(object, "depth", json_integer((json_int_t)row->depth - 2));
    else
        json_object_set_new(object, row->depth ? "parts" : "causes", json_array());
    arena_release(&scratch);
    return object;
}

/* Groups by name, their causes in them, and the parts of these, of all depths, in the order of the tree. */
static void json_add_rows(json_t *object, const struct comparison *comparison)
{
    static const char *const groups[GROUP_N] = {"run_time", "program", "mpi", "machine"};
    json_t *group = NULL, *cause = NULL;
    for (size_t i = 0; i < comparison->rows.n; i++) {
        const struct compare_row *row = &comparison->rows.at[i];
        json_t *made = json_row(comparison, row);
        if (!row->depth) {
            json_object_set_new(object, groups[row->group], made);
            group = made;
        } else if (row->depth == 1) {
            json_array_append_new(json_object_get(group, "causes"), made);
            cause = made;
        } else {
            json_array_append_new(json_object_get(cause, "parts"), made);
        }
    }
}

static json_t *json_counts(const struct fact *fact)
{
    json_t *counts = json_array();
    for (uint32_t i = 0; fact && i < fact->n_counts; i++)
        json_array_append_new(counts, json_pack("{s:i, s:I, s:I}", "rank", (int)fact->counts[i].rank, "n",
                                                (json_int_t)fact->counts[i].n, "of", (json_int_t)fact->counts[i].of));
    return counts;
}

static json_t *json_fact(const struct compare_fact *fact)
{
    static const char *const kinds[FACT_N] = {"trips", "way", "calls", "allocated", "mpi-calls", "messages", "sent"};
    struct arena scratch = {0};
    const struct fact *some = fact->after ? fact->after : fact->before;
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:i, s:i, s:i, s:b, s:f, s:I, s:I, s:o, s:o, s:o}", "kind", kinds[some->kind], "file",
        json_text(some->file), "routine", json_text(some->routine), "line_first", (int)some->line_first, "line_last",
        (int)some->line_last, "line_to", (int)some->line_to, "is_decision", (int)fact->is_decision, "size", fact->size,
        "before", (json_int_t)(fact->before ? fact->before->sum : 0), "after",
        (json_int_t)(fact->after ? fact->after->sum : 0), "before_ranks", json_counts(fact->before), "after_ranks",
        json_counts(fact->after), "text", json_text(difference_fact(&scratch, fact)));
    arena_release(&scratch);
    return object;
}

static json_t *json_share(const struct comparison *comparison, const struct compare_share *share)
{
    static const char *const kinds[] = {"cause", "other-code", "mpi", "machine"};
    struct arena scratch = {0};
    json_t *object = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", json_text(share_name(&scratch, comparison, share)), "kind",
        kinds[share->kind], "change_ns", json_ns(share_change(share)), "before_computing_ns",
        json_ns(share->computing_ns[0]), "after_computing_ns", json_ns(share->computing_ns[1]), "before_imbalance_ns",
        json_ns(share->imbalance_ns[0]), "after_imbalance_ns", json_ns(share->imbalance_ns[1]));
    arena_release(&scratch);
    return object;
}

int difference_print_json(FILE *out, const struct comparison *comparison)
{
    struct arena scratch = {0};
    json_t *is_after = json_array(), *exact = json_array(), *shares = json_array(), *notes = json_array();
    json_t *object = json_pack("{s:i, s:o}", "version", DIFFERENCE_VERSION, "is_after", is_after);
    for (size_t i = 0; i < comparison->n_runs; i++)
        json_array_append_new(is_after, json_boolean(comparison->side_of[i]));
    json_add_rows(object, comparison);
    for (size_t i = 0; i < comparison->facts.n; i++)
        json_array_append_new(exact, json_fact(&comparison->facts.at[i]));
    for (size_t i = 0; i < comparison->shares.n; i++)
        json_array_append_new(shares, json_share(comparison, &comparison->shares.at[i]));
    for (const char **note = difference_notes(&scratch, comparison); *note; note++)
        json_array_append_new(notes, json_text(*note));
    json_object_set_new(object, "exact", exact);
    json_object_set_new(object, "shares", shares);
    json_object_set_new(object, "notes", notes);
    int failed = json_dumpf(object, out, JSON_INDENT(1)) || fputc('\n', out) == EOF;
    if (failed)
        error("cannot write the JSON report: %s", strerror(errno));
    json_decref(object);
    arena_release(&scratch);
    return failed ? -1 : 0;
}
