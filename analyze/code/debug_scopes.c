/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of scopes of a unit, flattened. The DIEs are walked with a stack of our own; only what can contain code is
 * entered, so that the types of a C++ unit are stepped over. The ranges of the scopes are then swept by address: what
 * is open last is innermost. O(n log n) in the number of ranges.
 */
#include "analyze/code/debug.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* What no compiler exceeds: many scopes of a damaged file may share one endless list of ranges. */
enum { MAX_RANGES_OF_SCOPE = 65536, MAX_RANGES_OF_UNIT = 1 << 22, MAX_NESTING = 4096 };

struct scope_range {
    uint64_t lo, hi;
    uint32_t scope; /* inner scopes have higher numbers */
};

struct open_die {
    Dwarf_Die die;
    uint32_t scope;
};

struct walk {
    struct debug *debug;
    struct unit *unit;
    Dwarf_Files *files; /* of the unit: call_file counts in them */
    size_t n_files;
    VEC(struct scope_range) ranges;
    VEC(struct open_die) stack;
};

static uint64_t attribute_number(Dwarf_Die *die, unsigned name, bool integrate)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    Dwarf_Attribute *found =
        integrate ? dwarf_attr_integrate(die, name, &attribute) : dwarf_attr(die, name, &attribute);
    return found != NULL && dwarf_formudata(found, &value) == 0 ? value : 0;
}

/* Copies of one routine share the DIE that declares it. */
static uint64_t origin_of(Dwarf_Die *die)
{
    Dwarf_Die at = *die;
    for (int hops = 0; hops < 8; hops++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (dwarf_attr(&at, DW_AT_abstract_origin, &attribute) == NULL || dwarf_formref_die(&attribute, &next) == NULL)
            break;
        at = next;
    }
    return (uint64_t)(uintptr_t)at.addr;
}

static void set_declaration(struct walk *walk, struct scope *scope)
{
    int line = 0;
    const char *file = dwarf_decl_file(&scope->die);
    scope->file = file != NULL ? debug_file(walk->debug, file) : INTERN_NONE;
    scope->line = dwarf_decl_line(&scope->die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
}

static void set_call(struct walk *walk, struct scope *scope)
{
    uint64_t file = attribute_number(&scope->die, DW_AT_call_file, false);
    const char *path =
        walk->files != NULL && file < walk->n_files ? dwarf_filesrc(walk->files, file, NULL, NULL) : NULL;
    scope->call_file = path != NULL ? debug_file(walk->debug, path) : INTERN_NONE;
    scope->call_line = (uint32_t)attribute_number(&scope->die, DW_AT_call_line, false);
}

/* Only a copy that says where it is entered has an entry: the lowest address of others may be anything. */
static uint64_t entry_of(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Addr entry = 0;
    if (dwarf_hasattr(die, DW_AT_entry_pc) && dwarf_entrypc(die, &entry) == 0 && entry != 0)
        return entry + walk->debug->bias;
    return 0;
}

/* Adds the scope of a DIE that has code; SCOPE_NONE when it has none. */
static uint32_t add_scope(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
    uint32_t id = (uint32_t)walk->unit->scopes.n;
    struct scope scope = {.parent = parent, .die = *die, .lo = UINT64_MAX, .call_file = INTERN_NONE};
    Dwarf_Addr base = 0, lo = 0, hi = 0;
    int n = 0;
    for (ptrdiff_t at = 0; n < MAX_RANGES_OF_SCOPE && walk->ranges.n < MAX_RANGES_OF_UNIT &&
                           (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0;) {
        if (lo >= hi || lo == 0)
            continue;
        n++;
        lo += walk->debug->bias;
        hi += walk->debug->bias;
        *vec_push(&walk->ranges) = (struct scope_range){lo, hi, id};
        scope.lo = lo < scope.lo ? lo : scope.lo;
        scope.hi = hi > scope.hi ? hi : scope.hi;
    }
    if (n == 0)
        return SCOPE_NONE;
    scope.origin = origin_of(die);
    scope.entry = entry_of(walk, die);
    set_declaration(walk, &scope);
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
    return scope->line != 0 && origin_of(die) == scope->origin &&
           attribute_number(die, DW_AT_call_line, false) == scope->line;
}

static void note_noreturn(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (!dwarf_hasattr_integrate(die, DW_AT_noreturn))
        return;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    if (name == NULL)
        name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
    if (name != NULL)
        intern_text(&walk->unit->noreturn, name);
}

/* What to look into below a DIE: the scope its children lie in; false = nothing there. */
static bool enter(struct walk *walk, Dwarf_Die *die, uint32_t around, uint32_t *scope)
{
    *scope = around;
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        note_noreturn(walk, die);
        *scope = add_scope(walk, die, SCOPE_NONE);
        return !dwarf_hasattr(die, DW_AT_declaration); /* one without code may hold one that has some */
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

/* The DIE after `die` under the same parent; a sibling that does not lie ahead is damage. */
static bool step(Dwarf_Die *die)
{
    Dwarf_Die next;
    if (dwarf_siblingof(die, &next) != 0 || (uintptr_t)next.addr <= (uintptr_t)die->addr)
        return false;
    *die = next;
    return true;
}

static void walk_tree(struct walk *walk, Dwarf_Die *root)
{
    Dwarf_Die child;
    if (dwarf_child(root, &child) != 0)
        return;
    *vec_push(&walk->stack) = (struct open_die){child, SCOPE_NONE};
    while (walk->stack.n > 0) {
        struct open_die at = walk->stack.at[walk->stack.n - 1];
        uint32_t scope;
        bool is_entered =
            enter(walk, &at.die, at.scope, &scope) && walk->stack.n < MAX_NESTING && dwarf_child(&at.die, &child) == 0;
        if (!step(&walk->stack.at[walk->stack.n - 1].die))
            walk->stack.n--;
        if (is_entered)
            *vec_push(&walk->stack) = (struct open_die){child, scope};
    }
}

/* By start; of those that start together the outer one first. */
static int range_order(const void *a, const void *b)
{
    const struct scope_range *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->scope < y->scope ? -1 : x->scope > y->scope;
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
static void close_until(struct unit *unit, struct scope_range *open, size_t *n_open, uint64_t limit)
{
    while (*n_open > 0 && open[*n_open - 1].hi <= limit) {
        uint64_t end = open[--*n_open].hi;
        while (*n_open > 0 && open[*n_open - 1].hi <= end)
            --*n_open;
        add_piece(unit, end, *n_open > 0 ? open[*n_open - 1].scope : SCOPE_NONE);
    }
}

static void flatten(struct walk *walk)
{
    struct unit *unit = walk->unit;
    size_t n = walk->ranges.n, n_open = 0;
    if (n == 0)
        return;
    qsort(walk->ranges.at, n, sizeof *walk->ranges.at, range_order);
    unit->pieces = arena_array(&walk->debug->arena, struct scope_piece, 2 * n + 1);
    struct scope_range *open = arena_array(&walk->debug->arena, struct scope_range, n);
    for (size_t i = 0; i < n; i++) {
        struct scope_range range = walk->ranges.at[i];
        close_until(unit, open, &n_open, range.lo);
        if (n_open > 0 && range.hi > open[n_open - 1].hi)
            range.hi = open[n_open - 1].hi; /* must not outlive the scope around it */
        open[n_open++] = range;
        add_piece(unit, range.lo, range.scope);
    }
    close_until(unit, open, &n_open, UINT64_MAX);
}

void debug_read_scopes(struct debug *debug, struct unit *unit)
{
    struct walk walk = {.debug = debug, .unit = unit};
    Dwarf_Die root = unit->die, split;
    uint8_t type = 0;
    if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 && type == DW_UT_skeleton &&
        dwarf_tag(&split) == DW_TAG_compile_unit)
        root = split;
    if (dwarf_getsrcfiles(&root, &walk.files, &walk.n_files) != 0)
        walk.files = NULL;
    walk_tree(&walk, &root);
    flatten(&walk);
    vec_release(&walk.ranges);
    vec_release(&walk.stack);
}
