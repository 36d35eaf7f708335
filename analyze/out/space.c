/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As with routines, the last columns say what no sum over ranks can: which rank asked for most, and how many times the
 * mean of all ranks that is.
 */
#include "analyze/out/space.h"
#include "analyze/out/amount.h"
#include "analyze/out/label.h"
#include "analyze/out/page.h"

/* "src/mesh.c:40 in mesh_read() through resize()" */
static const char *asked_at(const struct label_book *book, const struct allocation *allocation)
{
    const char *routine = allocation->routine ? label_routine(book, allocation->routine) : NULL;
    if (!allocation->file)
        return routine ? routine : "a library that is not at hand";
    const char *through = allocation->through ? label_routine(book, allocation->through) : "";
    return arena_printf(book->arena, "%s%s%s%s%s",
                        label_lines(book, allocation->file, allocation->line, allocation->line), routine ? " in " : "",
                        routine ? routine : "", *through ? " through " : "", through);
}

void report_space(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    static const struct page_column columns[] = {
        {"  where memory is asked for", PAGE_LEFT, STYLE_PLAIN},
        {"bytes", PAGE_RIGHT, STYLE_NUMBER},
        {"of all", PAGE_RIGHT, STYLE_PLAIN},
        {"most", PAGE_RIGHT, STYLE_PLAIN},
        {"the mean", PAGE_RIGHT, STYLE_PLAIN},
    };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    struct page page = {.out = out, .width = options->width, .look = options->look};
    struct arena scratch = {0};
    struct label_book book = {&scratch, analysis, options->full_paths, !options->full_paths};
    unsigned n = analysis->n_allocations, n_ranks = analysis->trace->n_ranks;
    if (options->n_top && n > options->n_top)
        n = options->n_top;
    for (unsigned i = 0; i < n; i++) {
        const struct allocation *allocation = &analysis->allocations[i];
        double bytes = (double)allocation->bytes, most_bytes = 0;
        uint32_t most = 0;
        for (uint32_t rank = 1; rank < n_ranks; rank++)
            most = allocation->rank_bytes[rank] > allocation->rank_bytes[most] ? rank : most;
        most_bytes = (double)allocation->rank_bytes[most];
        page_cell(&table, "%u %s", i + 1, asked_at(&book, allocation));
        page_cell(&table, "%s", amount_bytes(bytes).text);
        page_cell(&table, "%s", amount_share(bytes / (double)analysis->allocated_bytes).text);
        page_cell(&table, "rank %u: %s", most, amount_bytes(most_bytes).text);
        page_cell(&table, "%.1f x", most_bytes / (bytes / n_ranks));
    }
    page_line(&page, "%s: %s asked for in all, at %u %s", analysis->trace->program,
              amount_bytes((double)analysis->allocated_bytes).text, analysis->n_allocations,
              analysis->n_allocations == 1 ? "place" : "places");
    page_end(&page);
    page_table(&page, &table);
    if (n < analysis->n_allocations)
        page_line(&page, "and %u more (--top 0)", analysis->n_allocations - n);
    arena_release(&scratch);
}
