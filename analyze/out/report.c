/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The overview: where the time of all ranks went, the causes of waiting in falling order (what, how much, why, and the
 * calls at which it is felt), and in the end everything that limits the trust in it.
 */
#include "analyze/out/report.h"
#include "analyze/constants/readers.h"
#include "analyze/words/amount.h"
#include "analyze/words/ending.h"
#include "analyze/words/explain.h"
#include "analyze/words/next.h"
#include "analyze/words/shortage.h"
#include "analyze/words/headline.h"
#include "analyze/words/label.h"
#include "analyze/out/page.h"
#include "analyze/words/when.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDENT = 2,
    HANG = 4,
    HANG_SITE = HANG + 12,
    SITES_SHOWN = 3,
    REASONS_SHOWN = 4,
    MEMBERS_SHOWN = 5,
    BESIDE_SHOWN = 3
};

/* A row of the list: a cause, or a partition, below which some of its causes stand. */
struct row {
    bool is_partition, is_below;
    uint32_t number;
    double waiting_ns;
};

struct report {
    struct arena arena;
    struct page page;
    struct label_book book;
    const struct analysis *analysis;
    VEC(struct row) rows;
    uint32_t n_left; /* causes that are in no row, nor in a partition that is */
    double left_ns;
    const char **calls; /* at which the shown causes are felt, in the order of the page; so many have been told */
    uint32_t n_calls, n_told;
    bool all;
};

static void report_part(struct report *report, const char *name, double part_ns, bool always)
{
    double total_ns = report->analysis->efficiency.all_ns;
    double percent = total_ns > 0 ? 100 * part_ns / total_ns : 0;
    if (always || percent >= 0.05)
        page_piece(&report->page, HANG, "%s %.1f %%", name, percent);
}

static void report_head(struct report *report)
{
    const struct analysis *analysis = report->analysis;
    const struct efficiency *efficiency = &analysis->efficiency;
    const struct trace *trace = analysis->trace;
    page_style(&report->page, STYLE_HEADING);
    page_put(&report->page, "%s", trace_title(trace));
    page_style(&report->page, STYLE_PLAIN);
    page_piece(&report->page, HANG, "%u %s", trace->n_ranks, trace->n_ranks == 1 ? "rank" : "ranks");
    page_piece(&report->page, HANG, "%s", amount_duration(efficiency->wall_ns).text);
    page_put(&report->page, "    ");
    report_part(report, "compute", efficiency->compute_ns, true);
    report_part(report, "waiting", efficiency->waiting_ns, true);
    report_part(report, "transfer", efficiency->transfer_ns, false);
    double never_back_ns = trace->is_going ? 0 : efficiency->never_back_ns; /* which nobody knows yet */
    report_part(report, "in MPI", efficiency->mpi_ns - never_back_ns, false);
    report_part(report, "never came back from MPI", never_back_ns, false);
    report_part(report, "no CPU", efficiency->descheduled_ns, false);
    report_part(report, "blocked", efficiency->blocked_ns, false);
    report_part(report, "recording off", efficiency->unrecorded_ns, false);
    report_part(report, trace->is_going ? "not known yet" : "already ended", efficiency->ended_ns, false);
    page_end(&report->page);
}

static void report_efficiency(struct report *report)
{
    const struct efficiency *efficiency = &report->analysis->efficiency;
    if (!isfinite(efficiency->parallel) || report->analysis->trace->n_ranks < 2)
        return;
    const char *text = arena_printf(&report->arena, "parallel efficiency %.2f", efficiency->parallel);
    if (isfinite(efficiency->load_balance) && isfinite(efficiency->serialisation) && isfinite(efficiency->transfer))
        text = arena_printf(
            &report->arena, "%s = load balance %.2f x serialisation %.2f x transfer %.2f x CPU in MPI %.2f", text,
            efficiency->load_balance, efficiency->serialisation, efficiency->transfer, efficiency->processor);
    if (text_columns(text) > report->page.width)
        text += strlen("parallel ");
    page_paragraph(&report->page, 0, INDENT, text);
}

/* Where the cause is felt at one call in several wait states: " (late member)". */
static const char *report_state(struct report *report, const struct cause *cause, const struct cause_site *at)
{
    const struct wait_site *site = &report->analysis->sites[at->site];
    const char *label = label_site(&report->book, at->site);
    for (uint32_t i = 0; i < cause->n_sites; i++) {
        const struct wait_site *other = &report->analysis->sites[cause->sites[i].site];
        if (other->kind != site->kind && !strcmp(label_site(&report->book, cause->sites[i].site), label))
            return arena_printf(&report->arena, " (%s)", wait_kind_name(site->kind));
    }
    return "";
}

/* "ranks 0,2 wait 215 ms for it in 77 of 90 calls with waits"; the time only where there are several to compare. */
static const char *report_figures(struct report *report, const struct cause *cause, const struct cause_site *at)
{
    struct arena *arena = &report->arena;
    const char *calls = amount_calls(arena, at->n_calls, report->analysis->sites[at->site].n_calls);
    const char *state = report_state(report, cause, at);
    const char *time = cause->n_sites > 1 ? arena_strdup(arena, amount_duration(at->waiting_ns).text) : NULL;
    if (!at->n_waiting)
        return arena_printf(arena, "%s%s%s%s", time ? time : "", time ? " in " : "", calls, state);
    const char *whom = at->n_late ? amount_ranks(arena, at->late, at->n_late) : "it";
    return arena_printf(arena, "%s %s%s%s for %s in %s%s", amount_ranks(arena, at->waiting, at->n_waiting),
                        at->n_waiting == 1 ? "waits" : "wait", time ? " " : "", time ? time : "", whom, calls, state);
}

/* "most of it (51 %)", "the largest part (20 %)": of something, what the largest of its places has. */
static const char *report_largest(struct report *report, double share)
{
    return arena_printf(&report->arena, "%s (%s)", share >= MAJORITY ? "most of it" : "the largest part",
                        amount_share(share).text);
}

/* "43 % of it there, 40 % in loop a.c:18 in g(), 18 % in loop a.c:11-12 in h(), behind the same branch": the outermost
 * parts of a cause that has several. */
static const char *report_beside(struct report *report, const struct cause *cause)
{
    struct arena *arena = &report->arena;
    const char *there = "", *others = "";
    uint32_t n_left = cause->n_beside;
    for (uint32_t i = 0; i < cause->n_parts; i++) {
        const struct cause_part *part = &cause->parts[i];
        const char *share = arena_strdup(arena, amount_share(part->waiting_ns / fmax(cause->waiting_ns, 1)).text);
        if (part->depth == 0 && part->step == cause->step) {
            there = arena_printf(arena, "%s of it there", share);
        } else if (part->depth == 0 && part->is_beside && cause->n_beside - n_left < BESIDE_SHOWN) {
            others = arena_printf(arena, "%s, %s %s", others, share, label_within(&report->book, part->step));
            n_left--;
        }
    }
    const char *more = n_left ? arena_printf(arena, " and %u more", n_left) : "";
    return arena_printf(arena, "%s%s%s, behind the same branch", there, others + (*there ? 0 : 2), more);
}

/* "12 loops inside, the largest part (44 %) in loop eos.c:60 in material()": where one place does not say it all. NULL
 * where there is nothing to say. */
static const char *report_inside(struct report *report, const struct cause *cause)
{
    uint32_t n = 0, most = 0;
    double itself_ns = 0, all_ns = fmax(cause->waiting_ns, 1);
    bool are_loops = true;
    for (uint32_t i = 0; i < cause->n_parts; i++) {
        const struct cause_part *part = &cause->parts[i];
        itself_ns += part->step == cause->step ? part->own_ns : 0;
        if (!(part->own_ns > 0) || part->step == cause->step)
            continue;
        n++;
        are_loops &= report->analysis->steps[part->step].is_loop;
        most = part->own_ns > cause->parts[most].own_ns || cause->parts[most].step == cause->step ? i : most;
    }
    if (cause->n_beside)
        return report_beside(report, cause);
    if (!n || n == 1 || itself_ns >= NEARLY_ALL_SHARE * all_ns)
        return NULL;
    const char *what = are_loops ? "loops" : "places";
    const char *where = label_within(&report->book, cause->parts[most].step);
    double most_ns = cause->parts[most].own_ns;
    if (itself_ns > most_ns)
        return arena_printf(&report->arena, "%u %s inside, but %s in the %s itself", n, what,
                            report_largest(report, itself_ns / all_ns),
                            report->analysis->steps[cause->step].is_loop ? "loop" : "routine");
    return arena_printf(&report->arena, "%u %s inside, %s %s", n, what, report_largest(report, most_ns / all_ns),
                        where);
}

/* When it acts, as a drawing, and what is inside. */
static void report_parts(struct report *report, const struct cause *cause)
{
    const char *inside = report_inside(report, cause);
    if (report->all && report->page.look.drawing != DRAW_NOTHING)
        page_line(&report->page, "%*sover the run |%s|", HANG, "",
                  style_sparkline(&report->arena, &report->page.look, cause->when_ns, WHEN_PARTS));
    if (inside)
        page_paragraph(&report->page, HANG, HANG, inside);
}

/* Which rows are like this one. */
static void report_like(struct report *report, uint32_t number)
{
    bool *is_shown = arena_array(&report->arena, bool, report->analysis->n_causes + 1);
    for (size_t i = 0; i < report->rows.n; i++)
        if (!report->rows.at[i].is_partition)
            is_shown[report->rows.at[i].number] = true;
    const char *like = explain_like(&report->arena, report->analysis, number, is_shown);
    if (like)
        page_paragraph(&report->page, HANG, HANG, like);
}

/* By falling waiting; a call with less than a hundredth of it is only counted. */
/* Calls at which others wait for it, but for next to nothing. */
static uint32_t report_n_sites(const struct cause *cause)
{
    uint32_t n = cause->n_sites;
    while (n > 1 && cause->sites[n - 1].waiting_ns < NEGLIGIBLE_SHARE * cause->waiting_ns)
        n--;
    return n;
}

static uint32_t report_n_calls(const struct report *report, const struct cause *cause)
{
    uint32_t n_most = report->all ? SITES_SHOWN : 1, n = report_n_sites(cause);
    return n < n_most ? n : n_most;
}

/* What a partition says need not be said again of each cause in it. */
static bool has_details(const struct row *row)
{
    return !row->is_partition && !row->is_below;
}

/* Callers are cut where they do not fit on one line, but so that a call reads alike in all rows, and like no other. */
static void report_find_calls(struct report *report)
{
    report->calls = arena_array(&report->arena, const char *, SITES_SHOWN * report->rows.n + 1);
    for (size_t i = 0; i < report->rows.n; i++) {
        const struct row *row = &report->rows.at[i];
        const struct cause *cause = has_details(row) ? &report->analysis->causes[row->number] : NULL;
        for (uint32_t k = 0; cause && k < report_n_calls(report, cause); k++)
            report->calls[report->n_calls++] =
                text_escape(&report->arena, label_site(&report->book, cause->sites[k].site));
    }
}

static const char *report_call(struct report *report, uint32_t number)
{
    size_t width = report->page.width > HANG_SITE ? report->page.width - HANG_SITE : 1;
    const char *path = text_cut_path(&report->arena, report->calls, report->n_calls, number, width);
    if (path)
        return path;
    const char *label = report->calls[number];
    const char *cut = text_cut_middle(&report->arena, label, width), *text = cut;
    for (uint32_t i = 0; i < report->n_calls && !strcmp(text, cut); i++)
        text = text_cut_apart(&report->arena, label, report->calls[i], width);
    return text;
}

/* The advice for a cause; "as in row 1" where that row has it already. */
static const char *report_next(struct report *report, uint32_t number)
{
    const struct analysis *analysis = report->analysis;
    const char *next = next_for_cause(&report->arena, analysis, &analysis->causes[number]);
    for (size_t i = 0; i < report->rows.n && report->rows.at[i].number != number; i++) {
        const struct row *row = &report->rows.at[i];
        if (!has_details(row) || strcmp(next, next_for_cause(&report->arena, analysis, &analysis->causes[row->number])))
            continue;
        next = arena_printf(&report->arena, "as in row %u", row->number + 1);
        break;
    }
    return arena_printf(&report->arena, "%s%s", next, next_gain(&report->arena, &analysis->causes[number]));
}

/* Below its row. */
static void report_cause_details(struct report *report, uint32_t number)
{
    struct page *page = &report->page;
    const struct cause *cause = &report->analysis->causes[number];
    page_tab(page, HANG);
    page_words(page, HANG, explain_cause(&report->arena, cause));
    page_piece(page, HANG, "(%s)", explain_kind_words(&report->arena, cause));
    page_end(page);
    const char *instead = report->all ? explain_instead(&report->book, cause) : NULL;
    if (instead)
        page_paragraph(page, HANG, HANG, instead);
    if (report->all || cause->n_beside)
        report_parts(report, cause);
    report_like(report, number);
    uint32_t n_calls = report_n_calls(report, cause);
    const char *when = when_sentence(&report->arena, cause);
    for (uint32_t i = 0; i < n_calls; i++) {
        page_tab(&report->page, HANG);
        page_style(&report->page, STYLE_QUIET);
        page_put(&report->page, (i == 0) ? "waiting at  " : "            ");
        page_style(&report->page, STYLE_PLAIN);
        page_words(&report->page, HANG_SITE, report_call(report, report->n_told++));
        page_piece(&report->page, HANG_SITE, "%s%s", report_figures(report, cause, &cause->sites[i]),
                   i == 0 && when ? arena_printf(&report->arena, "; %s", when) : "");
        uint32_t n_left = report_n_sites(cause) - n_calls;
        if (n_left && i + 1 == n_calls)
            page_piece(page, HANG_SITE, "and at %u more (--cause %u)", n_left, number + 1);
        page_end(&report->page);
    }
    page_style(page, STYLE_ADVICE);
    if (cause->share >= NEGLIGIBLE_SHARE) /* advice for next to nothing helps nobody */
        page_paragraph(page, HANG, HANG + 6, arena_printf(&report->arena, "next: %s", report_next(report, number)));
    page_style(page, STYLE_PLAIN);
}

static void report_partition_details(struct report *report, const struct partition *partition)
{
    struct page *page = &report->page;
    page_paragraph(page, HANG, HANG, headline_times(&report->arena, partition));
    if (partition->whole.gain_excess)
        page_paragraph(page, HANG, HANG + 2,
                       arena_printf(&report->arena, "if fixed: more than its waiting, since %s goes away with it",
                                    explain_excess(partition->whole.gain_excess)));
    page_style(page, STYLE_ADVICE);
    page_paragraph(page, HANG, HANG + 6, arena_printf(&report->arena, "next: %s", headline_next(partition)));
    page_style(page, STYLE_PLAIN);
}

static const char *row_name(struct report *report, const struct row *row)
{
    const struct analysis *analysis = report->analysis;
    if (row->is_partition)
        return headline_partition(&report->arena, &analysis->partitions[row->number]);
    return arena_printf(&report->arena, "%s%u %s", row->is_below ? "  " : "", row->number + 1,
                        label_cause_and_beside(&report->book, row->number));
}

static const struct cause *row_cause(const struct report *report, const struct row *row)
{
    return row->is_partition ? &report->analysis->partitions[row->number].whole
                             : &report->analysis->causes[row->number];
}

static void report_rest(struct report *report)
{
    if (report->n_left)
        page_line(&report->page, "%*sand %u more %s: %s, %s of all waiting (--all)", INDENT, "", report->n_left,
                  report->n_left == 1 ? "cause" : "causes", amount_duration(report->left_ns).text,
                  amount_share(report->left_ns / report->analysis->waiting_ns).text);
}

/* "if fixed: row 1 gains more than its waiting, since time without a CPU goes away with it" */
static void report_excess(struct report *report, enum gain_excess excess)
{
    uint32_t *rows = arena_array(&report->arena, uint32_t, report->rows.n + 1), n = 0;
    for (size_t i = 0; i < report->rows.n; i++)
        if (!report->rows.at[i].is_partition && row_cause(report, &report->rows.at[i])->gain_excess == excess)
            rows[n++] = report->rows.at[i].number + 1;
    /* Numbers of rows are told like those of ranks, without the word. */
    if (n)
        page_paragraph(
            &report->page, INDENT, HANG,
            arena_printf(&report->arena, "if fixed: row%s %s more than %s waiting, since %s goes away with %s",
                         n == 1 ? "" : "s",
                         arena_printf(&report->arena, "%s %s", strchr(amount_ranks(&report->arena, rows, n), ' ') + 1,
                                      n == 1 ? "gains" : "gain"),
                         n == 1 ? "its" : "their", explain_excess(excess), n == 1 ? "it" : "them"));
}

/* Says what a gain stands for. Where several rows have gains, somebody will add them up, yet each leaves the others as
 * they are. */
static void report_gains(struct report *report)
{
    enum { SHARED, AT_ONCE, AS_OTHERS, N_WAYS };
    static const char *const ways[N_WAYS] = {[SHARED] = "with the work divided best",
                                             [AT_ONCE] = "with ranks at it at the same time",
                                             [AS_OTHERS] = "with late ranks as fast as the others"};
    uint32_t n = 0, n_so[N_WAYS] = {0};
    const char *text = "";
    for (size_t i = 0; i < report->rows.n; i++) {
        const struct cause *cause = row_cause(report, &report->rows.at[i]);
        if (!*explain_gain_share(&report->arena, cause, report->analysis->efficiency.wall_ns))
            continue;
        n++;
        n_so[cause->remedy != REMEDY_SHARE ? AS_OTHERS : cause->balance == BALANCE_SERIAL ? AT_ONCE : SHARED]++;
    }
    for (int way = 0; way < N_WAYS; way++)
        if (n_so[way])
            text = arena_printf(&report->arena, "%s%s%s", text, *text ? ", or " : "", ways[way]);
    if (n)
        page_paragraph(&report->page, INDENT, HANG,
                       arena_printf(&report->arena, "if fixed: the run ends so much earlier %s%s", text,
                                    n > 1 ? "; gains of rows do not add up" : ""));
    for (enum gain_excess excess = EXCESS_NONE + 1; excess < EXCESS_N; excess++)
        report_excess(report, excess);
}

/* What of a partition has no row of its own. */
static void report_members_left(struct report *report, size_t number)
{
    const struct row *row = &report->rows.at[number];
    bool is_last = row->is_below && (number + 1 == report->rows.n || !report->rows.at[number + 1].is_below);
    if (!is_last)
        return;
    const struct partition *partition =
        &report->analysis->partitions[report->analysis->causes[row->number].partition - 1];
    double left_ns = partition->whole.waiting_ns;
    uint32_t n_left = partition->n_causes;
    for (size_t i = number; report->rows.at[i].is_below; i--, n_left--)
        left_ns -= report->rows.at[i].waiting_ns;
    if (n_left)
        page_line(&report->page, "%*sand %u more places: %s (--all)", HANG, "", n_left, amount_duration(left_ns).text);
}

static void report_list(struct report *report)
{
    static const struct page_column columns[] = {
        {"  why ranks wait", PAGE_WRAP, STYLE_CAUSE}, {"  waiting", PAGE_RIGHT, STYLE_NUMBER},
        {"of waiting", PAGE_RIGHT, STYLE_PLAIN},      {"", PAGE_LEFT, STYLE_CAUSE},
        {"if fixed", PAGE_RIGHT, STYLE_NUMBER},       {"of run", PAGE_RIGHT, STYLE_PLAIN},
    };
    enum { BAR_COLUMNS = 10 };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    for (size_t i = 0; i < report->rows.n; i++) {
        const struct cause *cause = row_cause(report, &report->rows.at[i]);
        page_cell(&table, "%s", row_name(report, &report->rows.at[i]));
        page_cell(&table, "%s", amount_duration(cause->waiting_ns).text);
        page_cell(&table, "%s", amount_share(cause->share).text);
        page_cell(&table, "%s", style_bar(&report->arena, &report->page.look, cause->share, BAR_COLUMNS));
        page_cell(&table, "%s", explain_gain(&report->arena, cause));
        page_cell(&table, "%s", explain_gain_share(&report->arena, cause, report->analysis->efficiency.wall_ns));
    }
    report_find_calls(report);
    page_table_begin(&report->page, &table);
    for (size_t i = 0; i < report->rows.n; i++) {
        const struct row *row = &report->rows.at[i];
        page_table_row(&report->page, &table, i);
        if (row->is_partition)
            report_partition_details(report, &report->analysis->partitions[row->number]);
        else if (has_details(row))
            report_cause_details(report, row->number);
        report_members_left(report, i);
    }
    page_table_end(&table);
    report_rest(report);
    report_gains(report);
}

static int by_falling_waiting(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    if (left->waiting_ns != right->waiting_ns)
        return left->waiting_ns > right->waiting_ns ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

/* Partitions and the causes that are in none, by falling waiting. */
static struct row *top_rows(struct report *report, uint32_t *n)
{
    const struct analysis *analysis = report->analysis;
    struct row *rows = arena_array(&report->arena, struct row, analysis->n_causes + analysis->n_partitions + 1);
    *n = 0;
    for (uint32_t i = 0; i < analysis->n_partitions; i++)
        rows[(*n)++] = (struct row){true, false, i, analysis->partitions[i].whole.waiting_ns};
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        if (!analysis->causes[i].partition)
            rows[(*n)++] = (struct row){false, false, i, analysis->causes[i].waiting_ns};
    qsort(rows, *n, sizeof *rows, by_falling_waiting);
    return rows;
}

static void add_row(struct report *report, const struct row *row)
{
    const struct analysis *analysis = report->analysis;
    *vec_push(&report->rows) = *row;
    if (!row->is_partition)
        return;
    const struct partition *partition = &analysis->partitions[row->number];
    for (uint32_t i = 0; i < partition->n_causes && (report->all || i < MEMBERS_SHOWN); i++) {
        double waiting_ns = analysis->causes[partition->causes[i]].waiting_ns;
        if (!report->all && i && waiting_ns < analysis->answer.negligible_ns)
            return;
        *vec_push(&report->rows) = (struct row){false, true, partition->causes[i], waiting_ns};
    }
}

static void choose_rows(struct report *report, const struct report_options *options)
{
    const struct analysis *analysis = report->analysis;
    uint32_t n, n_shown;
    const struct row *rows = top_rows(report, &n);
    n_shown = !options->all && options->n_top && options->n_top < n ? options->n_top : n;
    while (!options->all && options->hide_small && n_shown > 1 &&
           rows[n_shown - 1].waiting_ns < analysis->answer.negligible_ns)
        n_shown--;
    for (uint32_t i = 0; i < n_shown; i++)
        add_row(report, &rows[i]);
    for (uint32_t i = n_shown; i < n; i++) {
        report->n_left += rows[i].is_partition ? analysis->partitions[rows[i].number].n_causes : 1;
        report->left_ns += rows[i].waiting_ns;
    }
}

/* What is not the program's doing stands below what is, however much it is. */
static void report_machine(struct report *report)
{
    const struct machine *machine = &report->analysis->machine;
    if ((!report->all && machine->share < NEGLIGIBLE_SHARE) || !machine->n_ranks || !machine->n_places)
        return;
    struct arena *arena = &report->arena;
    const struct machine_place *place = &machine->places[0];
    page_end(&report->page);
    page_paragraph(
        &report->page, INDENT, HANG,
        arena_printf(
            arena, "the machine: ranks were ready to run but had no CPU. Others waited %s for that, %s of all waiting",
            amount_duration(machine->waiting_ns).text, amount_share(machine->share).text));
    page_paragraph(&report->page, HANG, HANG,
                   arena_printf(arena, "without a CPU: %s; %s %s", shortage_ranks(&report->book),
                                report_largest(report, place->waiting_ns / machine->waiting_ns),
                                label_within(&report->book, place->step)));
    struct sentences reasons = shortage_reasons(&report->book);
    for (uint32_t i = 0; i < reasons.n && (report->all || i < REASONS_SHOWN); i++)
        page_paragraph(&report->page, HANG, HANG + 2, reasons.at[i]);
    if (!report->all && reasons.n > REASONS_SHOWN)
        page_line(&report->page, "%*sand %u more hosts (--all)", HANG, "", reasons.n - REASONS_SHOWN);
    const char *next = next_for_advice(machine->advice);
    page_style(&report->page, STYLE_ADVICE);
    if (next)
        page_paragraph(&report->page, HANG, HANG + 6, arena_printf(arena, "next: %s", next));
    page_style(&report->page, STYLE_PLAIN);
}

static void report_causes(struct report *report, const struct report_options *options)
{
    const struct answer *answer = &report->analysis->answer;
    /* The advice on transfers sends the reader to the machine's row, however little it has. */
    bool has_much =
        answer->is_machine && (answer->kind == ANSWER_TRANSFERS || answer->machine_share >= NOTABLY_LONGER - 1);
    if (!report->analysis->n_causes || (!options->all && !answer->has_causes)) {
        if (has_much)
            report_machine(report);
        return;
    }
    page_end(&report->page);
    choose_rows(report, options);
    report_list(report);
    report_machine(report);
}

/* Nobody is late for it, so it is no row of those that wait; but a program may lose more by it than by all of these. */
static void report_transfers(struct report *report)
{
    const struct analysis *analysis = report->analysis;
    bool is_trifle = analysis->answer.kind == ANSWER_FINE || analysis->answer.kind == ANSWER_VARYING ||
                     analysis->answer.kind == ANSWER_ELSEWHERE || analysis->answer.kind == ANSWER_BROKE_OFF;
    if (!analysis->transfers.have_most || (is_trifle && !report->all))
        return;
    struct arena *arena = &report->arena;
    const struct efficiency *efficiency = &analysis->efficiency;
    const struct transfer_place *place = &analysis->transfers.places[0];
    page_end(&report->page);
    page_paragraph(&report->page, INDENT, HANG,
                   arena_printf(arena,
                                "transfers: ranks were busy inside MPI while nobody was late: %s, %s of all time",
                                amount_duration(efficiency->transfer_ns).text,
                                amount_share(efficiency->transfer_ns / efficiency->all_ns).text));
    page_paragraph(&report->page, HANG, HANG,
                   arena_printf(arena, "%s %s", report_largest(report, place->ns / efficiency->transfer_ns),
                                label_within(&report->book, place->step)));
    page_style(&report->page, STYLE_ADVICE);
    page_paragraph(&report->page, HANG, HANG + 6,
                   arena_printf(arena, "next: %s", next_for_advice(analysis->transfers.advice)));
    page_style(&report->page, STYLE_PLAIN);
}

/* "at a.py:16" */
static const char *where_spawned(struct report *report)
{
    uint32_t call = report->analysis->outside.spawn_step;
    const struct step *step = &report->analysis->steps[call];
    return step->file ? arena_printf(&report->arena, "at %s",
                                     label_lines(&report->book, step->file, step->line_first, step->line_last))
                      : label_within(&report->book, call);
}

/* Nobody of this run is late for it either. */
static void report_outside(struct report *report)
{
    struct arena *arena = &report->arena;
    const struct efficiency *efficiency = &report->analysis->efficiency;
    const struct outside *outside = &report->analysis->outside;
    if (!outside->is_notable)
        return;
    const char *spawned =
        outside->spawn_step == TRACE_NONE ? "" : arena_printf(arena, "; they are spawned %s", where_spawned(report));
    page_end(&report->page);
    page_paragraph(&report->page, INDENT, HANG,
                   arena_printf(arena, "processes outside this run: ranks waited for them for %s, %s of all time",
                                amount_duration(outside->ns).text,
                                amount_share(outside->ns / efficiency->all_ns).text));
    page_paragraph(&report->page, HANG, HANG,
                   arena_printf(arena, "%s %s%s", report_largest(report, outside->places[0].ns / outside->ns),
                                label_within(&report->book, outside->places[0].step), spawned));
    page_style(&report->page, STYLE_ADVICE);
    page_paragraph(&report->page, HANG, HANG + 6, arena_printf(arena, "next: %s", next_for_advice(outside->advice)));
    page_style(&report->page, STYLE_PLAIN);
}

/* The first of them, and how many more there are. */
static void report_sentences(struct report *report, const char *mark, const struct sentences *sentences)
{
    enum { SENTENCES_SHOWN = 10 };
    uint32_t n = report->all || sentences->n < SENTENCES_SHOWN ? sentences->n : SENTENCES_SHOWN;
    page_style(&report->page, STYLE_WARNING);
    if (n)
        page_end(&report->page);
    for (uint32_t i = 0; i < n; i++)
        page_paragraph(&report->page, 0, INDENT, arena_printf(&report->arena, "%s%s", mark, sentences->at[i]));
    if (n < sentences->n)
        page_line(&report->page, "%sand %u more like these (--all)", mark, sentences->n - n);
    page_style(&report->page, STYLE_PLAIN);
}

/* Of a long command line as much as a line of its own holds. */
static const char *command_text(struct report *report)
{
    const char *command = report->analysis->trace->command;
    size_t room = report->page.width > HANG + sizeof " ..." ? report->page.width - HANG - (sizeof " ..." - 1) : 1;
    if (report->all || strlen(command) <= room)
        return command;
    while (room && (command[room] & 0xc0) == 0x80)
        room--;
    return arena_printf(&report->arena, "%.*s ...", (int)room, command);
}

void report_overview(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    struct report report = {.page = {.out = out, .width = options->width, .look = options->look},
                            .analysis = analysis,
                            .all = options->all};
    report.book = (struct label_book){&report.arena, analysis, options->full_paths, !options->full_paths};
    page_style(&report.page, STYLE_HEADING);
    page_paragraph(&report.page, 0, INDENT, headline(&report.book));
    page_style(&report.page, STYLE_PLAIN);
    report_head(&report);
    /* Which run this is: directory or anchor, date, and the command line where it is known. */
    const struct trace *trace = report.analysis->trace;
    if (trace->path) {
        page_put(&report.page, "%s", label_base_name(trace->run_dir ? trace->run_dir : trace->path));
        if (trace->realtime_ns)
            page_piece(&report.page, HANG, "%s", amount_date(trace->realtime_ns).text);
        if (trace->command)
            page_piece(&report.page, HANG, "%s", command_text(&report));
        if (trace->is_going)
            page_piece(&report.page, HANG, "still running: this is what there is so far");
        page_end(&report.page);
    }
    report_efficiency(&report);
    struct sentences hang = ending_hang(&report.book);
    if (analysis->answer.kind == ANSWER_HANG && !analysis->answer.first_end) /* the first line has the first of them */
        hang = (struct sentences){hang.at + 1, hang.n - 1};
    report_sentences(&report, "", &hang);
    /* What the first line is about comes first. */
    bool are_transfers_first = analysis->answer.kind == ANSWER_TRANSFERS;
    if (are_transfers_first)
        report_transfers(&report);
    report_causes(&report, options);
    if (!are_transfers_first)
        report_transfers(&report);
    report_outside(&report);
    struct sentences rest = ending_rest(&report.book);
    report_sentences(&report, "note: ", &rest);
    vec_release(&report.rows);
    arena_release(&report.arena);
}
