/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the instructions of a natural loop to the lines a programmer calls the loop. Every instruction is seen from the
 * loop's home (below): by its own line, or by the line of the call it was inlined through. Instructions that come
 * from elsewhere were moved there by the compiler, and are not asked.
 *
 * A line belongs to the loop when a statement begins on it inside, when it calls or branches, or when many instructions
 * have it; constants set again and arguments loaded ahead carry lines from before and behind the loop, but none of
 * these. (Some debug information, as gfortran's, marks no statements: then see drop_strays.) The line
 * of the closing jump is that of `for` or `while`, and belongs in any case. The range goes from the
 * first line to the last, but for a few instructions far away.
 */
#include "analyze/code/loop_parts.h"
#include <stdlib.h>
#include <string.h>

enum {
    FIRM_PERCENT = 20, /* of the instructions on one line make it a line of the loop */
    FAR_BELOW = 40,    /* gaps beyond which a few instructions are strays */
    FAR_ABOVE = 3,
    STRAY_PERCENT = 4,
    LAMBDA_LINES = 40, /* a lambda this near to the call is its argument */
};

/* A line of the home, and what is known of it. */
struct line_use {
    uint32_t line, n_insns;
    bool is_firm;
};

struct line_search {
    const struct loop_context *c;
    uint32_t scope, file, head_line;
    size_t n_insns, n_statements;
    VEC(struct line_use) lines; /* first one an instruction, then by rising line */
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

/* The body of a lambda that is an argument of the call stands with the call, although it is a routine of its own. Where
 * the home itself calls it, it was an argument of another call, that of the home. */
static bool is_argument(const struct line_search *search, const struct insn_source *source, uint32_t call_line)
{
    return source->scope != search->scope && search->c->unit->scopes.at[source->scope].parent != search->scope &&
           source->file == search->file && source->line > call_line && source->line <= call_line + LAMBDA_LINES &&
           is_lambda(search->c, source->scope);
}

static void collect_line(void *state, uint32_t insn)
{
    struct line_search *search = state;
    const struct insn_source *source = &search->c->sources[insn];
    uint32_t file, line;
    if (!source_in_scope(search->c->unit, search->scope, source, &file, &line) || file != search->file)
        return;
    struct line_use *use = vec_push(&search->lines);
    use->line = is_argument(search, source, line) ? source->line : line;
    use->n_insns = 1;
    uint8_t flow = search->c->graph->insns.at[insn].flow;
    use->is_firm = source->is_statement || flow == FLOW_BRANCH || flow == FLOW_CALL || flow == FLOW_INDIRECT_CALL;
}

static int line_order(const void *a, const void *b)
{
    const struct line_use *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Sums up the uses of each line. */
static void sum_lines(struct line_search *search)
{
    size_t kept = 0;
    search->n_insns = search->lines.n;
    if (search->lines.n > 0)
        qsort(search->lines.at, search->lines.n, sizeof *search->lines.at, line_order);
    for (size_t i = 0; i < search->lines.n; i++) {
        struct line_use *last = kept > 0 ? &search->lines.at[kept - 1] : NULL;
        if (last != NULL && last->line == search->lines.at[i].line) {
            last->n_insns++;
            last->is_firm |= search->lines.at[i].is_firm;
        } else
            search->lines.at[kept++] = search->lines.at[i];
    }
    search->lines.n = kept;
}

/* Statements that begin in the loop, though perhaps at an instruction that another line has by now. */
static void mark_statements(struct line_search *search, uint32_t loop)
{
    const struct loop_context *c = search->c;
    const struct cfg_loop *l = &c->loops->at[loop];
    for (uint32_t b = 0; b < l->n_blocks && c->unit->marks_statements; b++) {
        const struct graph_block *block = &c->graph->blocks.at[l->blocks[b]];
        for (size_t r = debug_row_from(c->unit, block->lo); r < c->unit->n_rows; r++) {
            const struct line_row *row = &c->unit->rows[r];
            if (row->address >= block->hi)
                break;
            if (!row->is_statement || row->file != search->file)
                continue;
            search->n_statements++;
            struct line_use key = {.line = row->line}, *use = NULL;
            if (search->lines.n > 0)
                use = bsearch(&key, search->lines.at, search->lines.n, sizeof key, line_order);
            if (use != NULL)
                use->is_firm = true;
        }
    }
}

/* Drops the lines that do not belong to the loop, the closing one excepted. Where a routine begins, no loop does. */
static void drop_strays(struct line_search *search)
{
    size_t kept = 0, n_above = 0;
    uint32_t routine_line = search->scope != SCOPE_NONE ? search->c->unit->scopes.at[search->scope].line : 0;
    for (size_t i = 0; i < search->lines.n && search->lines.at[i].line < search->head_line; i++)
        n_above += search->lines.at[i].n_insns;
    for (size_t i = 0; i < search->lines.n; i++) {
        const struct line_use *use = &search->lines.at[i];
        if (use->line != search->head_line && use->line == routine_line)
            continue;
        /* Where statements are not marked: all lines below the closing one, and those above it when they are many. */
        bool is_unmarked = search->n_statements == 0 &&
                           (use->line > search->head_line || n_above * 100 >= search->n_insns * FIRM_PERCENT);
        if (use->is_firm || use->line == search->head_line || is_unmarked ||
            use->n_insns * 100 >= search->n_insns * FIRM_PERCENT)
            search->lines.at[kept++] = *use;
    }
    search->lines.n = kept;
}

/* The number of the line where the range begins (step -1) or ends (+1), walking from number `at`. */
static size_t walk_lines(const struct line_search *search, size_t at, int step)
{
    const struct line_use *lines = search->lines.at;
    size_t few = search->n_insns * STRAY_PERCENT / 100 > 2 ? search->n_insns * STRAY_PERCENT / 100 : 2;
    size_t n_left = 0;
    for (size_t i = at + (size_t)step; i < search->lines.n; i += (size_t)step)
        n_left += lines[i].n_insns;
    for (size_t next = at + (size_t)step; next < search->lines.n; next += (size_t)step) {
        uint32_t gap = step > 0 ? lines[next].line - lines[at].line : lines[at].line - lines[next].line;
        if (gap > (step > 0 ? FAR_BELOW : FAR_ABOVE) && n_left <= few)
            break;
        n_left -= lines[next].n_insns;
        at = next;
    }
    return at;
}

static bool head_has_statement(const struct line_search *search, const struct graph_block *head, uint32_t line)
{
    const struct unit *unit = search->c->unit;
    if (!unit->marks_statements)
        return false;
    for (size_t r = debug_row_from(unit, head->lo); r < unit->n_rows && unit->rows[r].address < head->hi; r++)
        if (unit->rows[r].is_statement && unit->rows[r].line == line && unit->rows[r].file == search->file)
            return true;
    return false;
}

static void set_range(const struct line_search *search, uint32_t loop, struct loop_source *source)
{
    const struct line_use *lines = search->lines.at;
    size_t head = 0;
    source->line_first = source->line_last = search->head_line;
    while (head < search->lines.n && lines[head].line < search->head_line)
        head++;
    if (head == search->lines.n)
        return;
    source->line_first = lines[walk_lines(search, head, -1)].line;
    source->line_last = lines[walk_lines(search, head, 1)].line;
    /*
     * The `do` itself, and a statement behind it whose instruction was moved away (`i++`), leave nothing but statement
     * rows in the head. Statements before the loop may leave rows there as well: so two lines at most, next to each
     * other.
     */
    const struct graph_block *block = &search->c->graph->blocks.at[search->c->loops->at[loop].head];
    bool is_do = source->line_first < source->head_line;
    for (int n = 0; is_do && n < 2 && head_has_statement(search, block, source->line_first - 1); n++)
        source->line_first--;
}

struct loop_source loop_source_find(const struct loop_context *c, uint32_t loop)
{
    struct loop_source source = {.scope = SCOPE_NONE, .file = INTERN_NONE};
    if (c->sources == NULL)
        return source;
    struct line_search search = {.c = c, .scope = loop_find_home(c, loop), .file = INTERN_NONE};
    source.scope = search.scope;
    source.origin = search.scope != SCOPE_NONE ? c->unit->scopes.at[search.scope].origin : 0;
    loop_each_latch(c, loop, head_line, &search);
    if (search.head_line == 0)
        loop_each_insn(c, loop, head_line, &search);
    if (search.head_line == 0)
        return source;
    loop_each_insn(c, loop, collect_line, &search);
    sum_lines(&search);
    mark_statements(&search, loop);
    drop_strays(&search);
    source.file = search.file;
    source.head_line = search.head_line;
    set_range(&search, loop, &source);
    vec_release(&search.lines);
    return source;
}

/*
 * The home of a loop: the innermost routine or inlined copy that holds the jumps closing it, and that was not itself
 * inlined *into* the loop. A copy that was inlined into the loop is entered in it, or leaves statements of it to the
 * routine around (the comparison of two iterators closes many loops of C++ and is home to none).
 *
 * A home in a system header is left for the routine that called it: users look for std::transform where they wrote it.
 */

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
    struct home_search search = {.c = c, .scope = routine};
    loop_each_latch(c, loop, find_first_line, &search);
    if (search.n_on_first_line > 0)
        return false; /* the routine stands on the line that closes the loop: all of it on one line */
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

uint32_t loop_find_home(const struct loop_context *c, uint32_t loop)
{
    struct home_search search = {.c = c, .scope = SCOPE_NONE};
    loop_each_latch(c, loop, meet, &search);
    if (search.scope == SCOPE_NONE)
        loop_each_insn(c, loop, meet, &search);
    uint32_t home = search.scope;
    for (; home != SCOPE_NONE && c->unit->scopes.at[home].parent != SCOPE_NONE;
         home = c->unit->scopes.at[home].parent) {
        uint32_t file = c->unit->scopes.at[home].file;
        bool is_system = file != INTERN_NONE && source_is_system(intern_get(&c->debug->files, file));
        if (!is_system && holds_loop(c, loop, home))
            break;
    }
    return home;
}
