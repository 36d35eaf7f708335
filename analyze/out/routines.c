/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals answer "what is below it", self times "what is spent there", and the last column, which no sum over ranks can,
 * "who spends it": the rank with the most and how many times the mean of all ranks that is.
 */
#include "analyze/out/routines.h"
#include "analyze/out/amount.h"
#include "analyze/out/label.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include "wrap/base/containers.h"
#include <stdlib.h>
#include <string.h>

enum { HANG = 4 };

struct line {
    double weight_ns, second_ns; /* what it is sorted by */
    uint32_t number;             /* routine or arc */
};
typedef VEC(struct line) lines;

struct table {
    struct arena arena;
    struct page page;
    struct label_book book;
    const struct analysis *analysis;
    const struct profile *profile;
    lines rows;
    bool is_callers;         /* arcs: the caller is named, not the callee */
    struct routine_arc rest; /* arcs: calls that none has */
};

enum { REST = UINT32_MAX }; /* its number */

static int line_compare(const void *a, const void *b)
{
    const struct line *left = a, *right = b;
    if (left->weight_ns != right->weight_ns)
        return left->weight_ns > right->weight_ns ? -1 : 1;
    if (left->second_ns != right->second_ns)
        return left->second_ns > right->second_ns ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

static void lines_sort(lines *rows)
{
    if (rows->n)
        qsort(rows->at, rows->n, sizeof *rows->at, line_compare);
}

static struct table table_begin(FILE *out, const struct analysis *analysis, const struct profile *profile,
                                const struct report_options *options)
{
    return (struct table){.page = {.out = out, .width = options->width},
                          .book = {.analysis = analysis, .full_paths = options->full_paths},
                          .analysis = analysis,
                          .profile = profile};
}

static void table_end(struct table *table)
{
    vec_release(&table->rows);
    arena_release(&table->arena);
}

/* "relax() jacobi.c:38 <cycle 1>" */
static const char *routine_label(const struct table *table, struct arena *arena, uint32_t number)
{
    const struct routine_profile *routine = &table->profile->routines[number];
    struct label_book book = table->book;
    book.arena = arena;
    const char *text = routine->is_mpi || routine->is_nameless ? routine->name : label_routine(&book, routine->name);
    if (routine->file)
        text = arena_printf(arena, "%s %s", text, label_lines(&book, routine->file, routine->line, routine->line));
    return routine->cycle ? arena_printf(arena, "%s <cycle %u>", text, routine->cycle) : text;
}

static const char *count_text(struct arena *arena, uint64_t count)
{
    return count ? arena_strdup(arena, amount_count(count).text) : "-";
}

static const char *share_text(const struct table *table, struct arena *arena, double ns)
{
    double all_ns = table->profile->time_ns;
    return ns > 0 && all_ns > 0 ? arena_strdup(arena, amount_share(ns / all_ns).text) : "-";
}

static const char *time_text(struct arena *arena, double ns)
{
    return ns >= 0.5 ? arena_strdup(arena, amount_duration(ns).text) : "-";
}

/* Rows are routines. */

static const struct routine_profile *row_routine(const void *data, unsigned row)
{
    const struct table *table = data;
    return &table->profile->routines[table->rows.at[row].number];
}

static const char *cell_routine(struct arena *arena, const void *data, unsigned row)
{
    const struct table *table = data;
    return routine_label(table, arena, table->rows.at[row].number);
}

static const char *cell_total(struct arena *arena, const void *data, unsigned row)
{
    return time_text(arena, row_routine(data, row)->total_ns);
}

static const char *cell_total_share(struct arena *arena, const void *data, unsigned row)
{
    return share_text(data, arena, row_routine(data, row)->total_ns);
}

static const char *cell_self(struct arena *arena, const void *data, unsigned row)
{
    return time_text(arena, row_routine(data, row)->self_ns);
}

static const char *cell_self_share(struct arena *arena, const void *data, unsigned row)
{
    return share_text(data, arena, row_routine(data, row)->self_ns);
}

static const char *cell_calls(struct arena *arena, const void *data, unsigned row)
{
    return count_text(arena, row_routine(data, row)->calls);
}

/* "2: 3.1 x mean" */
static const char *cell_most(struct arena *arena, const void *data, unsigned row)
{
    const struct table *table = data;
    const struct routine_profile *routine = row_routine(data, row);
    uint32_t n_ranks = table->analysis->trace->n_ranks, most = 0;
    for (uint32_t rank = 1; rank < n_ranks; rank++)
        if (routine->rank_total_ns[rank] > routine->rank_total_ns[most])
            most = rank;
    if (n_ranks < 2 || routine->total_ns < 0.5)
        return "-";
    return arena_printf(arena, "%u: %.1f x mean", most, routine->rank_total_ns[most] * n_ranks / routine->total_ns);
}

static const struct page_column routine_columns[] = {
    {"  routine", PAGE_WRAP, cell_routine},   {"total", PAGE_RIGHT, cell_total},
    {"of all", PAGE_RIGHT, cell_total_share}, {"self", PAGE_RIGHT, cell_self},
    {"of all", PAGE_RIGHT, cell_self_share},  {"calls", PAGE_RIGHT, cell_calls},
    {"most on rank", PAGE_RIGHT, cell_most},
};

/* Rows are arcs. */

static const struct routine_arc *row_arc(const void *data, unsigned row)
{
    const struct table *table = data;
    uint32_t number = table->rows.at[row].number;
    return number == REST ? &table->rest : &table->profile->arcs[number];
}

static const char *cell_partner(struct arena *arena, const void *data, unsigned row)
{
    const struct table *table = data;
    const struct routine_arc *arc = row_arc(data, row);
    if (arc == &table->rest)
        return table->is_callers ? "  through pointers, or from code that is not counted" : "  through pointers";
    return arena_printf(arena, "  %s", routine_label(table, arena, table->is_callers ? arc->from : arc->to));
}

static const char *cell_arc_self(struct arena *arena, const void *data, unsigned row)
{
    return time_text(arena, row_arc(data, row)->self_ns);
}

static const char *cell_arc_below(struct arena *arena, const void *data, unsigned row)
{
    return time_text(arena, row_arc(data, row)->below_ns);
}

static const char *cell_arc_calls(struct arena *arena, const void *data, unsigned row)
{
    return count_text(arena, row_arc(data, row)->calls);
}

static const struct page_column caller_columns[] = {
    {"  called by", PAGE_WRAP, cell_partner},
    {"self", PAGE_RIGHT, cell_arc_self},
    {"below", PAGE_RIGHT, cell_arc_below},
    {"calls", PAGE_RIGHT, cell_arc_calls},
};
static const struct page_column callee_columns[] = {
    {"  calls", PAGE_WRAP, cell_partner},
    {"self", PAGE_RIGHT, cell_arc_self},
    {"below", PAGE_RIGHT, cell_arc_below},
    {"calls", PAGE_RIGHT, cell_arc_calls},
};
enum { N_ROUTINE_COLUMNS = 7, N_ARC_COLUMNS = 4 };

static void print_head(struct table *table)
{
    const struct analysis *analysis = table->analysis;
    const struct profile *profile = table->profile;
    const char *program = analysis->trace->program ? analysis->trace->program : "unknown program";
    if (profile != &analysis->blame_profile) {
        page_line(&table->page, "%s by routine: %s of all ranks, on a CPU or in MPI", program,
                  amount_duration(profile->time_ns).text);
        return;
    }
    page_line(&table->page, "%s by the routines that make ranks wait: %s of %s waiting", program,
              amount_duration(profile->time_ns).text, amount_duration(analysis->waiting_ns).text);
    if (profile->left_out_ns >= 0.5)
        page_paragraph(
            &table->page, HANG, HANG,
            arena_printf(&table->arena,
                         "%s is caused by what has no samples: communication, and stretches too short for any",
                         amount_duration(profile->left_out_ns).text));
}

static void print_cycles(struct table *table)
{
    const struct profile *profile = table->profile;
    for (uint32_t cycle = 1; cycle <= profile->n_cycles; cycle++) {
        const char *text = NULL;
        for (uint32_t i = 0; i < profile->n_routines; i++)
            if (profile->routines[i].cycle == cycle)
                text = arena_printf(&table->arena, "%s%s%s", text ? text : "", text ? ", " : "",
                                    profile->routines[i].name);
        if (text && profile->cycle_total_ns[cycle] >= 0.5)
            page_paragraph(&table->page, 0, HANG,
                           arena_printf(&table->arena, "cycle %u, %s in all: %s call each other in a circle", cycle,
                                        amount_duration(profile->cycle_total_ns[cycle]).text, text));
    }
}

void report_routines(FILE *out, const struct analysis *analysis, const struct profile *profile,
                     const struct report_options *options)
{
    struct table table = table_begin(out, analysis, profile, options);
    table.book.arena = &table.arena;
    for (uint32_t i = 0; i < profile->n_routines; i++)
        if (profile->routines[i].total_ns >= 0.5)
            *vec_push(&table.rows) = (struct line){profile->routines[i].total_ns, profile->routines[i].self_ns, i};
    lines_sort(&table.rows);
    print_head(&table);
    unsigned n = (unsigned)table.rows.n;
    if (options->n_top && n > options->n_top)
        n = options->n_top;
    if (n) {
        page_end(&table.page);
        page_table(&table.page,
                   &(struct page_table){
                       .columns = routine_columns, .n_columns = N_ROUTINE_COLUMNS, .n_rows = n, .data = &table});
    }
    if (n < table.rows.n)
        page_line(&table.page, "and %zu more routines (--top 0)", table.rows.n - n);
    print_cycles(&table);
    if (n) {
        page_end(&table.page);
        page_paragraph(&table.page, 0, 0,
                       "total: with what it calls; most on rank: who spends most in it, against the mean of all ranks; "
                       "--routine NAME: callers and callees");
    }
    table_end(&table);
}

static void print_arcs(struct table *table, uint32_t routine, bool is_callers)
{
    const struct profile *profile = table->profile;
    table->rows.n = 0;
    table->is_callers = is_callers;
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        if ((is_callers ? arc->to : arc->from) == routine && (arc->self_ns + arc->below_ns >= 0.5 || arc->calls))
            *vec_push(&table->rows) = (struct line){arc->self_ns + arc->below_ns, (double)arc->calls, i};
    }
    const struct routine_profile *at = &profile->routines[routine];
    table->rest.calls = is_callers ? at->calls_from_unknown : at->calls_to_unknown;
    if (table->rest.calls)
        *vec_push(&table->rows) = (struct line){0, 0, REST};
    lines_sort(&table->rows);
    if (table->rows.n)
        page_table(&table->page, &(struct page_table){.columns = is_callers ? caller_columns : callee_columns,
                                                      .n_columns = N_ARC_COLUMNS,
                                                      .n_rows = (unsigned)table->rows.n,
                                                      .data = table});
}

static void print_by_rank(struct table *table, const struct routine_profile *routine)
{
    enum { RANKS_SHOWN = 16 };
    uint32_t n = table->analysis->trace->n_ranks;
    page_put(&table->page, "  by rank:");
    for (uint32_t rank = 0; rank < n && rank < RANKS_SHOWN; rank++)
        page_piece(&table->page, HANG, "%u %s", rank, amount_duration(routine->rank_total_ns[rank]).text);
    if (n > RANKS_SHOWN)
        page_piece(&table->page, HANG, "and %u more (--format json)", n - RANKS_SHOWN);
    page_end(&table->page);
}

static void print_routine(struct table *table, uint32_t number)
{
    const struct routine_profile *routine = &table->profile->routines[number];
    page_put(&table->page, "%s", routine_label(table, &table->arena, number));
    page_piece(&table->page, HANG, "total %s, %s", amount_duration(routine->total_ns).text,
               share_text(table, &table->arena, routine->total_ns));
    page_piece(&table->page, HANG, "self %s, %s", amount_duration(routine->self_ns).text,
               share_text(table, &table->arena, routine->self_ns));
    if (routine->calls)
        page_piece(&table->page, HANG, "called %s times", amount_count(routine->calls).text);
    page_end(&table->page);
    print_by_rank(table, routine);
    print_arcs(table, number, true);
    print_arcs(table, number, false);
}

/* "PairLJCut::compute()" means "LAMMPS_NS::PairLJCut::compute". */
static bool name_fits(const char *name, const char *wanted)
{
    size_t length = strlen(name), wanted_length = strlen(wanted);
    if (wanted_length > 2 && !strcmp(wanted + wanted_length - 2, "()") &&
        strcmp(name + (length > 2 ? length - 2 : 0), "()"))
        wanted_length -= 2;
    if (length < wanted_length || strncmp(name + length - wanted_length, wanted, wanted_length) != 0)
        return false;
    return length == wanted_length ||
           (length >= wanted_length + 2 && !strncmp(name + length - wanted_length - 2, "::", 2));
}

int report_routine(FILE *out, const struct analysis *analysis, const struct profile *profile, const char *name,
                   const struct report_options *options)
{
    struct table table = table_begin(out, analysis, profile, options);
    table.book.arena = &table.arena;
    uint32_t n_found = 0;
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        if (!name_fits(profile->routines[i].name, name))
            continue;
        if (n_found++)
            page_end(&table.page);
        print_routine(&table, i);
    }
    table_end(&table);
    return n_found
               ? 0
               : error("no routine \"%s\" was seen in this run: `whywait report --routines --top 0` lists them", name);
}
