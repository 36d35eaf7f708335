/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/difference.h"
#include "analyze/constants/readers.h"
#include "analyze/words/amount.h"
#include "analyze/words/label.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const group_names[GROUP_N] = {"run time", "computing time of the slowest rank",
                                                 "waiting for the program's code", "waiting for what passes inside MPI",
                                                 "waiting for the machine: ranks without a CPU"};

/* State while a table is printed. */
struct view {
    const struct comparison *comparison;
    struct arena arena;
    VEC(const struct compare_row *) rows;
};

static void view_release(struct view *view)
{
    vec_release(&view->rows);
    arena_release(&view->arena);
}

const char *difference_row_name(struct arena *arena, const struct compare_row *row, bool indent)
{
    static const char *const rests[] = {"others, each below 1 % of it",
                                        "others, below 1 % of it or too short for samples"};
    const char *name = row->is_rest ? rests[row->group == GROUP_COMPUTING]
                       : row->name  ? row->name
                                    : group_names[row->group];
    return arena_printf(arena, "%*s%s", indent ? (int)(2 * row->depth) : 0, "", name);
}

/* "more work 900 ms -> 0 s, slower 100 ms -> 100 ms"; "" when there is nothing to tell apart. */
static const char *difference_kinds(struct arena *arena, const struct comparison *comparison,
                                    const struct compare_row *row)
{
    const double *before = row->kind_ns, *after = row->kind_ns + KIND_N;
    const char *text = "";
    double most_ns = fmax(row->mean_ns[0], row->mean_ns[comparison->n_sides - 1]);
    for (int kind = 0; kind < KIND_N; kind++)
        if (kind != KIND_MORE_TIME && fmax(before[kind], after[kind]) > WORTH_NAMING * most_ns)
            text =
                arena_printf(arena, "%s%s%s %s -> %s", text, *text ? ", " : "", label_kind_words((enum cause_kind)kind),
                             amount_duration(before[kind]).text, amount_duration(after[kind]).text);
    return text;
}

/* The time of the slowest rank of a side, as a multiple of the others'. */
static double by_others(const struct comparison *comparison, const struct compare_row *row, uint32_t side)
{
    double others_ns = 0;
    for (size_t run = 0; run < comparison->n_runs; run++)
        others_ns += comparison->side_of[run] == side ? row->others_ns[run] : 0;
    return row->mean_ns[side] * comparison->n_of_side[side] / others_ns;
}

/* True when the loop of a row goes round another number of times each time, for certain. */
static bool is_counted_otherwise(const struct comparison *comparison, const struct compare_row *row)
{
    const struct run_place *place = row->place;
    for (size_t i = 0; i < comparison->facts.n && place && place->is_loop && place->file; i++) {
        const struct compare_fact *fact = &comparison->facts.at[i];
        const struct fact *at = fact->after ? fact->after : fact->before;
        if (fact->is_decision && at->kind == FACT_TRIPS && at->file && !strcmp(at->file, place->file) &&
            at->line_first == place->line_first && at->line_last == place->line_last)
            return true;
    }
    return false;
}

/* "more (+-12 ms)" */
static const char *verdict_text(struct arena *arena, const struct comparison *comparison, const struct compare_row *row)
{
    static const char *const words[] = {"within noise", "less", "more", "too few runs"};
    if (row->name && !row->place) /* several causes */
        return "";
    if (row->verdict == COMPARE_TOO_FEW && is_counted_otherwise(comparison, row))
        return "its count changed, above";
    if (row->verdict == COMPARE_TOO_FEW && row->runs_needed)
        return arena_printf(arena, "too few runs: take %u a side", row->runs_needed);
    if (row->verdict == COMPARE_TOO_FEW || !(row->level > 0) || !isfinite(row->test.least))
        return words[row->verdict];
    if (row->test.is_by_others && row->verdict != COMPARE_NOISE) {
        double ratios[2] = {by_others(comparison, row, 0), by_others(comparison, row, 1)};
        struct amount texts[2];
        if (isfinite(ratios[0]) && isfinite(ratios[1])) {
            amount_apart(ratios, texts);
            return arena_printf(arena, "%s: %s -> %s x the others", words[row->verdict], texts[0].text, texts[1].text);
        }
    }
    return arena_printf(arena, "%s (+-%s)", words[row->verdict], amount_duration(row->test.least).text);
}

/* Causes of a group that have no row, as one that has no place in the code. */
static struct compare_row *left_of(struct view *view, const struct compare_row *group)
{
    struct compare_row *left = arena_new(&view->arena, struct compare_row);
    uint32_t n_sides = view->comparison->n_sides;
    *left = (struct compare_row){.group = group->group, .depth = 1, .verdict = COMPARE_NOISE};
    left->mean_ns = arena_array(&view->arena, double, n_sides);
    left->kind_ns = arena_array(&view->arena, double, (size_t)KIND_N *n_sides);
    return left;
}

/* What the slowest rank computes is no sum over causes, nor is the run time; waiting is. */
static void view_add_left(struct view *view, struct compare_row *left, uint32_t n_left)
{
    if (!n_left || left->group < GROUP_PROGRAM)
        return;
    left->name = arena_printf(&view->arena, "%u more", n_left);
    *vec_push(&view->rows) = left;
}

/* Groups, and of each its causes up to n_top, as long as they change by a thousandth of all waiting. All code computes:
 * of that, what has changed. */
static void choose_rows(struct view *view, const struct difference_options *options)
{
    const struct comparison *comparison = view->comparison;
    double waiting_ns = 0;
    for (int group = GROUP_PROGRAM; group < GROUP_N; group++) {
        const double *mean_ns = comparison->rows.at[comparison->group_row[group]].mean_ns;
        waiting_ns += fmax(mean_ns[0], mean_ns[1]);
    }
    unsigned n_causes = 0, n_left = 0;
    bool is_shown = false;
    struct compare_row *left = NULL;
    for (size_t i = 0; i < comparison->rows.n; i++) {
        const struct compare_row *row = &comparison->rows.at[i];
        if (!row->depth) {
            view_add_left(view, left, n_left);
            left = left_of(view, row);
            n_causes = n_left = 0;
        }
        if (row->depth == 1) {
            is_shown = row->group == GROUP_COMPUTING ? row->verdict == COMPARE_LESS || row->verdict == COMPARE_MORE
                                                     : fabs(compare_change(row)) >= NEXT_TO_NOTHING * waiting_ns;
            n_causes += is_shown;
            is_shown = !options->n_top || (is_shown && n_causes <= options->n_top);
            n_left += !is_shown;
            for (uint32_t side = 0; side < comparison->n_sides && !is_shown; side++)
                left->mean_ns[side] += row->mean_ns[side];
        }
        if (!row->depth || (is_shown && (row->depth == 1 || options->parts)))
            *vec_push(&view->rows) = row;
    }
    view_add_left(view, left, n_left);
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

/* Counts of both sides by rank. */
struct ranks_counts {
    struct fact_count *sides[2];
    uint32_t n;
};

/* All of the ranks that one of the sides tells of. */
static struct ranks_counts counts_by_rank(struct arena *arena, const struct compare_fact *fact)
{
    const struct fact *sides[2] = {fact->before, fact->after};
    struct ranks_counts counts = {0};
    for (int side = 0; side < 2; side++)
        if (sides[side] && sides[side]->n_counts && sides[side]->counts[sides[side]->n_counts - 1].rank >= counts.n)
            counts.n = sides[side]->counts[sides[side]->n_counts - 1].rank + 1;
    for (int side = 0; side < 2; side++) {
        counts.sides[side] = arena_array(arena, struct fact_count, counts.n + 1);
        for (uint32_t rank = 0, i = 0; sides[side] && rank < counts.n; rank++) {
            while (i < sides[side]->n_counts && sides[side]->counts[i].rank <= rank)
                i++;
            counts.sides[side][rank] = i ? sides[side]->counts[i - 1] : (struct fact_count){0};
        }
    }
    return counts;
}

static bool counts_differ(const struct compare_fact *fact, struct fact_count a, struct fact_count b)
{
    return fact->is_decision ? (unsigned __int128)a.n * b.of != (unsigned __int128)b.n * a.of : a.n != b.n;
}

static bool rank_has_changed(const struct compare_fact *fact, const struct ranks_counts *counts, uint32_t rank)
{
    struct fact_count before = counts->sides[0][rank], after = counts->sides[1][rank];
    return (!fact->is_decision || (before.of && after.of)) && counts_differ(fact, before, after);
}

/* Whether a rank's count is that of all ranks that did not change; of a decision, those that came to it. */
static bool is_as_others(const struct compare_fact *fact, const struct ranks_counts *counts, int side, uint32_t rank)
{
    bool is_seen = false;
    for (uint32_t other = 0; other < counts->n; other++) {
        if (rank_has_changed(fact, counts, other) || (fact->is_decision && !counts->sides[side][other].of))
            continue;
        if (counts_differ(fact, counts->sides[side][rank], counts->sides[side][other]))
            return false;
        is_seen = true;
    }
    return is_seen;
}

/* A count on either side, or of a decision how many there are each time. */
static void fact_values(struct arena *arena, const struct compare_fact *fact, const struct fact_count counts[2],
                        const char *values[2])
{
    bool is_way = (fact->after ? fact->after : fact->before)->kind == FACT_WAY, is_each[2];
    double each[2];
    struct amount told[2];
    for (int side = 0; side < 2; side++) {
        is_each[side] = fact->is_decision && counts[side].of;
        each[side] = is_each[side] ? (is_way ? 100 : 1) * ((double)counts[side].n / (double)counts[side].of) : 0;
    }
    amount_apart(each, told);
    for (int side = 0; side < 2; side++)
        values[side] = is_each[side] ? arena_printf(arena, "%s%s", told[side].text, is_way ? " %" : "")
                                     : arena_strdup(arena, amount_count(counts[side].n).text);
}

/* Ranks that go from the same value to the same value. */
struct rank_change {
    struct fact_count values[2];
    uint32_t *ranks, n;
};

static bool is_change(const struct compare_fact *fact, const struct rank_change *change,
                      const struct ranks_counts *counts, uint32_t rank)
{
    return !counts_differ(fact, change->values[0], counts->sides[0][rank]) &&
           !counts_differ(fact, change->values[1], counts->sides[1][rank]);
}

/* All changes, in order of the first rank of each. */
static uint32_t changes_by_rank(struct arena *arena, const struct compare_fact *fact, const struct ranks_counts *counts,
                                struct rank_change *changes)
{
    uint32_t n = 0;
    for (uint32_t rank = 0, at; rank < counts->n; rank++) {
        if (!rank_has_changed(fact, counts, rank))
            continue;
        for (at = 0; at < n && !is_change(fact, &changes[at], counts, rank);)
            at++;
        if (at == n)
            changes[n++] = (struct rank_change){.values = {counts->sides[0][rank], counts->sides[1][rank]},
                                                .ranks = arena_array(arena, uint32_t, counts->n - rank)};
        changes[at].ranks[changes[at].n++] = rank;
    }
    return n;
}

/* "500 -> 1,000 trips each time it is entered on rank 0": of the first change with what is counted. */
static const char *change_text(struct arena *arena, const struct compare_fact *fact, const struct rank_change *change,
                               const char *unit, const char *ranks)
{
    const char *values[2];
    fact_values(arena, fact, change->values, values);
    return arena_printf(arena, "%s -> %s%s on %s", values[0], values[1], unit, ranks);
}

static const char *ranks_of_change(struct arena *arena, const struct ranks_counts *counts,
                                   const struct rank_change *change)
{
    return change->n == counts->n ? "every rank" : amount_ranks(arena, change->ranks, change->n);
}

static int by_rank(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* The ranks of several changes. */
static const char *ranks_of_changes(struct arena *arena, const struct rank_change *changes, uint32_t n_changes,
                                    uint32_t n_ranks)
{
    uint32_t *ranks = arena_array(arena, uint32_t, n_ranks), n = 0;
    for (uint32_t i = 0; i < n_changes; i++)
        for (uint32_t k = 0; k < changes[i].n; k++)
            ranks[n++] = changes[i].ranks[k];
    qsort(ranks, n, sizeof *ranks, by_rank);
    return amount_ranks(arena, ranks, n);
}

/* A few changes with their ranks; of more the first, and where there are others. */
static const char *changes_text(struct arena *arena, const struct compare_fact *fact, const struct ranks_counts *counts,
                                const char *unit)
{
    enum { CHANGES_TOLD = 3 };
    struct rank_change *changes = arena_array(arena, struct rank_change, counts->n + 1);
    uint32_t n = changes_by_rank(arena, fact, counts, changes), n_told = n > CHANGES_TOLD ? CHANGES_TOLD - 1 : n;
    const char *text = change_text(arena, fact, &changes[0], unit, ranks_of_change(arena, counts, &changes[0]));
    for (uint32_t i = 1; i < n_told; i++)
        text = arena_printf(arena, "%s, %s", text,
                            change_text(arena, fact, &changes[i], "", ranks_of_change(arena, counts, &changes[i])));
    if (n_told < n)
        return arena_printf(arena, "%s, other changes on %s", text,
                            ranks_of_changes(arena, &changes[n_told], n - n_told, counts->n));
    if (n == 1 && is_as_others(fact, counts, 1, changes[0].ranks[0]))
        return arena_printf(arena, "%s, now as on the others", text);
    if (n == 1 && is_as_others(fact, counts, 0, changes[0].ranks[0]))
        return arena_printf(arena, "%s, before as on the others", text);
    return text;
}

const char *difference_fact(struct arena *arena, const struct compare_fact *fact)
{
    static const char *const each_time[FACT_N] = {[FACT_TRIPS] = " trips each time it is entered",
                                                  [FACT_WAY] = " of the time",
                                                  [FACT_MESSAGES] = " a call",
                                                  [FACT_SENT] = " a call"};
    const struct fact *some = fact->after ? fact->after : fact->before;
    struct arena scratch = {0};
    struct ranks_counts counts = counts_by_rank(&scratch, fact);
    const char *unit = fact->is_decision && each_time[some->kind] ? each_time[some->kind]
                       : some->kind == FACT_TRIPS                 ? " iterations"
                                                                  : "";
    const char *text =
        arena_printf(arena, "%s: %s", fact_place(arena, some), changes_text(&scratch, fact, &counts, unit));
    if (fact->is_decision && some->kind == FACT_TRIPS && fact->before && fact->after)
        text = arena_printf(arena, "%s (%s -> %s in all)", text, amount_count(fact->before->sum).text,
                            amount_count(fact->after->sum).text);
    arena_release(&scratch);
    return text;
}

/* Decisions on what is executed explain the other counts; without any, all are told: on the size of a message nothing
 * depends but its own bytes. Returns how many are left. */
static size_t facts_told(const struct comparison *comparison, unsigned n_top, size_t *n_told)
{
    size_t n_decisions = 0;
    bool is_executed = false;
    for (size_t i = 0; i < comparison->facts.n; i++) {
        const struct compare_fact *fact = &comparison->facts.at[i];
        n_decisions += fact->is_decision;
        is_executed |= fact->is_decision && (fact->after ? fact->after : fact->before)->kind < FACT_MPI_CALLS;
    }
    *n_told = is_executed && n_top ? n_decisions : comparison->facts.n;
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
    bool is_single = comparison->n_of_side[0] < 2 || comparison->n_of_side[1] < 2;
    page_style(page, STYLE_HEADING);
    page_paragraph(page, 0, 0,
                   is_single
                       ? "counted exactly (with one run on a side: a program that decides by time may vary by itself)"
                       : "counted exactly, the same in all runs of a side: these changes are certain");
    page_style(page, STYLE_PLAIN);
    for (size_t i = 0; i < n_told; i++)
        page_paragraph(page, 2, 6, difference_fact(&scratch, &comparison->facts.at[i]));
    if (n_left)
        page_line(page, "  and %zu other %s, which may follow from %s (--top 0)", n_left,
                  n_left == 1 ? "count" : "counts", n_told == 1 ? "it" : "them");
    page_end(page);
    arena_release(&scratch);
}

const char *difference_share_name(struct arena *arena, const struct comparison *comparison,
                                  const struct compare_share *share)
{
    static const char *const names[] = {"", "all other code", "inside MPI: transfer, and what it does itself",
                                        "the machine: no CPU although ready to run"};
    return share->kind == SHARE_CAUSE ? difference_row_name(arena, &comparison->rows.at[share->row], false)
                                      : names[share->kind];
}

static void print_shares(struct page *page, const struct comparison *comparison, unsigned n_top)
{
    struct arena scratch = {0};
    const struct compare_row *time = &comparison->rows.at[comparison->group_row[GROUP_RUN_TIME]];
    double all_ns = compare_change(time), told_ns = 0;
    size_t n = 0;
    while (n < comparison->shares.n && (!n_top || n < n_top) &&
           fabs(compare_share_change(&comparison->shares.at[n])) > NEXT_TO_NOTHING * time->mean_ns[0])
        n++;
    if (!n)
        return;
    page_style(page, STYLE_HEADING);
    page_line(page, "of the run time's %s", amount_change(all_ns).text);
    page_style(page, STYLE_PLAIN);
    for (size_t i = 0; i < n; i++) {
        const struct compare_share *share = &comparison->shares.at[i];
        const char *text = arena_printf(&scratch, "%9s  %s", amount_change(compare_share_change(share)).text,
                                        difference_share_name(&scratch, comparison, share));
        if (share->kind == SHARE_CAUSE)
            text = arena_printf(&scratch, "%s: %s in it (mean of the ranks), %s waiting for it", text,
                                amount_change(share->computing_ns[1] - share->computing_ns[0]).text,
                                amount_change(share->imbalance_ns[1] - share->imbalance_ns[0]).text);
        page_paragraph(page, 2, 13, text);
        told_ns += compare_share_change(share);
    }
    if (n < comparison->shares.n)
        page_paragraph(
            page, 2, 13,
            arena_printf(&scratch, "%9s  %zu more", amount_change(all_ns - told_ns).text, comparison->shares.n - n));
    page_end(page);
    arena_release(&scratch);
}

/* Differences between runs, in the order in which they are written. */
enum attribute {
    OF_RANKS,
    OF_PROGRAM,
    OF_BUILD,
    OF_COMPILER,
    OF_LIBRARY,
    OF_ARGUMENTS,
    OF_HOSTS,
    OF_COUNTING,
    OF_END,
    N_ATTRIBUTES
};

/* The arguments of the program. */
static const char *arguments_of(const struct run *run)
{
    const char *blank = strchr(run->command, ' ');
    return blank ? blank + 1 : "";
}

/* Long ones from shortly before the place on from which they differ. */
static const char *arguments_text(struct arena *arena, const struct comparison *comparison, const struct run *run)
{
    enum { SHOWN = 60, BEFORE = 20 };
    const char *arguments = arguments_of(run), *first = arguments_of(comparison->runs[0]);
    size_t n_alike = strlen(arguments), n = n_alike;
    for (size_t i = 0; i < comparison->n_runs; i++) {
        const char *other = arguments_of(comparison->runs[i]);
        size_t at = 0;
        while (at < n_alike && other[at] && other[at] == first[at])
            at++;
        n_alike = at;
    }
    size_t from = n > SHOWN && n_alike > BEFORE ? n_alike - BEFORE : 0;
    if (!n)
        return "none";
    return arena_printf(arena, "%s%.*s%s", from ? "..." : "", SHOWN, arguments + from, n - from > SHOWN ? "..." : "");
}

static const char *attribute_text(struct arena *arena, const struct comparison *comparison, const struct run *run,
                                  enum attribute attribute)
{
    switch (attribute) {
    case OF_RANKS:
        return arena_printf(arena, "%u", run->n_ranks);
    case OF_PROGRAM:
        return run->program;
    case OF_BUILD:
        return run->build ? arena_printf(arena, "%08x", (unsigned)(run->build >> 32)) : "unknown";
    case OF_COMPILER:
        return run->compiler && *run->compiler ? run->compiler : "unknown";
    case OF_LIBRARY:
        return run->mpi && *run->mpi ? run->mpi : "unknown";
    case OF_ARGUMENTS:
        return arguments_text(arena, comparison, run);
    case OF_HOSTS:
        return arena_printf(arena, "%s%s", run->hosts, run->n_hosts > 4 ? " and more" : "");
    case OF_COUNTING:
        return run->is_counted ? "built to count" : "not built to count";
    default:
        return run->is_whole ? "came to their end" : "did not come to their end";
    }
}

/* The values that runs of some sides have, each once; there are *n. */
static const char *distinct(struct arena *arena, const struct comparison *comparison, uint32_t first_side,
                            uint32_t end_side, enum attribute attribute, uint32_t *n_values)
{
    struct intern seen = {0};
    const char *text = "";
    for (size_t run = 0; run < comparison->n_runs; run++) {
        uint32_t side = comparison->side_of[run], n = (uint32_t)seen.n;
        if (side < first_side || side >= end_side)
            continue;
        const char *at = attribute_text(arena, comparison, comparison->runs[run], attribute);
        if (intern_text(&seen, at) == n)
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", at);
    }
    *n_values = (uint32_t)seen.n;
    intern_release(&seen);
    return text;
}

const char *difference_programs(struct arena *arena, const struct comparison *comparison)
{
    for (uint32_t side = 0; side < comparison->n_sides; side++) {
        uint32_t n_values;
        const char *text = distinct(arena, comparison, side, side + 1, OF_PROGRAM, &n_values);
        if (n_values > 1)
            return arena_printf(
                arena, "runs of different programs: %s. Means over them say little: name runs of one program", text);
    }
    return NULL;
}

void difference_warn_of_programs(struct page *page, const char *programs)
{
    if (!programs)
        return;
    page_style(page, STYLE_WARNING);
    page_paragraph(page, 0, 2, programs);
    page_style(page, STYLE_PLAIN);
}

const char **difference_notes(struct arena *arena, const struct comparison *comparison)
{
    static const char *const told[N_ATTRIBUTES][2] = {
        [OF_RANKS] = {"number of ranks", "waiting is the sum over ranks"},
        [OF_PROGRAM] = {"program", "loops are matched by file, routine and line"},
        [OF_BUILD] = {"build of the program", "loops are matched by file, routine and line"},
        [OF_COMPILER] = {"compiler", "it may have made other loops of the same code, and counts are of its loops"},
        [OF_LIBRARY] = {"MPI library", "its time is in waiting and transfer"},
        [OF_ARGUMENTS] = {"arguments of the program", "another input is other work"},
        [OF_HOSTS] = {"hosts", "their speed is in all times"},
        [OF_COUNTING] = {"kind of build", "counting takes time, and it sees short loops that samples miss"},
        [OF_END] = {"end", "whywait report says why"},
    };
    const char **notes = arena_array(arena, const char *, N_ATTRIBUTES + 2);
    size_t n = 0;
    for (enum attribute i = 0; i < N_ATTRIBUTES; i++) {
        uint32_t n_values;
        const char *text = distinct(arena, comparison, 0, comparison->n_sides, i, &n_values);
        if (n_values < 2)
            continue;
        if (comparison->n_sides == 2)
            text = arena_printf(arena, "%s -> %s", distinct(arena, comparison, 0, 1, i, &n_values),
                                distinct(arena, comparison, 1, 2, i, &n_values));
        notes[n++] = arena_printf(arena, "%s: %s; %s", told[i][0], text, told[i][1]);
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

static void print_rows(struct page *page, const struct view *view)
{
    static const struct page_column columns[] = {
        {"", PAGE_WRAP, STYLE_PLAIN},        {"before", PAGE_RIGHT, STYLE_PLAIN},  {"after", PAGE_RIGHT, STYLE_PLAIN},
        {"change", PAGE_RIGHT, STYLE_PLAIN}, {"which is", PAGE_LEFT, STYLE_PLAIN},
    };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    struct arena scratch = {0};
    for (size_t i = 0; i < view->rows.n; i++) {
        const struct compare_row *row = view->rows.at[i];
        page_cell(&table, "%s", difference_row_name(&scratch, row, true));
        page_cell(&table, "%s", amount_duration(row->mean_ns[0]).text);
        page_cell(&table, "%s", amount_duration(row->mean_ns[1]).text);
        page_cell(&table, "%s", amount_change(compare_change(row)).text);
        page_cell(&table, "%s", verdict_text(&scratch, view->comparison, row));
    }
    page_table_begin(page, &table);
    for (size_t i = 0; i < view->rows.n; i++) {
        const struct compare_row *row = view->rows.at[i];
        enum style name = row->depth ? STYLE_PLAIN : STYLE_HEADING;
        enum style verdict = row->verdict == COMPARE_LESS   ? STYLE_LESS
                             : row->verdict == COMPARE_MORE ? STYLE_MORE
                                                            : STYLE_QUIET;
        table.styles = (const enum style[]){name, STYLE_PLAIN, STYLE_PLAIN, verdict, verdict};
        page_table_row(page, &table, i);
        const char *kinds = row->depth == 1 ? difference_kinds(&scratch, view->comparison, row) : "";
        if (*kinds)
            page_paragraph(page, 6, 8, kinds);
    }
    page_table_end(&table);
    arena_release(&scratch);
}

/* "381 ms less (961 ms -> 580 ms)" */
static const char *change_of_row(struct arena *arena, const struct compare_row *row)
{
    double change_ns = compare_change(row);
    return arena_printf(arena, "%s %s (%s -> %s)", amount_duration(fabs(change_ns)).text,
                        change_ns < 0 ? "less" : "more", amount_duration(row->mean_ns[0]).text,
                        amount_duration(row->mean_ns[1]).text);
}

static const char *news_of_run_time(struct arena *arena, const struct comparison *comparison)
{
    const struct compare_news *news = &comparison->news;
    const char *text = arena_printf(arena, "The run takes %s",
                                    change_of_row(arena, &comparison->rows.at[comparison->group_row[GROUP_RUN_TIME]]));
    if (news->share != TRACE_NONE) {
        const struct compare_share *share = &comparison->shares.at[news->share];
        text = arena_printf(arena, "%s: %s by %s", text, amount_change(compare_share_change(share)).text,
                            difference_share_name(arena, comparison, share));
    }
    return arena_printf(arena, "%s.%s", text, news->is_tested ? "" : " So few runs do not tell that from noise.");
}

const char *difference_news(struct arena *arena, const struct comparison *comparison)
{
    const struct compare_news *news = &comparison->news;
    if (news->kind == NEWS_NONE)
        return news->is_tested ? "No time has changed by more than these runs scatter." : NULL;
    if (news->kind == NEWS_RUN_TIME)
        return news_of_run_time(arena, comparison);
    const struct compare_row *row = &comparison->rows.at[news->row];
    bool is_too_few = comparison->rows.at[comparison->group_row[GROUP_RUN_TIME]].verdict == COMPARE_TOO_FEW;
    return arena_printf(arena, "Changed most: %s%s%s: %s. %s", group_names[row->group], row->depth ? ", " : "",
                        row->depth ? difference_row_name(arena, row, false) : "", change_of_row(arena, row),
                        is_too_few ? "Of the run time so few runs tell nothing." : "The run time is within noise.");
}

void difference_print(FILE *out, const struct comparison *comparison, const struct difference_options *options)
{
    struct page page = {.out = out, .width = options->width, .look = options->look};
    struct arena scratch = {0};
    struct view view = {.comparison = comparison};
    char runs[80];
    count_runs(comparison, runs, sizeof runs);
    const char *news = difference_news(&scratch, comparison);
    page_style(&page, STYLE_HEADING);
    if (news)
        page_paragraph(&page, 0, 2, news);
    page_line(&page, "%s: means per run", runs);
    page_style(&page, STYLE_PLAIN);
    difference_warn_of_programs(&page, difference_programs(&scratch, comparison));
    page_end(&page);
    print_facts(&page, comparison, options->n_top);
    choose_rows(&view, options);
    print_rows(&page, &view);
    page_end(&page);
    print_shares(&page, comparison, options->n_top);
    page_style(&page, STYLE_QUIET);
    if (comparison->n_runs < 3)
        page_paragraph(&page, 0, 2,
                       "note: one run on each side says nothing about times; record each side several times, in turn: "
                       "whywait diff A1 A2 A3 vs B1 B2 B3");
    else
        page_paragraph(&page, 0, 2,
                       "more, less: larger than the scatter of the runs (+-). Chance alone says so in 1 of 20 "
                       "comparisons. Parts are tested only if the whole has changed");
    for (const char **note = difference_notes(&scratch, comparison); *note; note++)
        page_paragraph(&page, 0, 2, arena_printf(&scratch, "note: %s", *note));
    page_style(&page, STYLE_PLAIN);
    view_release(&view);
    arena_release(&scratch);
}

/* Characters that would end a cell are written as entities. */
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
    const char *news = difference_news(&scratch, comparison);
    fprintf(out, "**whywait**: %s%s%s\n\n| | before | after | change | |\n|---|---:|---:|---:|---|\n", runs,
            news ? ". " : "", news ? markdown_text(&scratch, news) : "");
    for (size_t i = 0; i < view.rows.n; i++) {
        const struct compare_row *row = view.rows.at[i];
        fprintf(out, "| %s%s | %s | %s | %s | %s |\n", row->depth ? "&nbsp;&nbsp;" : "",
                markdown_text(&scratch, difference_row_name(&scratch, row, false)),
                amount_duration(row->mean_ns[0]).text, amount_duration(row->mean_ns[1]).text,
                amount_change(compare_change(row)).text, verdict_text(&scratch, comparison, row));
    }
    fputs(n_told ? "\nCounted exactly:\n" : "", out);
    for (size_t i = 0; i < n_told; i++)
        fprintf(out, "- %s\n", markdown_text(&scratch, difference_fact(&scratch, &comparison->facts.at[i])));
    if (n_left)
        fprintf(out, "- and %zu other counts\n", n_left);
    for (const char **note = difference_notes(&scratch, comparison); *note; note++)
        fprintf(out, "\nNote: %s\n", markdown_text(&scratch, *note));
    view_release(&view);
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
        double percent = 100 * hit->share;
        fprintf(out, "whywait: above the limit: %s", text_escape(&scratch, what));
        if (isfinite(percent))
            fprintf(out, percent < 1000 ? " (+%.3g %%%s)" : " (+%.0f %%%s)", percent,
                    hit->fact ? " over all ranks" : "");
        fputc('\n', out);
    }
    arena_release(&scratch);
}
