/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables are those of the JSON report, so that no number can differ between them, and what is added there is here
 * at once. Items are made and visited one by one, twice: once for the columns, which may differ from item to item, and
 * once for the rows.
 */
#include "analyze/export/export.h"
#include "analyze/out/json_report.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include "wrap/base/containers.h"
#include <stdlib.h>
#include <string.h>

/* What a reader calls a table. */
static const struct {
    const char *name, *way;
} short_names[] = {
    {"ranks", "by_rank"},           {"classes", "sites.classes"},  {"steps", "sites.classes.steps"},
    {"calls", "routines.calls_to"}, {"critical", "critical_path"}, {"matrix", "who_waits_for_whom.pairs"},
    {"memory", "allocations"}};
const char export_csv_tables[] = "causes, sites, classes, steps, ranks, routines, calls, critical, matrix, memory";

/* What identifies the items of a list in the rows of the lists below it. */
static const struct {
    const char *list, *column, *field;
} identities[] = {{"causes", "cause", "cause"},
                  {"sites", "site", "site"},
                  {"classes", "class", "number"},
                  {"routines", "caller", "routine"},
                  {"routines", "caller_number", "number"}};

/* Rows that are arrays: pairs of ranks, or of groups of them. */
static const char *const pair_columns[] = {"waiting", "late", "waiting_ns"};

enum { LEVELS_MOST = 8 };
struct csv {
    FILE *out;
    char *levels[LEVELS_MOST]; /* of the way to the table */
    unsigned n_levels;
    const json_t *items[LEVELS_MOST]; /* at each of them, on the way to the row */
    struct intern columns;
    const char *run;          /* of several, the one that is visited */
    bool is_writing;          /* the second visit */
    bool has_items, has_list; /* items at the first level; the list that the way leads to, of one of them */
};

static void write_quoted(FILE *out, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* A spreadsheet takes a text that begins like this for a formula, and computes it; numbers may begin so. */
static bool is_formula(const char *text)
{
    char *end;
    if (!*text || !strchr("=+-@", *text))
        return false;
    strtod(text, &end);
    return end == text || *end;
}

static void write_cell(FILE *out, const char *name)
{
    struct arena scratch = {0};
    const char *text = text_escape(&scratch, name);
    if (is_formula(text))
        text = arena_printf(&scratch, "'%s", text);
    write_quoted(out, text);
    arena_release(&scratch);
}

/* NULL for what is no single value. */
static const char *value_text(struct arena *arena, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return json_string_value(value);
    case JSON_INTEGER:
        return arena_printf(arena, "%lld", (long long)json_integer_value(value));
    case JSON_REAL:
        return arena_printf(arena, "%.12g", json_real_value(value));
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        return "";
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return NULL;
}

/* "0 2 3"; NULL for a list of something else, or for an empty one, of which nobody can tell. */
static const char *list_text(struct arena *arena, const json_t *list)
{
    const char *all = json_array_size(list) ? "" : NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = value_text(arena, json_array_get(list, i));
        if (!text)
            return NULL;
        all = arena_printf(arena, "%s%s%s", all, i ? " " : "", text);
    }
    return all;
}

/* The row's cells by column: what identifies the items around it, then its own fields, those of an object within it
 * with its name before theirs. */
struct row {
    struct csv *csv;
    struct arena arena;
    VEC(const char *) cells;
};

static void row_put(struct row *row, const char *column, const char *text)
{
    uint32_t number = intern_text(&row->csv->columns, column);
    if (number >= row->cells.n)
        vec_resize(&row->cells, number + 1);
    row->cells.at[number] = text;
}

static void row_put_fields(struct row *row, const json_t *item, const char *prefix)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)item, key, value)
    {
        const char *column = arena_printf(&row->arena, "%s%s", prefix, key);
        const char *text = json_is_array(value) ? list_text(&row->arena, value) : value_text(&row->arena, value);
        if (text)
            row_put(row, column, text);
        else if (json_is_object(value))
            row_put_fields(row, value, arena_printf(&row->arena, "%s.", column));
    }
}

static void visit_row(struct csv *csv, const json_t *item)
{
    struct row row = {.csv = csv};
    vec_resize(&row.cells, csv->columns.n);
    if (csv->run)
        row_put(&row, "run", csv->run);
    for (unsigned level = 0; level + 1 < csv->n_levels; level++)
        for (size_t i = 0; i < sizeof identities / sizeof *identities; i++)
            if (!strcmp(csv->levels[level], identities[i].list))
                row_put(&row, identities[i].column,
                        value_text(&row.arena, json_object_get(csv->items[level], identities[i].field)));
    if (json_is_object(item))
        row_put_fields(&row, item, "");
    for (size_t i = 0; i < json_array_size(item) && i < sizeof pair_columns / sizeof *pair_columns; i++)
        row_put(&row, pair_columns[i], value_text(&row.arena, json_array_get(item, i)));
    for (size_t i = 0; csv->is_writing && i < row.cells.n; i++) {
        if (i)
            fputc(',', csv->out);
        write_cell(csv->out, row.cells.at[i] ? row.cells.at[i] : "");
    }
    if (csv->is_writing)
        fputc('\n', csv->out);
    vec_release(&row.cells);
    arena_release(&row.arena);
}

/* Down to the last level, whose items are rows. Levels are few: their number bounds the recursion. */
static void visit_level(struct csv *csv, unsigned level, json_t *item)
{
    csv->has_items = true;
    if (level + 1 == csv->n_levels) {
        visit_row(csv, item);
        return;
    }
    csv->items[level] = item;
    csv->has_list |= level + 2 == csv->n_levels && json_object_get(item, csv->levels[level + 1]);
    json_t *below = json_object_get(item, csv->levels[level + 1]);
    if (json_is_array(below))
        for (size_t i = 0; i < json_array_size(below); i++)
            visit_level(csv, level + 1, json_array_get(below, i));
    else if (below)
        visit_level(csv, level + 1, below);
}

static void visit_item(void *context, json_t *item)
{
    visit_level(context, 0, item);
}

/* Whether one of the runs has such a table. */
static bool visit_runs(struct csv *csv, const struct export_run *runs, size_t n_runs)
{
    bool is_known = false;
    for (size_t i = 0; i < n_runs; i++) {
        const struct json_options options = {.routines = &runs[i].analysis->profile, .all = true};
        csv->run = n_runs > 1 ? runs[i].name : NULL;
        is_known |= json_visit(runs[i].analysis, &options, csv->levels[0], visit_item, csv);
    }
    return is_known && (csv->n_levels == 1 || !csv->has_items || csv->has_list);
}

int export_csv(FILE *out, const struct export_run *runs, size_t n_runs, const char *table)
{
    struct arena arena = {0};
    struct csv csv = {.out = out};
    const char *way = table;
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
        if (!strcmp(table, short_names[i].name))
            way = short_names[i].way;
    for (char *rest = arena_strdup(&arena, way); rest && csv.n_levels < LEVELS_MOST;)
        csv.levels[csv.n_levels++] = strsep(&rest, ".");
    bool is_known = visit_runs(&csv, runs, n_runs), is_empty = !csv.columns.n;
    for (size_t i = 0; i < csv.columns.n; i++) {
        if (i)
            fputc(',', out);
        write_cell(out, csv.columns.items[i].bytes);
    }
    csv.is_writing = true;
    if (csv.columns.n) {
        fputc('\n', out);
        visit_runs(&csv, runs, n_runs);
    }
    intern_release(&csv.columns);
    arena_release(&arena);
    if (!is_known)
        return error("there is no table \"%s\": there are %s", table, export_csv_tables);
    return is_empty ? error("%s: the table \"%s\" has no rows: nothing of the kind was recorded",
                            runs[0].analysis->trace->path, table)
                    : 0;
}
