/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/difference.h"
#include "analyze/out/amount.h"
#include "analyze/out/json.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static const struct compare_row *row_at(const void *data, unsigned row)
{
    return &((const struct comparison *)data)->rows.at[row];
}

static const char *cell_name(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, row_at(data, row)->name);
}

static const char *cell_before(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_duration(row_at(data, row)->mean_ns[0]).text);
}

static const char *cell_after(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_duration(row_at(data, row)->mean_ns[1]).text);
}

static double change_of(const struct compare_row *row)
{
    return row->mean_ns[1] - row->mean_ns[0];
}

static const char *cell_change(struct arena *arena, const void *data, unsigned row)
{
    return arena_strdup(arena, amount_change(change_of(row_at(data, row))).text);
}

static const char *cell_verdict(struct arena *arena, const void *data, unsigned row)
{
    static const char *const words[] = {"within noise", "less", "more", ""};
    const struct compare_row *at = row_at(data, row);
    if (at->verdict == COMPARE_UNKNOWN)
        return "";
    return arena_printf(arena, "%s (+-%s)", words[at->verdict], amount_duration(at->noise_ns).text);
}

static const struct page_column columns[] = {
    {"what makes ranks wait", PAGE_WRAP, cell_name},
    {"before", PAGE_RIGHT, cell_before},
    {"after", PAGE_RIGHT, cell_after},
    {"change", PAGE_RIGHT, cell_change},
    {"which is", PAGE_LEFT, cell_verdict},
};

/* Changes of less than a thousandth of the waiting are nobody's concern. */
static unsigned n_shown(const struct comparison *comparison, unsigned n_top)
{
    size_t n = comparison->rows.n;
    const double *waiting_ns = comparison->rows.at[COMPARE_WAITING].mean_ns;
    double least_ns = 0.001 * fmax(waiting_ns[0], waiting_ns[1]);
    if (n_top && n > COMPARE_FIRST_CAUSE + n_top)
        n = COMPARE_FIRST_CAUSE + n_top;
    while (n_top && n > COMPARE_FIRST_CAUSE + 1 && fabs(change_of(&comparison->rows.at[n - 1])) < least_ns)
        n--;
    return (unsigned)n;
}

void difference_print(FILE *out, const struct comparison *comparison, unsigned n_top, unsigned width)
{
    struct page page = {.out = out, .width = width};
    struct arena scratch = {0};
    size_t n_after = 0, n_runs = comparison->is_after.n;
    for (size_t i = 0; i < n_runs; i++)
        n_after += comparison->is_after.at[i];
    unsigned n = n_shown(comparison, n_top);
    page_line(&page, "%zu %s before, %zu after: means of one run", n_runs - n_after,
              n_runs - n_after == 1 ? "run" : "runs", n_after);
    page_end(&page);
    page_table(&page,
               &(struct page_table){
                   .columns = columns, .n_columns = sizeof columns / sizeof *columns, .n_rows = n, .data = comparison});
    if (n < comparison->rows.n)
        page_line(&page, "and %zu more (--top 0)", comparison->rows.n - n);
    page_end(&page);
    if (n_after < 2 || n_runs - n_after < 2)
        page_paragraph(
            &page, 0, 2,
            "note: with one run on a side nobody can tell a change from noise; record each side several times: "
            "whywait diff A1 A2 A3 vs B1 B2 B3");
    else
        page_paragraph(&page, 0, 2,
                       "more, less: outside of what the runs' own noise explains, with 95 % for the table as a whole");
    for (size_t i = 0; i < comparison->notes.n; i++)
        page_paragraph(&page, 0, 2, arena_printf(&scratch, "note: %s", comparison->notes.at[i]));
    arena_release(&scratch);
}

static json_t *json_row(const struct compare_row *row)
{
    static const char *const verdicts[] = {"noise", "less", "more", "unknown"};
    json_t *runs = json_array();
    for (size_t i = 0; i < row->ns.n; i++)
        json_array_append_new(runs, json_integer(llround(row->ns.at[i])));
    return json_pack("{s:o, s:I, s:I, s:I, s:o, s:s, s:o}", "name", json_text(row->name), "before_ns",
                     (json_int_t)llround(row->mean_ns[0]), "after_ns", (json_int_t)llround(row->mean_ns[1]),
                     "change_ns", (json_int_t)llround(change_of(row)), "noise_ns",
                     isfinite(row->noise_ns) ? json_integer(llround(row->noise_ns)) : json_null(), "verdict",
                     verdicts[row->verdict], "runs_ns", runs);
}

int difference_print_json(FILE *out, const struct comparison *comparison)
{
    json_t *is_after = json_array(), *causes = json_array(), *notes = json_array();
    for (size_t i = 0; i < comparison->is_after.n; i++)
        json_array_append_new(is_after, json_boolean(comparison->is_after.at[i]));
    for (size_t i = COMPARE_FIRST_CAUSE; i < comparison->rows.n; i++)
        json_array_append_new(causes, json_row(&comparison->rows.at[i]));
    for (size_t i = 0; i < comparison->notes.n; i++)
        json_array_append_new(notes, json_text(comparison->notes.at[i]));
    json_t *object = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "version", JSON_VERSION, "is_after", is_after,
                               "run_time", json_row(&comparison->rows.at[COMPARE_RUN_TIME]), "waiting",
                               json_row(&comparison->rows.at[COMPARE_WAITING]), "causes", causes, "notes", notes);
    int failed = json_dumpf(object, out, JSON_INDENT(1)) || fputc('\n', out) == EOF;
    if (failed)
        error("cannot write the JSON report: %s", strerror(errno));
    json_decref(object);
    return failed ? -1 : 0;
}
