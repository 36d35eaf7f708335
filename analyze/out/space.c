/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As with routines, the last columns say what no sum over ranks can: which rank asked for most, and how many times the
 * mean of all ranks that is.
 */
#include "analyze/out/space.h"
#include "analyze/out/amount.h"
#include "analyze/out/label.h"
#include "analyze/out/page.h"

struct table {
    struct arena arena;
    struct page page;
    struct label_book book;
    const struct analysis *analysis;
};

static const struct allocation *row_allocation(const void *data, unsigned row)
{
    const struct table *table = data;
    return &table->analysis->allocations[row];
}

static const char *cell_where(struct arena *arena, const void *data, unsigned row)
{
    const struct table *table = data;
    const struct allocation *allocation = row_allocation(data, row);
    struct label_book book = table->book;
    book.arena = arena;
    const char *routine = allocation->routine ? label_routine(&book, allocation->routine) : NULL;
    if (!allocation->file)
        return arena_printf(arena, "%u %s", row + 1, routine ? routine : "a library that is not at hand");
    const char *lines = label_lines(&book, allocation->file, allocation->line, allocation->line);
    const char *through = allocation->through ? label_routine(&book, allocation->through) : "";
    return arena_printf(arena, "%u %s%s%s%s%s", row + 1, lines, routine ? " in " : "", routine ? routine : "",
                        *through ? " through " : "", through);
}

static const char *cell_bytes(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_bytes((double)row_allocation(data, row)->bytes).text);
}

static const char *cell_share(struct arena *arena, const void *data, unsigned row)
{
    const struct table *table = data;
    double share = (double)row_allocation(data, row)->bytes / (double)table->analysis->allocated_bytes;
    return arena_strdup(arena, amount_share(share).text);
}

static uint32_t rank_with_most(const struct table *table, const struct allocation *allocation)
{
    uint32_t most = 0;
    for (uint32_t rank = 1; rank < table->analysis->trace->n_ranks; rank++)
        if (allocation->rank_bytes[rank] > allocation->rank_bytes[most])
            most = rank;
    return most;
}

static const char *cell_most(struct arena *arena, const void *data, unsigned row)
{
    const struct table *table = data;
    const struct allocation *allocation = row_allocation(data, row);
    uint32_t rank = rank_with_most(table, allocation);
    return arena_printf(arena, "rank %u: %s", rank, amount_bytes((double)allocation->rank_bytes[rank]).text);
}

static const char *cell_times_mean(struct arena *arena, const void *data, unsigned row)
{
    const struct table *table = data;
    const struct allocation *allocation = row_allocation(data, row);
    double mean = (double)allocation->bytes / table->analysis->trace->n_ranks;
    return arena_printf(arena, "%.1f x", (double)allocation->rank_bytes[rank_with_most(table, allocation)] / mean);
}

static const struct page_column columns[] = {
    {"  where memory is asked for", PAGE_LEFT, STYLE_PLAIN, cell_where},
    {"bytes", PAGE_RIGHT, STYLE_NUMBER, cell_bytes},
    {"of all", PAGE_RIGHT, STYLE_PLAIN, cell_share},
    {"most", PAGE_RIGHT, STYLE_PLAIN, cell_most},
    {"the mean", PAGE_RIGHT, STYLE_PLAIN, cell_times_mean},
};

void report_space(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    struct table table = {.page = {.out = out, .width = options->width, .look = options->look}, .analysis = analysis};
    table.book = (struct label_book){&table.arena, analysis, options->full_paths, !options->full_paths};
    unsigned n = analysis->n_allocations;
    if (options->n_top && n > options->n_top)
        n = options->n_top;
    page_line(&table.page, "%s: %s asked for in all, at %u %s", analysis->trace->program,
              amount_bytes((double)analysis->allocated_bytes).text, analysis->n_allocations,
              analysis->n_allocations == 1 ? "place" : "places");
    page_end(&table.page);
    page_table(&table.page,
               &(struct page_table){
                   .columns = columns, .n_columns = sizeof columns / sizeof *columns, .n_rows = n, .data = &table});
    if (n < analysis->n_allocations)
        page_line(&table.page, "and %u more (--top 0)", analysis->n_allocations - n);
    arena_release(&table.arena);
}
