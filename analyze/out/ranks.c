/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run rank by rank (report --ranks): where the time of each went and what it made wait, ranks that are alike in one
 * row; by host where there are several; who made whom wait. And the critical path (report --critical).
 */
#include "analyze/words/amount.h"
#include "analyze/constants/readers.h"
#include "analyze/words/ending.h"
#include "analyze/words/label.h"
#include "analyze/out/page.h"
#include "analyze/out/report.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two screens: what is rarer or smaller is counted, unless all is asked for. */
enum { ROWS_MOST = 24, MATRIX_MOST = 8, PAIRS_MOST = 12, STEPS_MOST = 20 };

enum state { COMPUTING, WAITING, TRANSFER, IN_MPI, DESCHEDULED, BLOCKED, RECORDING_OFF, ENDED, N_STATES };

/* Ranks in one row, in mean shares of their time. */
struct alike {
    uint32_t *ranks, n;
    double share[N_STATES], caused_ns;
    const char *host; /* NULL = several */
};

struct ranks {
    struct arena arena;
    struct page page;
    struct label_book book;
    const struct analysis *analysis;
    VEC(struct alike) rows;
};

static void shares_of(const struct analysis *analysis, uint32_t rank, double *share)
{
    const struct rank_summary *summary = &analysis->ranks[rank];
    const double ns[N_STATES] = {[COMPUTING] = summary->compute_ns,        [WAITING] = summary->waiting_ns,
                                 [TRANSFER] = summary->transfer_ns,        [IN_MPI] = summary->mpi_ns,
                                 [DESCHEDULED] = summary->descheduled_ns,  [BLOCKED] = summary->blocked_ns,
                                 [RECORDING_OFF] = summary->unrecorded_ns, [ENDED] = summary->ended_ns};
    double all_ns = 0;
    for (int state = 0; state < N_STATES; state++)
        all_ns += ns[state];
    for (int state = 0; state < N_STATES; state++)
        share[state] = all_ns > 0 ? ns[state] / all_ns : 0;
}

static bool is_alike(const struct analysis *analysis, const struct alike *row, const double *share, double caused_ns)
{
    double differs = 0, all_ns = analysis->waiting_ns > 0 ? analysis->waiting_ns : 1;
    for (int state = 0; state < N_STATES; state++)
        differs += fabs(row->share[state] / row->n - share[state]);
    return differs + fabs(row->caused_ns / row->n - caused_ns) / all_ns < TIMES_ALIKE - 1;
}

/* Each rank joins the first row that it is like; few ranks have a row each. */
static void rows_make(struct ranks *ranks, bool each)
{
    const struct analysis *analysis = ranks->analysis;
    for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++) {
        double share[N_STATES], caused_ns = analysis->ranks[rank].caused_ns;
        const struct trace_location *location = trace_main_thread(analysis->trace, rank);
        const char *host = location ? location->host : NULL;
        struct alike *row = NULL;
        shares_of(analysis, rank, share);
        for (size_t i = 0; !each && !row && i < ranks->rows.n; i++)
            if (is_alike(analysis, &ranks->rows.at[i], share, caused_ns))
                row = &ranks->rows.at[i];
        if (!row) {
            row = vec_push(&ranks->rows);
            row->ranks = arena_array(&ranks->arena, uint32_t, each ? 1 : analysis->trace->n_ranks);
            row->host = host;
        }
        if (row->host && (!host || strcmp(row->host, host)))
            row->host = NULL;
        row->ranks[row->n++] = rank;
        row->caused_ns += caused_ns;
        for (int state = 0; state < N_STATES; state++)
            row->share[state] += share[state];
    }
}

/* One letter a state, so that it reads without colour and in any terminal: "cccccwwwwwt". */
static const char *state_bar(struct arena *arena, const struct alike *row)
{
    enum { COLUMNS = 16 };
    static const char letters[N_STATES] = {'c', 'w', 't', 'm', 'd', 'b', ' ', ' '};
    char *bar = arena_alloc(arena, COLUMNS + 1), *end = bar;
    double sum = 0;
    for (int state = 0; state < N_STATES; state++) {
        sum += row->share[state] / row->n;
        while (end - bar < (long)lround(sum * COLUMNS) && end - bar < COLUMNS)
            *end++ = letters[state];
    }
    *end = 0;
    return bar;
}

static bool has_one_host(const struct ranks *ranks)
{
    for (size_t i = 0; i < ranks->rows.n; i++)
        if (!ranks->rows.at[i].host ||
            strcmp(ranks->rows.at[i].host, ranks->rows.at[0].host ? ranks->rows.at[0].host : ""))
            return false;
    return true;
}

/* `order`: of the rows. Below them, what the letters of the bars mean, if there was room for any. */
static void print_rows(struct ranks *ranks, const uint32_t *order, unsigned n_most)
{
    static const struct page_column columns[] = {
        {"rank", PAGE_LEFT, STYLE_PLAIN},           {"host", PAGE_LEFT, STYLE_PLAIN},
        {"computing", PAGE_RIGHT, STYLE_PLAIN},     {"waiting", PAGE_RIGHT, STYLE_PLAIN},
        {"transfer", PAGE_RIGHT, STYLE_PLAIN},      {"in MPI", PAGE_RIGHT, STYLE_PLAIN},
        {"no CPU", PAGE_RIGHT, STYLE_PLAIN},        {"blocked", PAGE_RIGHT, STYLE_PLAIN},
        {"recording off", PAGE_RIGHT, STYLE_PLAIN}, {"ended", PAGE_RIGHT, STYLE_PLAIN},
        {"made wait", PAGE_RIGHT, STYLE_PLAIN},     {"its time", PAGE_DRAWN, STYLE_PLAIN},
    };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    bool one_host = has_one_host(ranks);
    size_t n_rows = n_most && ranks->rows.n > n_most ? n_most : ranks->rows.n;
    for (size_t i = 0; i < n_rows; i++) {
        const struct alike *row = &ranks->rows.at[order[i]];
        const char *text = amount_ranks(&ranks->arena, row->ranks, row->n);
        if (row->n > 2)
            text = arena_printf(&ranks->arena, "%u ranks: %s", row->n, strchr(text, ' ') + 1);
        page_cell(&table, "%s", text);
        page_cell(&table, "%s", one_host ? "" : row->host ? row->host : "several");
        for (int state = 0; state < N_STATES; state++)
            page_cell(&table, "%s", row->share[state] > 0 ? amount_share(row->share[state] / row->n).text : "");
        double caused_ns = row->caused_ns / row->n;
        page_cell(&table, "%s%s", caused_ns > 0 ? amount_duration(caused_ns).text : "",
                  caused_ns > 0 && row->n > 1 ? " each" : "");
        page_cell(&table, "%s", state_bar(&ranks->arena, row));
    }
    page_table_begin(&ranks->page, &table);
    for (size_t i = 0; i < n_rows; i++)
        page_table_row(&ranks->page, &table, i);
    bool has_bars = table.widths[table.n_columns - 1] > 0;
    page_table_end(&table);
    if (n_rows < ranks->rows.n)
        page_line(&ranks->page, "and %zu more rows (--all)", ranks->rows.n - n_rows);
    page_paragraph(&ranks->page, 0, 0,
                   arena_printf(&ranks->arena, "%smade wait: waiting of others that is blamed on the rank",
                                has_bars ? "c computing, w waiting, t transfer, m in MPI, d no CPU, b blocked; " : ""));
}

/* "rank 3", or "ranks 8-15" of a group. */
static const char *group_text(struct arena *arena, const struct analysis *analysis, uint32_t group)
{
    uint32_t size = analysis->matrix.group_size, first = group * size, last = first + size - 1;
    if (last >= analysis->trace->n_ranks)
        last = analysis->trace->n_ranks - 1;
    return first == last ? arena_printf(arena, "rank %u", first) : arena_printf(arena, "ranks %u-%u", first, last);
}

static void print_matrix(struct ranks *ranks)
{
    const struct wait_matrix *matrix = &ranks->analysis->matrix;
    enum { FIRST = 12, COLUMN = 11 };
    page_line(&ranks->page, "who waits (rows) for whom (columns)");
    page_tab(&ranks->page, FIRST);
    for (uint32_t late = 0; late < matrix->n_groups; late++)
        page_put(&ranks->page, "%*s", COLUMN, group_text(&ranks->arena, ranks->analysis, late));
    page_end(&ranks->page);
    for (uint32_t waiting = 0; waiting < matrix->n_groups; waiting++) {
        page_put(&ranks->page, "%s", group_text(&ranks->arena, ranks->analysis, waiting));
        page_tab(&ranks->page, FIRST);
        for (uint32_t late = 0; late < matrix->n_groups; late++) {
            double ns = matrix->ns[(size_t)waiting * matrix->n_groups + late];
            page_put(&ranks->page, "%*s", COLUMN, ns > 0.5 ? amount_duration(ns).text : "-");
        }
        page_end(&ranks->page);
    }
}

/* The diagonal of the matrix, where there is something on it. */
static void print_self(struct ranks *ranks)
{
    const struct wait_matrix *matrix = &ranks->analysis->matrix;
    bool has_self = false;
    for (uint32_t i = 0; i < matrix->n_groups; i++)
        has_self |= matrix->ns[(size_t)i * matrix->n_groups + i] > 0.5;
    if (has_self && matrix->group_size == 1)
        page_paragraph(&ranks->page, 0, 2,
                       "a rank for itself: its own delay comes back through the waits of others, or its threads wait "
                       "for each other");
}

static void print_pairs(struct ranks *ranks, unsigned n_most)
{
    const struct wait_matrix *matrix = &ranks->analysis->matrix;
    uint32_t n_cells = matrix->n_groups * matrix->n_groups, n_pairs = 0;
    const uint32_t *order = order_falling(&ranks->arena, matrix->ns, n_cells);
    while (n_pairs < n_cells && matrix->ns[order[n_pairs]] > 0.5)
        n_pairs++;
    uint32_t n = n_most && n_pairs > n_most ? n_most : n_pairs;
    for (uint32_t i = 0; i < n; i++)
        page_line(&ranks->page, "%s wait%s %s for %s, %s of all waiting",
                  group_text(&ranks->arena, ranks->analysis, order[i] / matrix->n_groups),
                  matrix->group_size > 1 ? "" : "s", amount_duration(matrix->ns[order[i]]).text,
                  group_text(&ranks->arena, ranks->analysis, order[i] % matrix->n_groups),
                  amount_share(matrix->ns[order[i]] / ranks->analysis->waiting_ns).text);
    if (n < n_pairs)
        page_line(&ranks->page, "and %u more pairs (--all)", n_pairs - n);
}

static struct ranks ranks_begin(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    struct ranks ranks = {.page = {.out = out, .width = options->width, .look = options->look}, .analysis = analysis};
    return ranks;
}

void report_ranks(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    struct ranks ranks = ranks_begin(out, analysis, options);
    unsigned n_most = options->all ? 0 : ROWS_MOST;
    rows_make(&ranks, !n_most || analysis->trace->n_ranks <= MATRIX_MOST);
    /* Few stay as they are. */
    double *caused_ns = arena_array(&ranks.arena, double, ranks.rows.n + 1);
    for (size_t i = 0; i < ranks.rows.n && analysis->trace->n_ranks > MATRIX_MOST; i++)
        caused_ns[i] = ranks.rows.at[i].caused_ns / ranks.rows.at[i].n;
    print_rows(&ranks, order_falling(&ranks.arena, caused_ns, (uint32_t)ranks.rows.n), n_most);
    if (analysis->waiting_ns > 0) {
        page_end(&ranks.page);
        if (analysis->matrix.n_groups <= MATRIX_MOST)
            print_matrix(&ranks);
        else
            print_pairs(&ranks, n_most ? PAIRS_MOST : 0);
        print_self(&ranks);
    }
    vec_release(&ranks.rows);
    arena_release(&ranks.arena);
}

/* The critical path. Time without a CPU is the machine's, wherever it was lost, and stands apart, as in the report. */

static bool is_machines(const struct analysis *analysis, const struct critical_step *step)
{
    return analysis->steps[step->step].state == STEP_DESCHEDULED;
}

static void critical_row(struct ranks *ranks, struct page_table *table, const struct critical_step *step)
{
    double wall_ns = ranks->analysis->efficiency.wall_ns, lost_ns = step->on_path_ns - step->mean_ns;
    page_cell(table, "%s", label_step(&ranks->book, step->step));
    page_cell(table, "%s", amount_duration(step->on_path_ns).text);
    page_cell(table, "%s", amount_share(wall_ns > 0 ? step->on_path_ns / wall_ns : 0).text);
    page_cell(table, "%s", lost_ns > 0.5 ? amount_duration(lost_ns).text : "");
    if (step->n_ranks == 1)
        page_cell(table, "rank %u", step->rank);
    else
        page_cell(table, "rank %u (%s), %u more %s", step->rank, amount_share(step->rank_ns / step->on_path_ns).text,
                  step->n_ranks - 1, step->n_ranks == 2 ? "rank" : "ranks");
}

/* `most`: of its steps, the one with most; NULL = it has none. */
static void critical_machine(struct ranks *ranks, double machine_ns, const struct critical_step *most)
{
    double wall_ns = ranks->analysis->efficiency.wall_ns;
    if (most)
        page_paragraph(&ranks->page, 0, 2,
                       arena_printf(&ranks->arena,
                                    "the machine: for %s of the path, %s of the run, ranks were ready to run but had "
                                    "no CPU; the largest part %s (--all)",
                                    amount_duration(machine_ns).text,
                                    amount_share(wall_ns > 0 ? machine_ns / wall_ns : 0).text,
                                    label_step(&ranks->book, most->step)));
}

void report_critical(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    static const struct page_column columns[] = {
        {"on the critical path", PAGE_WRAP, STYLE_PLAIN},
        {"time", PAGE_RIGHT, STYLE_PLAIN},
        {"of the run", PAGE_RIGHT, STYLE_PLAIN},
        {"more than the mean", PAGE_RIGHT, STYLE_PLAIN},
        {"on", PAGE_LEFT, STYLE_PLAIN},
    };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    struct ranks ranks = ranks_begin(out, analysis, options);
    ranks.book = (struct label_book){&ranks.arena, analysis, options->full_paths, !options->full_paths};
    uint32_t n_shown = 0, n_left = 0;
    const struct critical_step *most = NULL;
    double machine_ns = 0;
    for (uint32_t i = 0; i < analysis->n_critical; i++) {
        const struct critical_step *step = &analysis->critical[i];
        bool is_apart = !options->all && is_machines(analysis, step);
        machine_ns += is_apart ? step->on_path_ns : 0;
        most = is_apart && !most ? step : most;
        bool is_small = n_shown && step->on_path_ns < NEGLIGIBLE_SHARE * analysis->efficiency.wall_ns;
        bool is_left = !options->all && !is_apart && (is_small || n_shown == STEPS_MOST);
        n_left += is_left;
        if (is_apart || is_left)
            continue;
        critical_row(&ranks, &table, step);
        n_shown++;
    }
    page_table(&ranks.page, &table);
    if (n_left)
        page_line(&ranks.page, "and %u more steps (--all)", n_left);
    critical_machine(&ranks, machine_ns, most);
    page_paragraph(&ranks.page, 0, 0,
                   "The critical path is the chain of work and messages that ends last: it is as long as the run. What "
                   "it has of a step beyond the ranks' mean is lost to imbalance.");
    arena_release(&ranks.arena);
}
