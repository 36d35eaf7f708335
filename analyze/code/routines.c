/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds come from the unwind tables where an entry exists, because they are exact and survive strip; else from the
 * symbol table (size, or up to the next routine). Names come from symbols that start where a routine starts; of several
 * names a global one wins, then the first by alphabet, so that the choice does not depend on the order in the file.
 */
#include "analyze/code/routines.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct candidate {
    uint64_t lo, hi; /* hi == lo: size unknown */
    uint64_t lsda;
    const char *name;
    int rank; /* smaller is better: unwind entry, then global, weak, local symbol */
};
typedef VEC(struct candidate) candidates;

static int candidate_order(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank - y->rank;
    if (x->name != NULL && y->name != NULL && strcmp(x->name, y->name) != 0)
        return strcmp(x->name, y->name);
    return x->hi > y->hi ? -1 : x->hi < y->hi;
}

static bool is_code_symbol(const struct image *image, const GElf_Sym *symbol, uint64_t address)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
        return false;
    const struct image_section *section = image_section_at(image, address);
    if (section == NULL || !section->is_code || section->is_stub)
        return false;
    return type != STT_NOTYPE || symbol->st_size > 0;
}

static void add_symbols(const struct image *image, candidates *list)
{
    int n = dwfl_module_getsymtab(image->dwfl_module);
    for (int i = 1; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        const char *name = dwfl_module_getsym_info(image->dwfl_module, i, &symbol, &address, NULL, NULL, NULL);
        if (name == NULL || name[0] == 0 || !is_code_symbol(image, &symbol, address))
            continue;
        int binding = GELF_ST_BIND(symbol.st_info);
        uint64_t size = symbol.st_size;
        *vec_push(list) = (struct candidate){
            .lo = address,
            .hi = address + size >= address ? address + size : address,
            .name = name,
            .rank = binding == STB_GLOBAL ? 1
                    : binding == STB_WEAK ? 2
                                          : 3,
        };
    }
}

static void add_unwind_entries(const struct image *image, candidates *list)
{
    eh_routines entries = {0};
    eh_read_routines(image, &entries);
    for (size_t i = 0; i < entries.n; i++) {
        const struct image_section *section = image_section_at(image, entries.at[i].lo);
        if (section != NULL && section->is_code && !section->is_stub)
            *vec_push(list) = (struct candidate){
                .lo = entries.at[i].lo, .hi = entries.at[i].hi, .lsda = entries.at[i].lsda, .rank = 0};
    }
    vec_release(&entries);
}

static bool has_cold_name(const char *name)
{
    const char *cold = name != NULL ? strstr(name, ".cold") : NULL;
    return cold != NULL && (cold[5] == 0 || cold[5] == '.');
}

/* Makes one routine of the candidates that share an entry point; the first bounds it, the first symbol names it. */
static struct routine merge(const struct candidate *at, size_t n)
{
    struct routine routine = {.lo = at[0].lo, .hi = at[0].hi, .lsda = at[0].lsda};
    for (size_t i = 0; i < n; i++) {
        if (routine.name == NULL)
            routine.name = at[i].name;
        if (routine.hi == routine.lo)
            routine.hi = at[i].hi;
    }
    routine.is_cold = has_cold_name(routine.name);
    return routine;
}

static void clip(const struct image *image, struct routine *routine, const struct routine *next)
{
    const struct image_section *section = image_section_at(image, routine->lo);
    uint64_t limit = section->hi;
    if (next != NULL && next->lo < limit)
        limit = next->lo;
    if (routine->hi == routine->lo || routine->hi > limit)
        routine->hi = limit;
}

struct routines routines_read(const struct image *image, struct arena *arena)
{
    candidates list = {0};
    add_unwind_entries(image, &list);
    add_symbols(image, &list);
    if (list.n > 0)
        qsort(list.at, list.n, sizeof *list.at, candidate_order);
    struct routines routines = {.at = arena_array(arena, struct routine, list.n + 1)};
    for (size_t i = 0, n = 0; i < list.n; i += n) {
        for (n = 1; i + n < list.n && list.at[i + n].lo == list.at[i].lo;)
            n++;
        struct routine routine = merge(list.at + i, n);
        /* A symbol inside the bounds of the routine before it is an inner label of hand-written code. */
        bool is_inner = routines.n > 0 && routine.lo < routines.at[routines.n - 1].hi && list.at[i].rank != 0;
        if (!is_inner)
            routines.at[routines.n++] = routine;
    }
    for (uint32_t i = 0; i < routines.n; i++)
        clip(image, &routines.at[i], i + 1 < routines.n ? &routines.at[i + 1] : NULL);
    vec_release(&list);
    return routines;
}

uint32_t routines_find(const struct routines *routines, uint64_t address)
{
    uint32_t lo = 0, hi = routines->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (routines->at[mid].hi <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < routines->n && routines->at[lo].lo <= address ? lo : ROUTINE_NONE;
}
