/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/series.h"
#include "analyze/words/amount.h"
#include "analyze/out/difference.h"
#include "analyze/out/json.h"
#include "analyze/out/page.h"
#include <math.h>
#include <string.h>

/* Raised when a field changes its meaning or goes. */
enum { SERIES_VERSION = 1 };
enum { COLUMN = 10, LAST_COLUMN = 17, NAME_LEAST = 24, BARS_LEAST = 8 };

static const struct compare_row *row_of(const struct series *series, size_t at)
{
    return &series->comparison.rows.at[series->rows.at[at].row];
}

/* Groups, and the causes with most waiting, up to n_top; of computing, which is everywhere, what has changed. */
static bool is_shown(const struct series *series, size_t at, unsigned n_top)
{
    unsigned before = 0;
    if (!row_of(series, at)->depth || !n_top)
        return true;
    for (size_t i = at; row_of(series, i)->depth; i--)
        before++;
    enum compare_group group = row_of(series, at)->group;
    bool is_asked = group == GROUP_COMPUTING ? series->rows.at[at].changed_at != SERIES_NEVER : group == GROUP_PROGRAM;
    return before <= n_top && is_asked;
}

/* A table of as many points as have room: the first, the last, and some between. */
struct columns {
    struct page page;
    struct arena scratch;
    const struct series *series;
    size_t name_width;
    uint32_t n, *points;
};

static void columns_begin(struct columns *columns, FILE *out, const struct series *series,
                          const struct series_options *options)
{
    unsigned width = options->width;
    uint32_t n = series->comparison.n_sides, room = 2;
    *columns = (struct columns){.page = {.out = out, .width = width, .look = options->look}, .series = series};
    while (room < n && NAME_LEAST + (room + 1) * COLUMN + LAST_COLUMN <= width)
        room++;
    columns->n = room < n ? room : n;
    columns->points = arena_array(&columns->scratch, uint32_t, columns->n + 1);
    for (uint32_t i = 0; i < columns->n; i++)
        columns->points[i] = columns->n > 1 ? (uint32_t)((uint64_t)i * (n - 1) / (columns->n - 1)) : 0;
    size_t taken = columns->n * COLUMN + LAST_COLUMN;
    columns->name_width = width > taken + NAME_LEAST ? width - taken : NAME_LEAST;
}

static void put_cell(struct columns *columns, uint32_t at, const char *text)
{
    size_t n = strlen(text);
    page_tab(&columns->page, columns->name_width + (at + 1) * COLUMN - (n < COLUMN ? n : COLUMN - 1));
    page_put(&columns->page, "%s", text);
}

/* A name may take more than its column. It goes on below its row. */
static const char *put_name(struct page *page, struct arena *scratch, const char *name, size_t width)
{
    const char *rest = text_escape(scratch, name);
    page_put(page, "%s", text_first_line(scratch, &rest, width - 1));
    return rest;
}

/* Ends the row. */
static void end_row(struct page *page, struct arena *scratch, const char *rest, size_t width)
{
    enum { HANG = 4 };
    page_end(page);
    while (*rest) {
        page_tab(page, HANG);
        page_put(page, "%s", text_first_line(scratch, &rest, width - 1 - HANG));
        page_end(page);
    }
}

static void put_factors(struct columns *columns, const char *name, const double *values)
{
    page_put(&columns->page, "%s", name);
    for (uint32_t i = 0; i < columns->n; i++)
        put_cell(columns, i, arena_printf(&columns->scratch, "%.2f", values[columns->points[i]]));
    page_end(&columns->page);
}

static const char *run_label(struct arena *arena, const struct run *run)
{
    const char *slash = strrchr(run->path, '/');
    return arena_strdup(arena, slash && slash[1] ? slash + 1 : run->path);
}

/* Points that have no number of their own: which runs they are of. */
static void put_points(struct columns *columns)
{
    const struct comparison *comparison = &columns->series->comparison;
    struct arena *scratch = &columns->scratch;
    for (uint32_t i = 0; i < columns->n; i++) {
        uint32_t point = columns->points[i], n = comparison->n_of_side[point];
        size_t run = 0;
        while (comparison->side_of[run] != point)
            run++;
        const struct run *first = comparison->runs[run];
        const char *more = n > 1 ? arena_printf(scratch, " and %u more", n - 1) : "";
        page_paragraph(&columns->page, 2, 6,
                       arena_printf(scratch, "%u: %s%s%s%s", point + 1, run_label(scratch, first), more,
                                    *first->command ? ", " : "", first->command));
    }
}

void series_print(FILE *out, const struct series *series, const struct series_options *options)
{
    struct columns columns;
    const struct comparison *comparison = &series->comparison;
    columns_begin(&columns, out, series, options);
    struct page *page = &columns.page;
    page_line(page, "%zu runs on %u points: means per run", comparison->n_runs, comparison->n_sides);
    if (series->by == SERIES_ORDER)
        put_points(&columns);
    page_end(page);
    page_put(page, "%s",
             series->by == SERIES_RANKS   ? "ranks"
             : series->by == SERIES_INPUT ? "input (the number that varies)"
                                          : "runs, as given");
    for (uint32_t i = 0; i < columns.n; i++)
        put_cell(&columns, i, arena_printf(&columns.scratch, "%.7g", series->x[columns.points[i]]));
    if (series->by != SERIES_ORDER)
        put_cell(&columns, columns.n, "grows as");
    page_end(page);
    for (size_t at = 0; at < series->rows.n; at++) {
        const struct compare_row *row = row_of(series, at);
        const struct series_row *fitted = &series->rows.at[at];
        if (!is_shown(series, at, options->n_top))
            continue;
        const char *name = difference_row_name(&columns.scratch, row, true);
        const char *rest = put_name(page, &columns.scratch, name, columns.name_width);
        for (uint32_t i = 0; i < columns.n; i++)
            put_cell(&columns, i,
                     arena_strdup(&columns.scratch, amount_duration(row->mean_ns[columns.points[i]]).text));
        if (!isnan(fitted->exponent))
            page_put(page, "  ^%.2f +- %.2f", fitted->exponent, fitted->error);
        end_row(page, &columns.scratch, rest, columns.name_width);
        if (row->group == GROUP_RUN_TIME) {
            put_factors(&columns, "computing, of all time", series->parallel);
            put_factors(&columns,
                        series->is_weak ? "computation scaling (weak: by rank)"
                                        : "computation scaling (strong: of all)",
                        series->scaling);
        }
    }
    page_end(page);
    if (columns.n < comparison->n_sides)
        page_line(page, "%u of %u points are shown; --format json has all", columns.n, comparison->n_sides);
    if (series->by != SERIES_ORDER)
        page_paragraph(page, 0, 2,
                       arena_printf(&columns.scratch,
                                    "grows as: the power of %s that fits all runs, with its standard "
                                    "error; waiting is the sum over ranks",
                                    series->by == SERIES_RANKS ? "the number of ranks" : "the input"));
    arena_release(&columns.scratch);
}

static const char *direction(const struct series_row *row)
{
    return row->is_more ? "more" : "less";
}

static enum style direction_style(const struct series_row *row)
{
    return row->is_more ? STYLE_MORE : STYLE_LESS;
}

/* Beside the bars of a trend: first and last value, and from where on it is another. */
enum { BESIDE_BARS = 2 + 2 * COLUMN + 22 };

/* A bar for each run, or for several next to each other where there is no room for all. */
static size_t n_bars(const struct series *series, const struct series_options *options)
{
    size_t n_runs = series->comparison.n_runs, taken = NAME_LEAST + BESIDE_BARS;
    size_t room = options->width > taken + BARS_LEAST ? options->width - taken : BARS_LEAST;
    return n_runs < room ? n_runs : room;
}

/* Means of the runs of each bar. */
static double *bars_of(struct arena *arena, const struct series *series, const struct compare_row *row, size_t n)
{
    size_t n_runs = series->comparison.n_runs;
    double *bars = arena_array(arena, double, n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t from = i * n_runs / n, to = (i + 1) * n_runs / n;
        for (size_t run = from; run < to; run++)
            bars[i] += row->ns[run] / (double)(to - from);
    }
    return bars;
}

/* A change is one of two runs on either side. */
static bool has_enough_runs(const struct series *series)
{
    return series->comparison.n_runs >= 4;
}

static void print_trend_rows(struct page *page, const struct series *series, const struct series_options *options)
{
    struct arena scratch = {0};
    size_t n_runs = series->comparison.n_runs, width = options->width, n = n_bars(series, options);
    size_t taken = n + BESIDE_BARS, name_width = width > taken + NAME_LEAST ? width - taken : NAME_LEAST;
    for (size_t at = 0; at < series->rows.n; at++) {
        const struct compare_row *row = row_of(series, at);
        const struct series_row *changed = &series->rows.at[at];
        if (!is_shown(series, at, options->n_top))
            continue;
        page_style(page, row->depth ? STYLE_CAUSE : STYLE_PLAIN);
        const char *rest = put_name(page, &scratch, difference_row_name(&scratch, row, true), name_width);
        page_style(page, STYLE_PLAIN);
        page_tab(page, name_width);
        page_put(page, "%s", style_sparkline(&scratch, &options->look, bars_of(&scratch, series, row, n), n));
        page_tab(page, name_width + n + 2);
        page_style(page, STYLE_NUMBER);
        page_put(page, "%9s ->%9s", amount_duration(row->ns[0]).text, amount_duration(row->ns[n_runs - 1]).text);
        page_style(page, direction_style(changed));
        if (changed->changed_at != SERIES_NEVER)
            page_put(page, "  %s from run %u on", direction(changed), changed->changed_at + 1);
        page_style(page, STYLE_PLAIN);
        if (changed->changed_at == SERIES_NEVER && !row->depth && has_enough_runs(series))
            page_put(page, "  no change seen");
        end_row(page, &scratch, rest, name_width);
    }
    arena_release(&scratch);
}

/* Which runs the rows mean that say from which one on they changed: each once. */
static void print_changed_runs(struct page *page, const struct series *series, unsigned n_top)
{
    const struct comparison *comparison = &series->comparison;
    struct arena scratch = {0};
    for (uint32_t run = 0; run < comparison->n_runs; run++)
        for (size_t at = 0; at < series->rows.n; at++) {
            if (series->rows.at[at].changed_at != run || !is_shown(series, at, n_top))
                continue;
            page_paragraph(page, 0, 4,
                           arena_printf(&scratch, "run %u is %s", run + 1, run_label(&scratch, comparison->runs[run])));
            break;
        }
    arena_release(&scratch);
}

void series_print_trend(FILE *out, const struct series *series, const struct series_options *options)
{
    const struct comparison *comparison = &series->comparison;
    struct page page = {.out = out, .width = options->width, .look = options->look};
    struct arena scratch = {0};
    size_t n_runs = comparison->n_runs;
    page_style(&page, STYLE_HEADING);
    page_line(&page, "%zu runs, from %s to %s", n_runs, run_label(&scratch, comparison->runs[0]),
              run_label(&scratch, comparison->runs[n_runs - 1]));
    page_style(&page, STYLE_PLAIN);
    page_end(&page);
    print_trend_rows(&page, series, options);
    page_end(&page);
    size_t n_facts = options->n_top && series->facts.n > options->n_top ? options->n_top : series->facts.n;
    for (size_t i = 0; i < n_facts; i++) {
        const struct series_fact *fact = &series->facts.at[i];
        const struct compare_fact told = {.before = fact->before, .after = fact->after, .is_decision = true};
        page_paragraph(&page, 0, 4,
                       arena_printf(&scratch, "counted exactly, from run %u on: %s", fact->changed_at + 1,
                                    difference_fact(&scratch, &told)));
    }
    if (n_facts < series->facts.n)
        page_line(&page, "and %zu other %s counted exactly (--top 0)", series->facts.n - n_facts,
                  series->facts.n - n_facts == 1 ? "change" : "changes");
    print_changed_runs(&page, series, options->n_top);
    page_style(&page, STYLE_QUIET);
    size_t n = n_bars(series, options);
    if (n < n_runs)
        page_paragraph(&page, 0, 2,
                       arena_printf(&scratch,
                                    "note: a bar is the mean of %.3g runs next to each other; a larger --width has "
                                    "more of them, --format json each run",
                                    (double)n_runs / (double)n));
    if (!has_enough_runs(series))
        page_paragraph(&page, 0, 2, "note: a change of a time needs two runs on either side that show it");
    for (const char **note = difference_notes(&scratch, comparison); *note; note++)
        page_paragraph(&page, 0, 2, arena_printf(&scratch, "note: %s", *note));
    page_style(&page, STYLE_PLAIN);
    arena_release(&scratch);
}

/* Of a row's runs. */
struct spread {
    double mean, deviation, least, most;
};

static struct spread spread_of(const struct comparison *comparison, const struct compare_row *row)
{
    size_t n = comparison->n_runs;
    struct spread spread = {.mean = row->mean_ns[0], .least = row->ns[0], .most = row->ns[0]};
    for (size_t run = 0; run < n; run++) {
        spread.deviation += (row->ns[run] - spread.mean) * (row->ns[run] - spread.mean);
        spread.least = fmin(spread.least, row->ns[run]);
        spread.most = fmax(spread.most, row->ns[run]);
    }
    spread.deviation = n > 1 ? sqrt(spread.deviation / (double)(n - 1)) : 0;
    return spread;
}

/* Over ranks and runs, by kind. */
static void sum_counts(const struct comparison *comparison, uint64_t sums[FACT_N])
{
    for (size_t run = 0; run < comparison->n_runs; run++)
        for (uint32_t i = 0; i < comparison->runs[run]->n_facts; i++)
            sums[comparison->runs[run]->facts[i].kind] += comparison->runs[run]->facts[i].sum;
}

/* Groups, and n_top causes of each; 0 = all. */
static void print_spreads(struct page *page, const struct comparison *comparison, unsigned n_top)
{
    static const struct page_column columns[] = {
        {"", PAGE_WRAP, STYLE_PLAIN},         {"mean", PAGE_RIGHT, STYLE_PLAIN},
        {"spread", PAGE_RIGHT, STYLE_PLAIN},  {"smallest", PAGE_RIGHT, STYLE_PLAIN},
        {"largest", PAGE_RIGHT, STYLE_PLAIN},
    };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    struct arena scratch = {0};
    unsigned n_causes = 0;
    for (size_t i = 0; i < comparison->rows.n; i++) {
        const struct compare_row *row = &comparison->rows.at[i];
        n_causes = row->depth ? n_causes + (row->depth == 1) : 0;
        if (row->depth > 1 || (n_top && n_causes > n_top))
            continue;
        struct spread spread = spread_of(comparison, row);
        page_cell(&table, "%s", difference_row_name(&scratch, row, true));
        page_cell(&table, "%s", amount_duration(spread.mean).text);
        page_cell(&table, "%s", amount_duration(spread.deviation).text);
        page_cell(&table, "%s", amount_duration(spread.least).text);
        page_cell(&table, "%s", amount_duration(spread.most).text);
    }
    page_table(page, &table);
    arena_release(&scratch);
}

void summary_print(FILE *out, const struct comparison *comparison, const struct series_options *options)
{
    static const char *const counted[FACT_N] = {"iterations of loops", NULL,      "calls of routines", NULL,
                                                "calls of MPI",        "messages"};
    struct page page = {.out = out, .width = options->width, .look = options->look};
    struct arena scratch = {0};
    uint64_t sums[FACT_N] = {0};
    sum_counts(comparison, sums);
    const char *programs = difference_programs(&scratch, comparison);
    if (!programs)
        page_line(&page, "%zu runs of %s", comparison->n_runs, text_escape(&scratch, comparison->runs[0]->program));
    difference_warn_of_programs(&page, programs);
    page_end(&page);
    print_spreads(&page, comparison, options->n_top);
    page_end(&page);
    const char *text = "in all runs together";
    for (int kind = 0; kind < FACT_N; kind++)
        if (counted[kind] && sums[kind])
            text = arena_printf(&scratch, "%s, %s %s", text, amount_count(sums[kind]).text, counted[kind]);
    if (sums[FACT_SENT])
        text = arena_printf(&scratch, "%s, %s sent", text, amount_bytes((double)sums[FACT_SENT]).text);
    page_paragraph(&page, 0, 2, text);
    page_paragraph(&page, 0, 2, "spread: standard deviation of a run; whywait report RUN has the details of one");
    for (const char **note = difference_notes(&scratch, comparison); *note; note++)
        page_paragraph(&page, 0, 2, arena_printf(&scratch, "note: %s", *note));
    arena_release(&scratch);
}

int summary_print_json(FILE *out, const struct comparison *comparison)
{
    static const char *const kinds[FACT_N] = {"trips",     "ways",     "calls",     "allocated_bytes",
                                              "mpi_calls", "messages", "sent_bytes"};
    struct arena scratch = {0};
    json_t *runs = json_array(), *rows = json_array(), *counts = json_object();
    uint64_t sums[FACT_N] = {0};
    sum_counts(comparison, sums);
    for (size_t run = 0; run < comparison->n_runs; run++)
        json_array_append_new(runs, json_text(comparison->runs[run]->path));
    for (size_t i = 0; i < comparison->rows.n; i++) {
        const struct compare_row *row = &comparison->rows.at[i];
        struct spread spread = spread_of(comparison, row);
        json_t *values = json_array();
        for (size_t run = 0; run < comparison->n_runs; run++)
            json_array_append_new(values, json_integer(llround(row->ns[run])));
        if (row->depth < 2)
            json_array_append_new(rows, json_pack("{s:o, s:s, s:b, s:I, s:I, s:I, s:I, s:o}", "name",
                                                  json_text(difference_row_name(&scratch, row, false)), "group",
                                                  difference_group_field(row->group), "is_cause", (int)row->depth,
                                                  "mean_ns", (json_int_t)llround(spread.mean), "deviation_ns",
                                                  (json_int_t)llround(spread.deviation), "smallest_ns",
                                                  (json_int_t)llround(spread.least), "largest_ns",
                                                  (json_int_t)llround(spread.most), "runs_ns", values));
        else
            json_decref(values);
    }
    for (int kind = 0; kind < FACT_N; kind++)
        json_object_set_new(counts, kinds[kind], json_integer((json_int_t)sums[kind]));
    arena_release(&scratch);
    return json_write(out, json_pack("{s:i, s:o, s:o, s:o}", "version", SERIES_VERSION, "runs", runs, "rows", rows,
                                     "counts", counts));
}

static json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_row(const struct series *series, size_t at)
{
    const struct compare_row *row = row_of(series, at);
    const struct series_row *found = &series->rows.at[at];
    struct arena scratch = {0};
    json_t *means = json_array(), *runs = json_array();
    for (uint32_t point = 0; point < series->comparison.n_sides; point++)
        json_array_append_new(means, json_integer(llround(row->mean_ns[point])));
    for (size_t run = 0; run < series->comparison.n_runs; run++)
        json_array_append_new(runs, json_integer(llround(row->ns[run])));
    json_t *object = json_pack(
        "{s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name", json_text(difference_row_name(&scratch, row, false)),
        "group", difference_group_field(row->group), "is_cause", (int)row->depth, "means_ns", means, "runs_ns", runs,
        "exponent", json_number(found->exponent), "exponent_error", json_number(found->error), "changed_at",
        found->changed_at == SERIES_NEVER ? json_null() : json_integer((json_int_t)found->changed_at), "change",
        found->changed_at == SERIES_NEVER ? json_null() : json_string(direction(found)));
    arena_release(&scratch);
    return object;
}

int series_print_json(FILE *out, const struct series *series)
{
    static const char *const by[] = {"ranks", "input", "order"};
    const struct comparison *comparison = &series->comparison;
    struct arena scratch = {0};
    json_t *points = json_array(), *runs = json_array(), *rows = json_array(), *exact = json_array();
    for (uint32_t point = 0; point < comparison->n_sides; point++)
        json_array_append_new(points,
                              json_pack("{s:f, s:I, s:f, s:f}", "x", series->x[point], "compute_ns",
                                        (json_int_t)llround(series->compute_ns[point]), "parallel",
                                        series->parallel[point], "computation_scaling", series->scaling[point]));
    for (size_t run = 0; run < comparison->n_runs; run++)
        json_array_append_new(runs, json_pack("{s:o, s:I}", "path", json_text(comparison->runs[run]->path), "point",
                                              (json_int_t)comparison->side_of[run]));
    for (size_t at = 0; at < series->rows.n; at++)
        json_array_append_new(rows, json_row(series, at));
    for (size_t i = 0; i < series->facts.n; i++) {
        const struct series_fact *fact = &series->facts.at[i];
        const struct compare_fact told = {.before = fact->before, .after = fact->after, .is_decision = true};
        json_array_append_new(exact, json_pack("{s:I, s:o}", "changed_at", (json_int_t)fact->changed_at, "text",
                                               json_text(difference_fact(&scratch, &told))));
    }
    json_t *object =
        json_pack("{s:i, s:s, s:b, s:o, s:o, s:o, s:o}", "version", SERIES_VERSION, "by", by[series->by], "is_weak",
                  (int)series->is_weak, "points", points, "runs", runs, "rows", rows, "exact", exact);
    arena_release(&scratch);
    return json_write(out, object);
}
