/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The home of a loop: the innermost routine or inlined copy that holds the jumps closing it, and that was not itself
 * inlined *into* the loop. A copy that was inlined into the loop is entered in it, or leaves statements of it to the
 * routine around (the comparison of two iterators closes many loops of C++ and is home to none).
 *
 * A home in a system header is left for the routine that called it: users look for std::transform where they wrote it.
 */
#include "analyze/code/loop_parts.h"

#include <string.h>

enum { HOME_PERCENT = 75 }; /* of the loop's instructions, at least, are in its home */

bool source_is_system(const char *path)
{
    static const char *const prefixes[] = {"/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return strstr(path, "/include/c++/") != NULL;
}

struct home_search {
    const struct loop_context *c;
    uint32_t scope;
    size_t n, n_inside;
    size_t n_statements;    /* that begin outside */
    size_t n_ways;          /* jumps and calls outside */
    size_t n_on_first_line; /* of the routine */
};

static void meet(void *state, uint32_t insn)
{
    struct home_search *search = state;
    const struct unit *unit = search->c->unit;
    uint32_t scope = search->c->sources[insn].scope;
    if (scope == SCOPE_NONE)
        return;
    if (search->scope == SCOPE_NONE)
        search->scope = scope;
    while (search->scope != SCOPE_NONE && !scope_is_within(unit, scope, search->scope))
        search->scope = unit->scopes.at[search->scope].parent;
}

static void count_inside(void *state, uint32_t insn)
{
    struct home_search *search = state;
    const struct insn_source *source = &search->c->sources[insn];
    if (source->scope == SCOPE_NONE || source->line == 0)
        return;
    search->n++;
    if (scope_is_within(search->c->unit, source->scope, search->scope))
        search->n_inside++;
    else {
        search->n_statements += source->is_statement;
        search->n_ways += search->c->graph->insns.at[insn].flow > FLOW_NOP;
    }
}

static void find_first_line(void *state, uint32_t insn)
{
    struct home_search *search = state;
    const struct insn_source *source = &search->c->sources[insn];
    const struct scope *scope = &search->c->unit->scopes.at[search->scope];
    if (source->scope == search->scope && source->line == scope->line && source->file == scope->file)
        search->n_on_first_line++;
}

/* True when the routine stands on the line that closes the loop: all of it on one line. */
static bool is_closed_on_first_line(const struct loop_context *c, uint32_t loop, uint32_t scope)
{
    struct home_search search = {.c = c, .scope = scope};
    loop_each_latch(c, loop, find_first_line, &search);
    return search.n_on_first_line > 0;
}

/* False where another copy of the routine begins: it may be inlined into itself. */
static bool may_begin(const struct unit *unit, uint32_t routine, uint64_t address)
{
    uint32_t scope = debug_scope_at(unit, address);
    while (scope != SCOPE_NONE && unit->scopes.at[scope].origin != unit->scopes.at[routine].origin)
        scope = unit->scopes.at[scope].parent;
    return scope == SCOPE_NONE || scope == routine;
}

/*
 * True when a statement row for the first line of a routine lies in the loop: then the loop calls it. Not asked at the
 * head's own address, where the rows of what comes before the loop may stand too, nor where that line has the loop.
 */
static bool begins_in_loop(const struct loop_context *c, uint32_t loop, uint32_t routine)
{
    const struct cfg_loop *l = &c->loops->at[loop];
    const struct scope *scope = &c->unit->scopes.at[routine];
    if (is_closed_on_first_line(c, loop, routine))
        return false;
    uint64_t head = c->graph->blocks.at[l->head].lo;
    for (uint32_t b = 0; b < l->n_blocks && scope->line != 0; b++) {
        const struct graph_block *block = &c->graph->blocks.at[l->blocks[b]];
        for (size_t r = debug_row_from(c->unit, block->lo); r < c->unit->n_rows; r++) {
            const struct line_row *row = &c->unit->rows[r];
            if (row->address >= block->hi)
                break;
            if (row->is_statement && row->line == scope->line && row->file == scope->file && row->address != head &&
                may_begin(c->unit, routine, row->address))
                return true;
        }
    }
    return false;
}

/* True when a copy was inlined with the loop in it, not into the loop. */
static bool holds_loop(const struct loop_context *c, uint32_t loop, uint32_t scope)
{
    const struct scope *s = &c->unit->scopes.at[scope];
    struct home_search search = {.c = c, .scope = scope};
    loop_each_own_insn(c, loop, count_inside, &search);
    if (search.n_statements > 0 || search.n_inside * 100 < search.n * HOME_PERCENT || begins_in_loop(c, loop, scope))
        return false;
    if (s->entry == 0 && !(loop_has_address(c, loop, s->lo) && loop_has_address(c, loop, s->hi - 1)))
        return true;
    /* Entered where the loop begins, or who knows where: by the loop, if that does any of the going round. */
    if (s->entry == 0 || s->entry == c->graph->blocks.at[c->loops->at[loop].head].lo)
        return search.n_ways == 0;
    return !loop_has_address(c, loop, s->entry);
}

static bool is_system_scope(const struct loop_context *c, uint32_t scope)
{
    uint32_t file = c->unit->scopes.at[scope].file;
    return file != INTERN_NONE && source_is_system(intern_get(&c->debug->files, file));
}

uint32_t loop_find_home(const struct loop_context *c, uint32_t loop)
{
    struct home_search search = {.c = c, .scope = SCOPE_NONE};
    loop_each_latch(c, loop, meet, &search);
    if (search.scope == SCOPE_NONE)
        loop_each_insn(c, loop, meet, &search);
    uint32_t home = search.scope;
    while (home != SCOPE_NONE && c->unit->scopes.at[home].parent != SCOPE_NONE &&
           (!holds_loop(c, loop, home) || is_system_scope(c, home)))
        home = c->unit->scopes.at[home].parent;
    return home;
}
