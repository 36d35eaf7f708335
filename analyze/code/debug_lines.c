/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line table of a unit as one array. libdw decodes it, and sorts it by address. Of several rows at one address the
 * last holds; the others tell which statements begin there although nothing is left of them.
 */
#include "analyze/code/debug_unit.h"

#include <stdlib.h>
#include <string.h>

uint32_t debug_file(struct debug *debug, const char *path)
{
    if (strstr(path, "/./") == NULL)
        return intern_text(&debug->files, path);
    char *clean = arena_strdup(&debug->arena, path);
    for (char *dot = strstr(clean, "/./"); dot != NULL; dot = strstr(dot, "/./"))
        memmove(dot, dot + 2, strlen(dot + 2) + 1);
    return intern_text(&debug->files, clean);
}

/* libdw gives the same pointer for the same file of a unit: paths are looked up once. */
struct file_cache {
    const char *path;
    uint32_t file;
};

static uint32_t row_file(struct debug *debug, Dwarf_Line *line, struct file_cache *last, struct map *seen)
{
    const char *path = dwarf_linesrc(line, NULL, NULL);
    if (path == NULL)
        path = "???";
    if (path != last->path) {
        bool is_new = false;
        uint64_t *file = map_put(seen, (uint64_t)(uintptr_t)path, &is_new);
        if (is_new)
            *file = debug_file(debug, path);
        *last = (struct file_cache){path, (uint32_t)*file};
    }
    return last->file;
}

/* The end of a sequence must not hide what starts at its address. */
static void add_row(struct unit *unit, struct line_row row, bool is_end)
{
    unit->marks_statements |= !row.is_statement && !is_end;
    struct line_row *before = unit->n_rows > 0 ? &unit->rows[unit->n_rows - 1] : NULL;
    if (before == NULL || before->address < row.address || (before->address == row.address && !is_end))
        unit->rows[unit->n_rows++] = row;
}

void debug_read_lines(struct debug *debug, struct unit *unit)
{
    Dwarf_Lines *lines = NULL;
    size_t n = 0;
    struct file_cache last = {NULL, 0};
    struct map seen = {0};
    if (dwarf_getsrclines(&unit->die, &lines, &n) != 0 || n == 0)
        return;
    unit->rows = arena_array(&debug->arena, struct line_row, n);
    for (size_t i = 0; i < n; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address = 0;
        int number = 0;
        bool is_end = false;
        if (line == NULL || dwarf_lineaddr(line, &address) != 0 || dwarf_lineno(line, &number) != 0)
            continue;
        dwarf_lineendsequence(line, &is_end);
        struct line_row row = {.address = address + debug->bias, .line = is_end || number < 0 ? 0 : (uint32_t)number};
        dwarf_linebeginstatement(line, &row.is_statement);
        row.file = row_file(debug, line, &last, &seen);
        add_row(unit, row, is_end);
    }
    map_release(&seen);
}
