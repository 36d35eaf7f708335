/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the instructions of a natural loop to the lines a programmer calls the loop. Every instruction is seen from the
 * loop's home (below): by its own line, or by the line of the call it was inlined through. Instructions that come from
 * elsewhere were moved there by the compiler, and are not asked.
 *
 * A line belongs to the loop when a statement begins on it inside, when it calls or branches, or when many instructions
 * have it; constants set again and arguments loaded early carry lines from before and behind the loop, but none of
 * these. (Some debug information, as gfortran's, marks no statements: then all lines below the closing one do, and
 * those above it when many instructions have them.) The line of the closing jump is that of `for` or `while`, and
 * belongs in any case. The range goes from the first line to the last, but for a few instructions far away.
 *
 * A statement that reads what a loop before it has at hand may be moved into that loop, with its line. If another loop
 * stands between the two, the first one's range would hold the other.
 */
#include "analyze/code/loop_lines.h"
#include "analyze/code/origin.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

/* True when `inner` is `outer` or was inlined into it, at whatever depth. */
static bool scope_is_within(const struct unit *unit, uint32_t inner, uint32_t outer)
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

/* True when no statement begins in a block: the compiler made it, for what it moved onto the way that leads there. */
static bool is_made_up(const struct loop_context *c, uint32_t block)
{
    const struct graph_block *b = &c->graph->blocks.at[block];
    for (uint32_t i = b->first; i < b->first + b->n; i++)
        if (c->sources[i].is_statement || c->graph->insns.at[i].flow == FLOW_BRANCH)
            return false;
    return c->unit->marks_statements;
}

static void block_each_insn(const struct loop_context *c, uint32_t block, void (*visit)(void *state, uint32_t insn),
                            void *state)
{
    const struct graph_block *b = &c->graph->blocks.at[block];
    for (uint32_t i = 0; i < b->n; i++)
        visit(state, b->first + i);
}

/* Calls visit(state, instruction) for every instruction of the loop. */
static void loop_each_insn(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn),
                           void *state)
{
    const struct cfg_loop *l = &c->loops->at[loop];
    for (uint32_t b = 0; b < l->n_blocks; b++)
        block_each_insn(c, l->blocks[b], visit, state);
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

static uint32_t last_insn(const struct loop_context *c, uint32_t block)
{
    return c->graph->blocks.at[block].first + c->graph->blocks.at[block].n - 1;
}

static bool may_leave(const struct loop_context *c, uint32_t loop, uint32_t block)
{
    const struct cfg *cfg = &c->graph->cfg;
    for (uint32_t e = cfg->out_at[block]; e < cfg->out_at[block + 1]; e++)
        if (!cfg_loop_contains(c->loops, loop, cfg->edges.at[cfg->out[e]].to))
            return true;
    return false;
}

/*
 * Visits where it is decided to go on from `block`: at its end or, when it is made up, at the branches before it. If
 * the loop cannot be left from the block, it does something else, such as to look whether to enter the first loop
 * inside. Then it is where the loop could have been left right before.
 */
static void visit_decisions(const struct loop_context *c, uint32_t loop, uint32_t block,
                            void (*visit)(void *state, uint32_t insn), void *state)
{
    const struct cfg *cfg = &c->graph->cfg;
    bool is_decided_before = false, is_behind = block != c->loops->at[loop].head && is_made_up(c, block);
    bool is_other = !is_behind && !may_leave(c, loop, block);
    for (uint32_t e = cfg->in_at[block]; (is_behind || is_other) && e < cfg->in_at[block + 1]; e++) {
        uint32_t from = cfg->edges.at[cfg->in[e]].from, insn = last_insn(c, from);
        if (!cfg_loop_contains(c->loops, loop, from) || c->graph->insns.at[insn].flow != FLOW_BRANCH ||
            (is_other && (c->loops->order.is_retreating[cfg->in[e]] || !may_leave(c, loop, from))))
            continue;
        visit(state, insn);
        is_decided_before = true;
    }
    if (!is_decided_before)
        visit(state, last_insn(c, block));
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
        visit_decisions(c, loop, from, visit, state);
        any = true;
    }
    return any;
}

/*
 * Calls visit for the jumps that close the loop. Jumping into the middle of a loop saves a test, which compilers like.
 * Then the loop has several entries, and it is closed by the jumps backwards to any of them.
 */
static void loop_each_latch(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn),
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

static bool loop_has_address(const struct loop_context *c, uint32_t loop, uint64_t address)
{
    const struct cfg_loop *l = &c->loops->at[loop];
    const struct graph_block *blocks = c->graph->blocks.at;
    uint32_t lo = 0; /* block numbers rise with addresses */
    bisect(lo, l->n_blocks, blocks[l->blocks[lo]].hi <= address);
    return lo < l->n_blocks && blocks[l->blocks[lo]].lo <= address;
}

/*
 * The source of each instruction of a routine, as far as the debug information can be believed: rows left in force from
 * elsewhere are taken for nothing, and so are lines of a routine to which an instruction does not belong.
 */

/* Padding behind a jump leads nowhere. */
static bool is_fallen_into(const struct graph *graph, const struct graph_block *block)
{
    uint32_t before = block->first;
    while (before > 0 && graph->insns.at[before - 1].flow == FLOW_NOP)
        before--;
    return before == 0 || insn_falls_through(&graph->insns.at[before - 1]);
}

/*
 * If control does not fall into a block from the code before it, the line of that code means nothing for the block, but
 * stays in force until a statement begins. The compiler made up the instructions before that (a register saved around a
 * call), and they get no line.
 */
static bool has_stale_row(const struct unit *unit, const struct graph *graph, const struct graph_block *block,
                          const struct line_row *row)
{
    if (is_fallen_into(graph, block))
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
    const struct scope *scope = source->scope != SCOPE_NONE ? &unit->scopes.at[source->scope] : NULL;
    if (scope != NULL && scope->file == row->file && row->line < scope->line)
        return; /* the line of another routine, left in force */
    source->file = row->file;
    source->line = row->line;
    const struct line_row *r = row;
    for (; unit->marks_statements && r >= unit->rows && r->address == address && !source->is_statement; r--)
        source->is_statement = r->is_statement && r->line == row->line;
}

/* A line that code of an inlined copy has, and how many instructions have it there and elsewhere. */
struct line_owner {
    uint32_t scope, n_inside, n_outside;
};
struct line_owners {
    struct map at; /* by file and line: its number in `owners`, from 1 */
    VEC(struct line_owner) owners;
};

static uint64_t line_key(const struct insn_source *source)
{
    return key_pair(source->file, source->line);
}

static bool is_in_copy(const struct unit *unit, const struct insn_source *source)
{
    return source->line != 0 && source->scope != SCOPE_NONE && unit->scopes.at[source->scope].parent != SCOPE_NONE;
}

/* True when `copy` was inlined into `scope`, and not by a call on this line. */
static bool is_of_other_line(const struct unit *unit, uint32_t copy, uint32_t scope, const struct insn_source *source)
{
    if (copy == scope || !scope_is_within(unit, copy, scope) ||
        unit->scopes.at[copy].origin == unit->scopes.at[scope].origin)
        return false;
    for (; copy != scope; copy = unit->scopes.at[copy].parent)
        if (unit->scopes.at[copy].call_file == source->file && unit->scopes.at[copy].call_line == source->line)
            return false;
    return true;
}

/* True when the copied routine begins between the host's begin and this line, so that the line is not the host's. */
static bool begins_between(const struct unit *unit, uint32_t copy, uint32_t host, const struct insn_source *source)
{
    const struct scope *inner = &unit->scopes.at[copy], *outer = &unit->scopes.at[host];
    return inner->file == source->file && outer->file == source->file && outer->line < inner->line &&
           inner->line <= source->line;
}

static struct line_owner *owner_of(const struct line_owners *owners, const struct insn_source *source)
{
    const uint64_t *number = source->line != 0 ? map_get(&owners->at, line_key(source)) : NULL;
    return number != NULL ? &owners->owners.at[*number - 1] : NULL;
}

/*
 * Instructions made up by the vectoriser have the line of what they stand for, but not always its routine: such code of
 * an inlined copy seems to be the host's, on lines that the host does not have. It is the copy's; of several, that of
 * the code before it.
 */
static void give_lines_to_copies(const struct unit *unit, struct insn_source *sources, size_t n)
{
    struct line_owners owners = {0};
    for (size_t i = 0; i < n; i++) {
        bool is_new = false;
        uint64_t *number = is_in_copy(unit, &sources[i]) ? map_put(&owners.at, line_key(&sources[i]), &is_new) : NULL;
        if (!is_new)
            continue;
        *vec_push(&owners.owners) = (struct line_owner){.scope = sources[i].scope};
        *number = owners.owners.n;
    }
    for (size_t i = 0; i < n && owners.owners.n; i++) {
        struct line_owner *owner = owner_of(&owners, &sources[i]);
        if (owner != NULL)
            *(is_in_copy(unit, &sources[i]) ? &owner->n_inside : &owner->n_outside) += 1;
    }
    for (size_t i = 0; i < n && owners.owners.n; i++) {
        struct line_owner *owner = owner_of(&owners, &sources[i]);
        if (owner == NULL || sources[i].scope == SCOPE_NONE)
            continue;
        if (is_in_copy(unit, &sources[i]))
            owner->scope = sources[i].scope;
        else if ((owner->n_inside > owner->n_outside ||
                  begins_between(unit, owner->scope, sources[i].scope, &sources[i])) &&
                 is_of_other_line(unit, owner->scope, sources[i].scope, &sources[i]))
            sources[i].scope = owner->scope;
    }
    map_release(&owners.at);
    vec_release(&owners.owners);
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
    give_lines_to_copies(unit, sources, graph->insns.n);
    return sources;
}

/*
 * The home of a loop: the innermost routine or inlined copy that holds the jumps closing it, and that was not itself
 * inlined *into* the loop. A copy that was inlined into the loop is entered in it, or leaves statements of it to the
 * routine around (the comparison of two iterators closes many loops of C++ and is home to none).
 *
 * A home in a system header is left for the routine that called it: users look for std::transform where they wrote it.
 */

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

/* False where another copy of the routine begins. It may be inlined into itself. */
static bool may_begin(const struct unit *unit, uint32_t routine, uint64_t address)
{
    uint32_t scope = debug_scope_at(unit, address);
    while (scope != SCOPE_NONE && unit->scopes.at[scope].origin != unit->scopes.at[routine].origin)
        scope = unit->scopes.at[scope].parent;
    return scope == SCOPE_NONE || scope == routine;
}

/*
 * True when a statement row for the first line of a routine lies in the loop. Then the loop calls it. Not asked at the
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
    /* Without blocks that the compiler made for what it moved onto a way (or a counter), whose lines say nothing. */
    const struct cfg_loop *l = &c->loops->at[loop];
    for (uint32_t b = 0; b < l->n_blocks; b++)
        if (!is_made_up(c, l->blocks[b]))
            block_each_insn(c, l->blocks[b], count_inside, &search);
    if (search.n_statements > 0 || search.n_inside * 100 < search.n * LOOP_HOME_PERCENT ||
        begins_in_loop(c, loop, scope))
        return false;
    if (s->entry == 0 && !(loop_has_address(c, loop, s->lo) && loop_has_address(c, loop, s->hi - 1)))
        return true;
    /* Entered where the loop begins, or who knows where: by the loop, if that does any of the going round. */
    if (s->entry == 0 || s->entry == c->graph->blocks.at[l->head].lo)
        return search.n_ways == 0;
    return !loop_has_address(c, loop, s->entry);
}

/* The routine or inlined copy in whose source the loop stands; SCOPE_NONE = unknown. */
static uint32_t loop_find_home(const struct loop_context *c, uint32_t loop)
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

/* The body of a lambda that is an argument of the call stands with the call, although it is a routine of its own. If
 * the home itself calls it, it was an argument of another call, that of the home. */
static bool is_argument(const struct line_search *search, const struct insn_source *source, uint32_t call_line)
{
    const struct loop_context *c = search->c;
    if (source->scope == search->scope || c->unit->scopes.at[source->scope].parent == search->scope ||
        source->file != search->file || source->line <= call_line || source->line > call_line + LOOP_NEAR_LINES)
        return false;
    const char *name = debug_scope_name(c->debug, c->unit, source->scope);
    size_t n = name != NULL ? strlen(name) : 0;
    return n > 0 && (strcmp(name, "lambda") == 0 || (n >= 10 && strcmp(name + n - 10, "operator()") == 0));
}

static void collect_line(void *state, uint32_t insn)
{
    struct line_search *search = state;
    const struct insn_source *source = &search->c->sources[insn];
    uint32_t file, line;
    /* Code without a line was not inlined with the code around it either. */
    if (source->line == 0 || !source_in_scope(search->c->unit, search->scope, source, &file, &line) ||
        file != search->file)
        return;
    struct line_use *use = vec_push(&search->lines);
    use->line = is_argument(search, source, line) ? source->line : line;
    use->n_insns = 1;
    uint8_t flow = search->c->graph->insns.at[insn].flow;
    use->is_firm = source->is_statement || flow == FLOW_BRANCH || flow == FLOW_CALL || flow == FLOW_INDIRECT_CALL;
}

/* Sums up the uses of each line. */
static void sum_lines(struct line_search *search)
{
    size_t kept = 0;
    search->n_insns = search->lines.n;
    vec_sort(&search->lines, key_order_u32);
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
                use = bsearch(&key, search->lines.at, search->lines.n, sizeof key, key_order_u32);
            if (use != NULL)
                use->is_firm = true;
        }
    }
}

/* The number of the line where the range begins (step -1) or ends (+1), walking from number `at`. */
static size_t walk_lines(const struct line_search *search, size_t at, int step)
{
    const struct line_use *lines = search->lines.at;
    size_t few = search->n_insns * LOOP_STRAY_PERCENT / 100 > 2 ? search->n_insns * LOOP_STRAY_PERCENT / 100 : 2;
    size_t n_left = 0;
    for (size_t i = at + (size_t)step; i < search->lines.n; i += (size_t)step)
        n_left += lines[i].n_insns;
    for (size_t next = at + (size_t)step; next < search->lines.n; next += (size_t)step) {
        uint32_t gap = step > 0 ? lines[next].line - lines[at].line : lines[at].line - lines[next].line;
        if (gap > (step > 0 ? LOOP_NEAR_LINES : LOOP_STRAY_ABOVE) && n_left <= few)
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

/* On these lines a routine begins, and no loop does: its name, and its opening brace, whose line a compiler gives to
 * what it makes up (how often an unrolled loop still has to go). */
struct line_range {
    uint32_t first, last;
};

static struct line_range routine_begin(const struct loop_context *c, uint32_t scope)
{
    const struct unit *unit = c->unit;
    const struct scope *s = scope != SCOPE_NONE ? &unit->scopes.at[scope] : NULL;
    if (s == NULL || s->line == 0)
        return (struct line_range){0, 0};
    Dwarf_Die die = s->die;
    Dwarf_Addr entry = 0;
    bool is_entered = s->parent == SCOPE_NONE && dwarf_entrypc(&die, &entry) == 0;
    entry += c->debug->bias;
    /* The first row there: statements whose instructions were moved away have others at the same address. */
    size_t first = is_entered ? debug_row_from(unit, entry) : unit->n_rows;
    const struct line_row *row = first < unit->n_rows ? &unit->rows[first] : NULL;
    bool is_below = row != NULL && row->address == entry && row->file == s->file && row->line > s->line;
    return (struct line_range){s->line, is_below ? row->line : s->line};
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
    /* Drops the lines that do not belong to the loop, the closing one excepted. */
    size_t kept = 0, n_above = 0;
    struct line_range begin = routine_begin(c, search.scope);
    for (size_t i = 0; i < search.lines.n && search.lines.at[i].line < search.head_line; i++)
        n_above += search.lines.at[i].n_insns;
    for (size_t i = 0; i < search.lines.n; i++) {
        const struct line_use *use = &search.lines.at[i];
        if (use->line != search.head_line && use->line >= begin.first && use->line <= begin.last)
            continue;
        /* If statements are not marked: all lines below the closing one, and those above it when they are many. */
        bool is_unmarked = search.n_statements == 0 &&
                           (use->line > search.head_line || n_above * 100 >= search.n_insns * LOOP_FIRM_PERCENT);
        if (use->is_firm || use->line == search.head_line || is_unmarked ||
            use->n_insns * 100 >= search.n_insns * LOOP_FIRM_PERCENT)
            search.lines.at[kept++] = *use;
    }
    search.lines.n = kept;
    source.file = search.file;
    source.head_line = search.head_line;
    source.lines = arena_array(c->arena, uint32_t, search.lines.n);
    for (; source.n_lines < search.lines.n; source.n_lines++)
        source.lines[source.n_lines] = search.lines.at[source.n_lines].line;
    set_range(&search, loop, &source);
    vec_release(&search.lines);
    return source;
}

static bool has_line(const struct loop_source *source, uint32_t line)
{
    return source->n_lines && bsearch(&line, source->lines, source->n_lines, sizeof line, key_order_u32);
}

static bool shares_line(const struct loop_source *a, const struct loop_source *b)
{
    bool shares = a->head_line == b->head_line;
    for (uint32_t i = 0; i < b->n_lines && !shares; i++)
        shares = has_line(a, b->lines[i]);
    return shares;
}

/* The blocks that control may come to behind `behind`, without another round of the loop around both, nor `loop`. */
static bool *blocks_behind(const struct loop_context *c, uint32_t loop, uint32_t behind, struct arena *scratch)
{
    const struct cfg *cfg = &c->graph->cfg;
    uint32_t around = c->loops->at[loop].parent, n_open = 0;
    bool *is_behind = arena_array(scratch, bool, cfg->n_blocks);
    uint32_t *open = arena_array(scratch, uint32_t, cfg->n_blocks);
    is_behind[open[n_open++] = c->loops->at[behind].head] = true;
    while (n_open) {
        uint32_t at = open[--n_open];
        for (uint32_t i = cfg->out_at[at]; i < cfg->out_at[at + 1]; i++) {
            uint32_t to = cfg->edges.at[cfg->out[i]].to;
            bool is_outside =
                around != CFG_NONE && (to == c->loops->at[around].head || !cfg_loop_contains(c->loops, around, to));
            if (is_behind[to] || is_outside || cfg_loop_contains(c->loops, loop, to))
                continue;
            is_behind[open[n_open++] = to] = true;
        }
    }
    return is_behind;
}

/* What the loop has of lines below the other loop also comes behind that, where those lines belong. */
static bool are_moved(const struct loop_context *c, const struct loop_source *of, uint32_t loop, uint32_t behind)
{
    struct arena scratch = {0};
    const bool *is_behind = blocks_behind(c, loop, behind, &scratch);
    bool *is_there = arena_array(&scratch, bool, of[loop].n_lines);
    for (uint32_t b = 0; b < c->graph->blocks.n; b++) {
        const struct graph_block *block = &c->graph->blocks.at[b];
        for (uint32_t i = block->first; is_behind[b] && i < block->first + block->n; i++) {
            uint32_t file, line;
            if (!source_in_scope(c->unit, of[loop].scope, &c->sources[i], &file, &line) || file != of[loop].file)
                continue;
            for (uint32_t k = 0; k < of[loop].n_lines; k++)
                is_there[k] |= of[loop].lines[k] == line;
        }
    }
    bool are_moved = true;
    for (uint32_t k = 0; k < of[loop].n_lines; k++)
        are_moved &= of[loop].lines[k] <= of[behind].line_last || is_there[k];
    arena_release(&scratch);
    return are_moved;
}

/* The loop's range holds that of another, side by side with it, behind the line that closes it. */
static bool holds(const struct loop_context *c, const struct loop_source *of, uint32_t loop, uint32_t other)
{
    const struct loop_source *a = &of[loop], *b = &of[other];
    return loop != other && c->loops->at[loop].parent == c->loops->at[other].parent && a->file == b->file &&
           a->scope == b->scope && a->file != INTERN_NONE && a->head_line < b->line_first &&
           a->line_last > b->line_last && !shares_line(a, b);
}

void loop_sources_part(const struct loop_context *c, struct loop_source *of)
{
    for (uint32_t a = 0; a < c->loops->n; a++)
        for (uint32_t b = 0; b < c->loops->n && of[a].line_last > of[a].head_line; b++) {
            if (!holds(c, of, a, b) || !are_moved(c, of, a, b))
                continue;
            uint32_t last = of[a].head_line;
            for (uint32_t k = 0; k < of[a].n_lines && of[a].lines[k] < of[b].line_first; k++)
                last = of[a].lines[k] > last ? of[a].lines[k] : last;
            of[a].line_last = last;
        }
}
