/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First how the tables of one compilation unit are read from its debug information: lines, then scopes. Then opening,
 * look-up and names.
 */
#include "analyze/code/debug.h"
#include "analyze/code/routines.h"
#include "analyze/files/plain.h"
#include "wrap/base/keys.h"
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/*
 * The line table of a unit as one array. libdw decodes it, and sorts it by address. Of several rows at one address the
 * last holds; the others tell which statements begin there although nothing is left of them.
 */

/* A compiler that was given a relative path tells the file by that, and where it ran: NULL where it does not. */
static const char *compiled_in(struct unit *unit)
{
    Dwarf_Attribute attribute;
    const char *path = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
    return path && path[0] == '/' ? path : NULL;
}

/* The number of a path in debug->files, absolute where it can be, "/./" removed. */
static uint32_t file_number(struct debug *debug, struct unit *unit, const char *path)
{
    const char *folder = path[0] == '/' || strcmp(path, "???") == 0 ? NULL : compiled_in(unit);
    if (folder)
        path = arena_printf(&debug->arena, "%s/%s", folder, path);
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

static uint32_t row_file(struct debug *debug, struct unit *unit, Dwarf_Line *line, struct file_cache *last,
                         struct map *seen)
{
    const char *path = dwarf_linesrc(line, NULL, NULL);
    if (path == NULL)
        path = "???";
    if (path != last->path) {
        bool is_new = false;
        uint64_t *file = map_put(seen, (uint64_t)(uintptr_t)path, &is_new);
        if (is_new)
            *file = file_number(debug, unit, path);
        *last = (struct file_cache){path, (uint32_t)*file};
    }
    return last->file;
}

static void read_lines(struct debug *debug, struct unit *unit)
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
        row.file = row_file(debug, unit, line, &last, &seen);
        /* The end of a sequence must not hide what starts at its address. */
        unit->marks_statements |= !row.is_statement && !is_end;
        struct line_row *before = unit->n_rows > 0 ? &unit->rows[unit->n_rows - 1] : NULL;
        if (before == NULL || before->address < row.address || (before->address == row.address && !is_end))
            unit->rows[unit->n_rows++] = row;
    }
    map_release(&seen);
}

/*
 * The tree of scopes of a unit, flattened. The DIEs are walked with a stack of our own; only what can contain code is
 * entered, so that the types of a C++ unit are stepped over. The ranges of the scopes are then swept by address: what
 * is open last is innermost. O(n log n) in the number of ranges.
 */

/* What no compiler exceeds: many scopes of a damaged file may share one endless list of ranges. */
enum { MAX_RANGES_OF_SCOPE = 65536, MAX_RANGES_OF_UNIT = 1 << 22, MAX_NESTING = 4096 };

struct walk {
    struct debug *debug;
    struct unit *unit;
    Dwarf_Files *files; /* of the unit: call_file counts in them */
    size_t n_files;
    VEC(struct code_range) ranges;
    VEC(uint32_t) around; /* the scope that the DIEs of each level lie in; the last is the present level */
};

static uint64_t attribute_number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    bool is_there = dwarf_attr(die, name, &attribute) != NULL && dwarf_formudata(&attribute, &value) == 0;
    return is_there ? value : 0;
}

/* Copies of one routine share the DIE that declares it. */
static Dwarf_Die declaration_of(Dwarf_Die at)
{
    for (int hops = 0; hops < 8; hops++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (dwarf_attr(&at, DW_AT_abstract_origin, &attribute) == NULL || dwarf_formref_die(&attribute, &next) == NULL)
            break;
        at = next;
    }
    return at;
}

static uint64_t origin_of(const Dwarf_Die *die)
{
    return (uint64_t)(uintptr_t)declaration_of(*die).addr;
}

static void set_call(struct walk *walk, struct scope *scope)
{
    uint64_t file = attribute_number(&scope->die, DW_AT_call_file);
    const char *path =
        walk->files != NULL && file < walk->n_files ? dwarf_filesrc(walk->files, file, NULL, NULL) : NULL;
    scope->call_file = path != NULL ? file_number(walk->debug, walk->unit, path) : INTERN_NONE;
    scope->call_line = (uint32_t)attribute_number(&scope->die, DW_AT_call_line);
}

/* Adds the scope of a DIE that has code; SCOPE_NONE when it has none. */
static uint32_t add_scope(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
    uint32_t id = (uint32_t)walk->unit->scopes.n;
    struct scope scope = {
        .parent = parent, .part_of = SCOPE_NONE, .die = *die, .lo = UINT64_MAX, .call_file = INTERN_NONE};
    Dwarf_Addr base = 0, lo = 0, hi = 0;
    int n = 0;
    for (ptrdiff_t at = 0; n < MAX_RANGES_OF_SCOPE && walk->ranges.n < MAX_RANGES_OF_UNIT &&
                           (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0;) {
        if (lo >= hi || lo == 0)
            continue;
        n++;
        lo += walk->debug->bias;
        hi += walk->debug->bias;
        *vec_push(&walk->ranges) = (struct code_range){lo, hi, id};
        scope.lo = lo < scope.lo ? lo : scope.lo;
        scope.hi = hi > scope.hi ? hi : scope.hi;
    }
    if (n == 0)
        return SCOPE_NONE;
    scope.origin = origin_of(die);
    /* Only a copy that says where it is entered has an entry: the lowest address of others may be anything. */
    Dwarf_Addr entry = 0;
    if (dwarf_hasattr(die, DW_AT_entry_pc) && dwarf_entrypc(die, &entry) == 0 && entry != 0)
        scope.entry = entry + walk->debug->bias;
    int line = 0;
    const char *file = dwarf_decl_file(&scope.die);
    scope.file = file != NULL ? file_number(walk->debug, walk->unit, file) : INTERN_NONE;
    scope.line = dwarf_decl_line(&scope.die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
    if (parent != SCOPE_NONE)
        set_call(walk, &scope);
    *vec_push(&walk->unit->scopes) = scope;
    return id;
}

/*
 * A routine that tests something first may be split, and its rest inlined into it again, as if it called itself on the
 * line where it begins. To its author that is one routine.
 */
static bool is_rest_of(const struct walk *walk, Dwarf_Die *die, uint32_t around)
{
    const struct scope *scope = &walk->unit->scopes.at[around];
    return scope->line != 0 && origin_of(die) == scope->origin && attribute_number(die, DW_AT_call_line) == scope->line;
}

/* What to look into below a DIE: the scope its children lie in; false = nothing there. */
static bool enter(struct walk *walk, Dwarf_Die *die, uint32_t around, uint32_t *scope)
{
    *scope = around;
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram: {
        Dwarf_Attribute attribute;
        if (dwarf_hasattr_integrate(die, DW_AT_noreturn)) {
            const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
            if (name == NULL)
                name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
            if (name != NULL)
                intern_text(&walk->unit->noreturn, name);
        }
        *scope = add_scope(walk, die, SCOPE_NONE);
        if (*scope != SCOPE_NONE && dwarf_hasattr(die, DW_AT_artificial))
            walk->unit->scopes.at[*scope].part_of = around;
        return !dwarf_hasattr(die, DW_AT_declaration); /* one without code may hold one that has some */
    }
    case DW_TAG_inlined_subroutine:
        if (around != SCOPE_NONE && !is_rest_of(walk, die, around))
            *scope = add_scope(walk, die, around);
        return around != SCOPE_NONE && *scope != SCOPE_NONE;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
        return true;
    default:
        return false;
    }
}

/* By start; of scopes that start together the outer one first. */
static int code_range_order(const void *a, const void *b)
{
    const struct code_range *x = a, *y = b;
    return order_of(x->lo, y->lo) ?: order_of(x->of, y->of);
}

static void add_piece(struct unit *unit, uint64_t lo, uint32_t scope)
{
    size_t n = unit->n_pieces;
    if (n > 0 && unit->pieces[n - 1].lo == lo)
        unit->pieces[n - 1].scope = scope;
    else if (n == 0 || unit->pieces[n - 1].scope != scope)
        unit->pieces[unit->n_pieces++] = (struct scope_piece){lo, scope};
}

/* Closes the ranges that end at or before `limit`; between them, what was open below is innermost again. */
static void close_until(struct unit *unit, struct code_range *open, size_t *n_open, uint64_t limit)
{
    while (*n_open > 0 && open[*n_open - 1].hi <= limit) {
        uint64_t end = open[--*n_open].hi;
        while (*n_open > 0 && open[*n_open - 1].hi <= end)
            --*n_open;
        add_piece(unit, end, *n_open > 0 ? open[*n_open - 1].of : SCOPE_NONE);
    }
}

static void flatten(struct walk *walk)
{
    struct unit *unit = walk->unit;
    size_t n = walk->ranges.n, n_open = 0;
    if (n == 0)
        return;
    qsort(walk->ranges.at, n, sizeof *walk->ranges.at, code_range_order);
    unit->pieces = arena_array(&walk->debug->arena, struct scope_piece, 2 * n + 1);
    struct code_range *open = arena_array(&walk->debug->arena, struct code_range, n);
    for (size_t i = 0; i < n; i++) {
        struct code_range range = walk->ranges.at[i];
        close_until(unit, open, &n_open, range.lo);
        if (n_open > 0 && range.hi > open[n_open - 1].hi)
            range.hi = open[n_open - 1].hi; /* must not outlive the scope around it */
        open[n_open++] = range;
        add_piece(unit, range.lo, range.of);
    }
    close_until(unit, open, &n_open, UINT64_MAX);
}

/* Where the unit's bytes end; NULL = it is not known. */
static const uint8_t *end_of(Dwarf_Die *root)
{
    Dwarf_Off at = dwarf_dieoffset(root), unit = at - dwarf_cuoffset(root), next = 0;
    size_t n_header = 0;
    bool is_known = dwarf_nextcu(dwarf_cu_getdwarf(root->cu), unit, &next, &n_header, NULL, NULL, NULL) == 0;
    return is_known && next > at ? (const uint8_t *)root->addr + (next - at) : NULL;
}

/*
 * To the DIE behind this one and all that is in it; false = there is none. libdw finds it by reading what is in it,
 * unless it is told. Of a DIE that was entered all that has been read already: it ends with a zero behind its last
 * child, of which libdw tells the place. So each byte is read once, however deep DIEs are nested.
 */
static bool go_on(struct walk *walk, Dwarf_Die *at, const uint8_t *end)
{
    Dwarf_Die next = {.addr = NULL};
    int status = dwarf_siblingof(at, &next);
    const uint8_t *zero = next.addr;
    while (status == 1 && --walk->around.n > 0 && zero != NULL && zero + 1 < end) {
        next = (Dwarf_Die){.addr = (void *)(uintptr_t)(zero + 1), .cu = at->cu};
        status = *++zero == 0;
    }
    /* One that does not lie ahead is damage. */
    bool is_found = status == 0 && (uintptr_t)next.addr > (uintptr_t)at->addr;
    if (is_found)
        *at = next;
    return is_found;
}

/* Fills in scopes, pieces and noreturn. What cannot be read stays empty. */
static void read_scopes(struct debug *debug, struct unit *unit)
{
    struct walk walk = {.debug = debug, .unit = unit};
    Dwarf_Die root = unit->die, split;
    if (unit->is_split && dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
        dwarf_tag(&split) == DW_TAG_compile_unit)
        root = split;
    if (dwarf_getsrcfiles(&root, &walk.files, &walk.n_files) != 0)
        walk.files = NULL;
    Dwarf_Die at, child;
    bool is_there = dwarf_child(&root, &at) == 0;
    if (is_there)
        *vec_push(&walk.around) = SCOPE_NONE;
    while (is_there) {
        uint32_t scope;
        if (enter(&walk, &at, walk.around.at[walk.around.n - 1], &scope) && walk.around.n < MAX_NESTING &&
            dwarf_child(&at, &child) == 0) {
            *vec_push(&walk.around) = scope;
            at = child;
        } else
            is_there = go_on(&walk, &at, end_of(&root));
    }
    flatten(&walk);
    vec_release(&walk.ranges);
    vec_release(&walk.around);
}

/* Opening, look-up and names. */

enum { MAX_RANGES = 1 << 24 }; /* units of a damaged file may share one endless list */

static bool is_split(const struct image *image, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
    const char *name = dwarf_formstring(dwarf_attr(die, DW_AT_dwo_name, &attribute));
    if (name == NULL)
        name = dwarf_formstring(dwarf_attr(die, DW_AT_GNU_dwo_name, &attribute));
    return name != NULL && image_split_is_safe(image, folder, name);
}

static void add_unit(struct debug *debug, const struct image *image, Dwarf_Die *die, bool is_skeleton)
{
    uint32_t unit = (uint32_t)debug->units.n;
    Dwarf_Addr base = 0, lo = 0, hi = 0;
    size_t n_before = debug->ranges.n;
    for (ptrdiff_t at = 0; debug->ranges.n < MAX_RANGES && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0;)
        if (lo < hi && lo != 0)
            *vec_push(&debug->ranges) = (struct code_range){.lo = lo + debug->bias, .hi = hi + debug->bias, .of = unit};
    if (debug->ranges.n > n_before)
        *vec_push(&debug->units) = (struct unit){.die = *die, .is_split = is_skeleton && is_split(image, die)};
}

bool debug_open(struct debug *debug, const struct image *image)
{
    memset(debug, 0, sizeof *debug);
    debug->bias = image->dwarf_bias;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type = 0;
    while (image->dwarf != NULL && dwarf_get_units(image->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            add_unit(debug, image, &die, type == DW_UT_skeleton);
    /* Where ranges overlap, the first wins: look-up needs them apart. */
    size_t kept = 0;
    vec_sort(&debug->ranges, code_range_order);
    for (size_t i = 0; i < debug->ranges.n; i++) {
        struct code_range range = debug->ranges.at[i];
        if (kept > 0 && range.lo < debug->ranges.at[kept - 1].hi)
            range.lo = debug->ranges.at[kept - 1].hi;
        if (range.lo < range.hi)
            debug->ranges.at[kept++] = range;
    }
    debug->ranges.n = kept;
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

static void read_unit(struct debug *debug, struct unit *unit)
{
    const char *unread;
    unit->is_read = true;
    plain_forget_fault();
    read_lines(debug, unit);
    read_scopes(debug, unit);
    if (debug->fault == 0 && (debug->fault = plain_fault(&unread)) != 0)
        debug->unread = arena_strdup(&debug->arena, unread);
}

struct unit *debug_unit_at(struct debug *debug, uint64_t address)
{
    size_t lo = 0;
    bisect(lo, debug->ranges.n, debug->ranges.at[lo].hi <= address);
    if (lo == debug->ranges.n || debug->ranges.at[lo].lo > address)
        return NULL;
    struct unit *unit = &debug->units.at[debug->ranges.at[lo].of];
    if (!unit->is_read)
        read_unit(debug, unit);
    return unit;
}

const struct line_row *debug_row_at(const struct unit *unit, uint64_t address)
{
    size_t lo = 0;
    bisect(lo, unit->n_rows, unit->rows[lo].address <= address);
    return lo > 0 ? &unit->rows[lo - 1] : NULL;
}

const struct line_row *debug_statement_at(const struct unit *unit, uint64_t address)
{
    const struct line_row *row = debug_row_at(unit, address);
    uint32_t id = debug_scope_at(unit, address);
    if (row == NULL || id == SCOPE_NONE)
        return row;
    const struct scope *scope = &unit->scopes.at[id];
    if (row->file != scope->file || row->line != scope->line)
        return row;
    for (const struct line_row *r = row; r > unit->rows && r[-1].address >= scope->lo; r--)
        if (r[-1].file == scope->file && r[-1].line > scope->line && debug_scope_at(unit, r[-1].address) == id)
            return r - 1;
    return row;
}

size_t debug_row_from(const struct unit *unit, uint64_t address)
{
    size_t lo = 0;
    bisect(lo, unit->n_rows, unit->rows[lo].address < address);
    return lo;
}

uint32_t debug_scope_at(const struct unit *unit, uint64_t address)
{
    size_t lo = 0;
    bisect(lo, unit->n_pieces, unit->pieces[lo].lo <= address);
    return lo > 0 ? unit->pieces[lo - 1].scope : SCOPE_NONE;
}

static const char *attribute_text(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* Routines of C++ go by their linked name, which says the namespace; others by the name in the source. */
static const char *distinct_name(Dwarf_Die *die)
{
    const char *linked = attribute_text(die, DW_AT_linkage_name), *name = attribute_text(die, DW_AT_name);
    if (linked == NULL)
        linked = attribute_text(die, DW_AT_MIPS_linkage_name);
    return name == NULL || (linked != NULL && strncmp(linked, "_Z", 2) == 0) ? linked : name;
}

static const char lambda[] = "<lambda(";

/* The line of the lambda, a type without a name, that a template argument is; 0: it is something else. */
static int lambda_line(Dwarf_Die *argument)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    int line = 0;
    if (dwarf_tag(argument) != DW_TAG_template_type_parameter ||
        dwarf_formref_die(dwarf_attr(argument, DW_AT_type, &attribute), &type) == NULL)
        return 0;
    return dwarf_diename(&type) == NULL && dwarf_decl_line(&type, &line) == 0 ? line : 0;
}

/*
 * "each<main()::<lambda(int):15> >". Within one unit lambdas have no numbers, so that instances over two lambdas of a
 * routine have one name. Their lines tell them apart.
 */
static const char *with_lambda_lines(struct arena *arena, Dwarf_Die die, const char *name)
{
    Dwarf_Die argument;
    const char *text = "", *from = name;
    bool has_more = dwarf_child(&die, &argument) == 0;
    for (; has_more; has_more = dwarf_siblingof(&argument, &argument) == 0) {
        int line = lambda_line(&argument);
        const char *begin = line ? strstr(from, lambda) : NULL, *end = begin ? strstr(begin, ")>") : NULL;
        if (end == NULL)
            continue;
        text = arena_printf(arena, "%s%.*s:%d", text, (int)(end + 1 - from), from, line);
        from = end + 1;
    }
    return arena_printf(arena, "%s%s", text, from);
}

/* "lambda", or "lambda<double>" of a generic one: any other operator has a linked name. */
static const char *scope_readable(struct arena *arena, Dwarf_Die die)
{
    static const char call[] = "operator()";
    const char *name = distinct_name(&die);
    if (name == NULL)
        return NULL;
    if (strncmp(name, call, strlen(call)) == 0)
        return arena_printf(arena, "lambda%s", name + strlen(call));
    return name_readable(arena,
                         strstr(name, lambda) != NULL ? with_lambda_lines(arena, declaration_of(die), name) : name);
}

/* The routine of the source. */
static struct scope *whole_scope(struct unit *unit, uint32_t scope)
{
    struct scope *s = &unit->scopes.at[scope];
    while (s->part_of != SCOPE_NONE)
        s = &unit->scopes.at[s->part_of];
    return s;
}

const char *debug_scope_name(struct debug *debug, struct unit *unit, uint32_t scope)
{
    struct scope *s = whole_scope(unit, scope);
    if (s->name == NULL) {
        const char *readable = scope_readable(&debug->arena, s->die);
        s->name = readable != NULL ? readable : "";
    }
    return s->name[0] != 0 ? s->name : NULL;
}

const char *debug_scope_instance(struct debug *debug, struct unit *unit, uint32_t scope)
{
    const char *name = debug_scope_name(debug, unit, scope);
    if (name == NULL || strchr(name, '<') == NULL)
        return NULL;
    /* The declaration's: a constructor is linked by several names. One without any is known in its unit alone. */
    Dwarf_Die die = declaration_of(whole_scope(unit, scope)->die);
    const char *distinct = distinct_name(&die);
    bool is_linked = distinct != NULL && strncmp(distinct, "_Z", 2) == 0;
    return is_linked ? distinct : arena_printf(&debug->arena, "%s %llx", name, (unsigned long long)origin_of(&die));
}

int debug_language(const struct unit *unit)
{
    Dwarf_Die die = unit->die;
    return dwarf_srclang(&die);
}

const char *debug_producer(const struct debug *debug)
{
    for (size_t i = 0; i < debug->units.n; i++) {
        Dwarf_Die die = debug->units.at[i].die;
        Dwarf_Attribute attribute;
        Dwarf_Attribute *found = debug->units.at[i].is_split ? dwarf_attr_integrate(&die, DW_AT_producer, &attribute)
                                                             : dwarf_attr(&die, DW_AT_producer, &attribute);
        const char *producer = dwarf_formstring(found);
        if (producer != NULL && strncmp(producer, "GNU AS", 6) != 0)
            return producer;
    }
    return NULL;
}
