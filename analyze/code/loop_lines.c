/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the instructions of a natural loop to the lines a programmer calls the loop.
 *
 * 1. The home of the loop: the innermost routine or inlined copy that holds the jumps closing it, and that was not
 * itself inlined *into* the loop. A copy that was inlined into the loop is entered in it, or holds few of its
 * instructions (the comparison of two iterators closes many loops of C++ and is home to none).
 * 2. A home in a system header is left for the line that called it: users look for std::transform where they wrote it.
 * 3. Every instruction is seen from the home: by its own line, or by the line of the call it was inlined through.
 *    Instructions that come from elsewhere were moved there by the compiler, and are not asked.
 * 4. The line of the closing jump is the `for` or `while`, and the first line, unless a good part of the instructions
 *    lies above it: then it closes a do-while, or a break leaves from the middle, and the first line is theirs. A few
 *    instructions above are constants that the compiler set again inside the loop. The last line is the largest one,
 *    a stray one far away apart.
 */
#include "analyze/code/loop_lines.h"

#include <stdlib.h>
#include <string.h>

enum {
    HOME_PERCENT = 75,  /* of the loop's instructions, at least, are in its home */
    ABOVE_PERCENT = 20, /* of them, at least, lie above the closing jump when that does not come first */
    FAR_LINES = 40,     /* a gap beyond which a few instructions are strays */
    STRAY_PERCENT = 4,
    LAMBDA_LINES = 40, /* a lambda this near to the call is its argument */
};

/*
 * Where control does not fall into a block from the code before it, the line of that code means nothing for the block,
 * but stays in force until a statement begins: the instructions before that were made up by the compiler (a register
 * saved around a call) and get no line.
 */
static bool has_stale_row(const struct unit *unit, const struct graph *graph, const struct graph_block *block,
                          const struct line_row *row)
{
    if (block->first == 0 || insn_falls_through(&graph->insns.at[block->first - 1]))
        return false;
    const struct line_row *first = row;
    bool is_statement = row->is_statement;
    while (first > unit->rows && first[-1].address == row->address)
        is_statement |= (--first)->is_statement;
    if (row->address < block->lo)
        return true;
    return row->address == block->lo && !is_statement && first > unit->rows && first[-1].line == row->line;
}

static void set_source(struct insn_source *source, const struct unit *unit, const struct graph *graph,
                       const struct graph_block *block, uint64_t address)
{
    const struct line_row *row = debug_row_at(unit, address);
    *source = (struct insn_source){.file = INTERN_NONE, .scope = debug_scope_at(unit, address)};
    if (row == NULL || has_stale_row(unit, graph, block, row))
        return;
    source->file = row->file;
    source->line = row->line;
    for (const struct line_row *r = row; r >= unit->rows && r->address == address && !source->is_statement; r--)
        source->is_statement = r->is_statement && r->line == row->line;
}

struct insn_source *sources_of(const struct graph *graph, const struct unit *unit, struct arena *arena)
{
    if (unit == NULL || (unit->n_rows == 0 && unit->n_pieces == 0))
        return NULL;
    struct insn_source *sources = arena_array(arena, struct insn_source, graph->insns.n);
    for (size_t b = 0; b < graph->blocks.n; b++) {
        const struct graph_block *block = &graph->blocks.at[b];
        for (uint32_t i = block->first; i < block->first + block->n; i++)
            set_source(&sources[i], unit, graph, block, graph->insns.at[i].address);
    }
    return sources;
}

bool source_is_system(const char *path)
{
    static const char *const prefixes[] = {"/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return strstr(path, "/include/c++/") != NULL;
}

static bool is_within(const struct unit *unit, uint32_t inner, uint32_t outer)
{
    while (inner != SCOPE_NONE && inner > outer)
        inner = unit->scopes.at[inner].parent;
    return inner == outer;
}

bool source_in_scope(const struct unit *unit, uint32_t scope, const struct insn_source *source, uint32_t *file,
                     uint32_t *line)
{
    uint32_t at = source->scope;
    *file = source->file;
    *line = source->line;
    while (at != SCOPE_NONE && at > scope) {
        *file = unit->scopes.at[at].call_file;
        *line = unit->scopes.at[at].call_line;
        at = unit->scopes.at[at].parent;
    }
    return at == scope && *line != 0 && *file != INTERN_NONE;
}

/* Calls visit(state, instruction) for every instruction of the loop. */
static void each_insn(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn),
                      void *state)
{
    const struct cfg_loop *l = &c->loops->at[loop];
    for (uint32_t b = 0; b < l->n_blocks; b++) {
        const struct graph_block *block = &c->graph->blocks.at[l->blocks[b]];
        for (uint32_t i = 0; i < block->n; i++)
            visit(state, block->first + i);
    }
}

/* True for a block of the loop that can be entered from outside: the head, and more in irreducible loops. */
static bool is_entry(const struct loop_context *c, uint32_t loop, uint32_t block)
{
    const struct cfg *cfg = &c->graph->cfg;
    for (uint32_t e = cfg->in_at[block]; e < cfg->in_at[block + 1]; e++)
        if (!cfg_loop_contains(c->loops, loop, cfg->edges.at[cfg->in[e]].from))
            return true;
    return false;
}

/* Visits the last instruction of the blocks from which the loop jumps to `block`; backwards in the code only, or all.
 */
static bool visit_jumps(const struct loop_context *c, uint32_t loop, uint32_t block, bool is_backward_only,
                        void (*visit)(void *state, uint32_t insn), void *state)
{
    const struct cfg *cfg = &c->graph->cfg;
    bool any = false;
    for (uint32_t e = cfg->in_at[block]; e < cfg->in_at[block + 1]; e++) {
        uint32_t from = cfg->edges.at[cfg->in[e]].from;
        if (!cfg_loop_contains(c->loops, loop, from) || (is_backward_only && from < block))
            continue;
        visit(state, c->graph->blocks.at[from].first + c->graph->blocks.at[from].n - 1);
        any = true;
    }
    return any;
}

/*
 * Calls visit for the jumps that close the loop. Jumping into the middle of a loop saves a test, which compilers like:
 * then the loop has several entries, and it is closed by the jumps backwards to any of them.
 */
static void each_latch(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn),
                       void *state)
{
    const struct cfg_loop *l = &c->loops->at[loop];
    bool any = visit_jumps(c, loop, l->head, true, visit, state);
    for (uint32_t b = 0; l->is_irreducible && b < l->n_blocks; b++)
        if (l->blocks[b] != l->head && is_entry(c, loop, l->blocks[b]))
            any |= visit_jumps(c, loop, l->blocks[b], true, visit, state);
    if (!any)
        visit_jumps(c, loop, l->head, false, visit, state);
}

struct home_search {
    const struct loop_context *c;
    uint32_t scope;
    size_t n, n_inside;
    size_t n_statements; /* that begin outside */
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
    while (search->scope != SCOPE_NONE && !is_within(unit, scope, search->scope))
        search->scope = unit->scopes.at[search->scope].parent;
}

static void count_inside(void *state, uint32_t insn)
{
    struct home_search *search = state;
    const struct insn_source *source = &search->c->sources[insn];
    if (source->scope == SCOPE_NONE)
        return;
    search->n++;
    if (is_within(search->c->unit, source->scope, search->scope))
        search->n_inside++;
    else if (source->is_statement)
        search->n_statements++;
}

static bool loop_has_address(const struct loop_context *c, uint32_t loop, uint64_t address)
{
    const struct cfg_loop *l = &c->loops->at[loop];
    uint32_t lo = 0, hi = l->n_blocks; /* block numbers rise with addresses */
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const struct graph_block *block = &c->graph->blocks.at[l->blocks[mid]];
        if (address >= block->lo && address < block->hi)
            return true;
        if (address < block->lo)
            hi = mid;
        else
            lo = mid + 1;
    }
    return false;
}

/*
 * True when a statement row for the first line of a routine lies in the loop: then the loop calls it. Not asked at the
 * head's own address, where the rows of what comes before the loop may stand too.
 */
static bool begins_in_loop(const struct loop_context *c, uint32_t loop, const struct scope *scope)
{
    const struct cfg_loop *l = &c->loops->at[loop];
    uint64_t head = c->graph->blocks.at[l->head].lo;
    for (uint32_t b = 0; b < l->n_blocks && scope->line != 0; b++) {
        const struct graph_block *block = &c->graph->blocks.at[l->blocks[b]];
        for (size_t r = debug_row_from(c->unit, block->lo); r < c->unit->n_rows; r++) {
            const struct line_row *row = &c->unit->rows[r];
            if (row->address >= block->hi)
                break;
            if (row->is_statement && row->line == scope->line && row->file == scope->file && row->address != head)
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
    each_insn(c, loop, count_inside, &search);
    if (search.n_statements > 0 || search.n_inside * 100 < search.n * HOME_PERCENT || begins_in_loop(c, loop, s))
        return false;
    if (s->entry == 0)
        return !loop_has_address(c, loop, s->lo) || !loop_has_address(c, loop, s->hi - 1);
    /* Entered where the loop begins: by the loop, if that has anything else to do. */
    if (s->entry == c->graph->blocks.at[c->loops->at[loop].head].lo)
        return search.n_inside == search.n;
    return !loop_has_address(c, loop, s->entry);
}

static bool is_system_scope(const struct loop_context *c, uint32_t scope)
{
    uint32_t file = c->unit->scopes.at[scope].file;
    return file != INTERN_NONE && source_is_system(intern_get(&c->debug->files, file));
}

static uint32_t find_home(const struct loop_context *c, uint32_t loop)
{
    struct home_search search = {.c = c, .scope = SCOPE_NONE};
    each_latch(c, loop, meet, &search);
    if (search.scope == SCOPE_NONE)
        each_insn(c, loop, meet, &search);
    uint32_t home = search.scope;
    while (home != SCOPE_NONE && c->unit->scopes.at[home].parent != SCOPE_NONE &&
           (!holds_loop(c, loop, home) || is_system_scope(c, home)))
        home = c->unit->scopes.at[home].parent;
    return home;
}

struct line_search {
    const struct loop_context *c;
    uint32_t scope, file, head_line;
    VEC(uint32_t) lines; /* one an instruction */
};

static void head_line(void *state, uint32_t insn)
{
    struct line_search *search = state;
    uint32_t file, line;
    if (!source_in_scope(search->c->unit, search->scope, &search->c->sources[insn], &file, &line))
        return;
    if (search->head_line == 0 || line < search->head_line) {
        search->head_line = line;
        search->file = file;
    }
}

static bool is_lambda(const struct loop_context *c, uint32_t scope)
{
    const char *name = debug_scope_name(c->debug, c->unit, scope);
    size_t n = name != NULL ? strlen(name) : 0;
    return n > 0 && (strcmp(name, "lambda") == 0 || (n >= 10 && strcmp(name + n - 10, "operator()") == 0));
}

/* The body of a lambda that is an argument of the call stands with the call, although it is a routine of its own. */
static bool is_argument(const struct line_search *search, const struct insn_source *source, uint32_t call_line)
{
    return source->scope != search->scope && source->file == search->file && source->line > call_line &&
           source->line <= call_line + LAMBDA_LINES && is_lambda(search->c, source->scope);
}

static void collect_line(void *state, uint32_t insn)
{
    struct line_search *search = state;
    const struct insn_source *source = &search->c->sources[insn];
    uint32_t file, line;
    if (!source_in_scope(search->c->unit, search->scope, source, &file, &line) || file != search->file)
        return;
    *vec_push(&search->lines) = is_argument(search, source, line) ? source->line : line;
}

static int line_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Where the lines begin (step -1) or end (+1), walking from `at` and stopping before a few strays far away. */
static size_t walk_lines(const uint32_t *lines, size_t n, size_t at, int step)
{
    size_t few = n * STRAY_PERCENT / 100 > 2 ? n * STRAY_PERCENT / 100 : 2;
    while (step > 0 ? at + 1 < n : at > 0) {
        size_t next = step > 0 ? at + 1 : at - 1;
        uint32_t gap = step > 0 ? lines[next] - lines[at] : lines[at] - lines[next];
        size_t n_left = step > 0 ? n - next : next + 1;
        if (gap > FAR_LINES && n_left <= few)
            break;
        at = next;
    }
    return at;
}

static void set_range(const struct line_search *search, struct loop_source *source)
{
    const uint32_t *lines = search->lines.at;
    size_t n = search->lines.n, n_above = 0;
    source->line_first = source->line_last = search->head_line;
    while (n_above < n && lines[n_above] < search->head_line)
        n_above++;
    if (n_above < n)
        source->line_last = lines[walk_lines(lines, n, n_above, 1)];
    if (n_above > 0 && n_above * 100 >= n * ABOVE_PERCENT)
        source->line_first = lines[walk_lines(lines, n, n_above - 1, -1)];
}

struct loop_source loop_source_find(const struct loop_context *c, uint32_t loop)
{
    struct loop_source source = {.scope = SCOPE_NONE, .file = INTERN_NONE};
    if (c->sources == NULL)
        return source;
    struct line_search search = {.c = c, .scope = find_home(c, loop), .file = INTERN_NONE};
    source.scope = search.scope;
    source.origin = search.scope != SCOPE_NONE ? c->unit->scopes.at[search.scope].origin : 0;
    each_latch(c, loop, head_line, &search);
    if (search.head_line == 0)
        each_insn(c, loop, head_line, &search);
    if (search.head_line == 0)
        return source;
    each_insn(c, loop, collect_line, &search);
    if (search.lines.n > 0)
        qsort(search.lines.at, search.lines.n, sizeof *search.lines.at, line_order);
    source.file = search.file;
    source.head_line = search.head_line;
    set_range(&search, &source);
    vec_release(&search.lines);
    return source;
}
