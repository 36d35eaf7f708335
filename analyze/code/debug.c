/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening, look-up and names. The tables of a unit are built in debug_lines.c and debug_scopes.c. */
#include "analyze/code/debug.h"
#include "analyze/code/names.h"
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 1 << 24 }; /* units of a damaged file may share one endless list */

static int range_order(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void add_unit(struct debug *debug, Dwarf_Die *die)
{
    uint32_t unit = (uint32_t)debug->units.n;
    Dwarf_Addr base = 0, lo = 0, hi = 0;
    size_t n_before = debug->ranges.n;
    for (ptrdiff_t at = 0; debug->ranges.n < MAX_RANGES && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0;)
        if (lo < hi && lo != 0)
            *vec_push(&debug->ranges) =
                (struct unit_range){.lo = lo + debug->bias, .hi = hi + debug->bias, .unit = unit};
    if (debug->ranges.n > n_before)
        vec_push(&debug->units)->die = *die;
}

/* Where ranges overlap, the first wins: look-up needs them apart. */
static void sort_ranges(struct debug *debug)
{
    size_t kept = 0;
    if (debug->ranges.n > 0)
        qsort(debug->ranges.at, debug->ranges.n, sizeof *debug->ranges.at, range_order);
    for (size_t i = 0; i < debug->ranges.n; i++) {
        struct unit_range range = debug->ranges.at[i];
        if (kept > 0 && range.lo < debug->ranges.at[kept - 1].hi)
            range.lo = debug->ranges.at[kept - 1].hi;
        if (range.lo < range.hi)
            debug->ranges.at[kept++] = range;
    }
    debug->ranges.n = kept;
}

bool debug_open(struct debug *debug, const struct image *image)
{
    memset(debug, 0, sizeof *debug);
    debug->bias = image->dwarf_bias;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type = 0;
    while (image->dwarf != NULL && dwarf_get_units(image->dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            add_unit(debug, &die);
    sort_ranges(debug);
    return debug->ranges.n > 0;
}

void debug_close(struct debug *debug)
{
    for (size_t i = 0; i < debug->units.n; i++) {
        vec_release(&debug->units.at[i].scopes);
        intern_release(&debug->units.at[i].noreturn);
    }
    vec_release(&debug->units);
    vec_release(&debug->ranges);
    intern_release(&debug->files);
    arena_release(&debug->arena);
}

struct unit *debug_unit_at(struct debug *debug, uint64_t address)
{
    size_t lo = 0, hi = debug->ranges.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (debug->ranges.at[mid].hi <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == debug->ranges.n || debug->ranges.at[lo].lo > address)
        return NULL;
    struct unit *unit = &debug->units.at[debug->ranges.at[lo].unit];
    if (!unit->is_read) {
        unit->is_read = true;
        debug_read_lines(debug, unit);
        debug_read_scopes(debug, unit);
    }
    return unit;
}

const struct line_row *debug_row_at(const struct unit *unit, uint64_t address)
{
    size_t lo = 0, hi = unit->n_rows;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (unit->rows[mid].address <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 ? &unit->rows[lo - 1] : NULL;
}

size_t debug_row_from(const struct unit *unit, uint64_t address)
{
    size_t lo = 0, hi = unit->n_rows;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (unit->rows[mid].address < address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

uint32_t debug_scope_at(const struct unit *unit, uint64_t address)
{
    size_t lo = 0, hi = unit->n_pieces;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (unit->pieces[mid].lo <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 ? unit->pieces[lo - 1].scope : SCOPE_NONE;
}

static const char *attribute_text(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* Routines of C++ go by their linked name, which says the namespace; others by the name in the source. */
static const char *find_name(struct debug *debug, Dwarf_Die *die)
{
    const char *linked = attribute_text(die, DW_AT_linkage_name);
    if (linked == NULL)
        linked = attribute_text(die, DW_AT_MIPS_linkage_name);
    if (linked != NULL && strncmp(linked, "_Z", 2) == 0)
        return name_readable(&debug->arena, linked);
    const char *name = attribute_text(die, DW_AT_name);
    if (name != NULL && strcmp(name, "operator()") == 0)
        return "lambda"; /* any other has a linked name */
    return name_readable(&debug->arena, name != NULL ? name : linked);
}

const char *debug_scope_name(struct debug *debug, struct unit *unit, uint32_t scope)
{
    struct scope *s = &unit->scopes.at[scope];
    if (s->name == NULL) {
        const char *name = find_name(debug, &s->die);
        s->name = name != NULL ? name : "";
    }
    return s->name[0] != 0 ? s->name : NULL;
}

/*
 * The line table of a unit as one array. libdw decodes it, and sorts it by address. Of several rows at one address the
 * last holds; the others tell which statements begin there although nothing is left of them.
 */

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
