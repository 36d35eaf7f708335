/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over the instructions of a loop. */
#include "analyze/code/loop_parts.h"
#include "wrap/base/keys.h"
#include <string.h>

bool scope_is_within(const struct unit *unit, uint32_t inner, uint32_t outer)
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

void loop_each_insn(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn), void *state)
{
    const struct cfg_loop *l = &c->loops->at[loop];
    for (uint32_t b = 0; b < l->n_blocks; b++)
        block_each_insn(c, l->blocks[b], visit, state);
}

void loop_each_own_insn(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn),
                        void *state)
{
    const struct cfg_loop *l = &c->loops->at[loop];
    for (uint32_t b = 0; b < l->n_blocks; b++)
        if (!is_made_up(c, l->blocks[b]))
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

/* Visits where it is decided to go on from `block`: at its end or, when it is made up, at the branches before it. */
static void visit_decisions(const struct loop_context *c, uint32_t loop, uint32_t block,
                            void (*visit)(void *state, uint32_t insn), void *state)
{
    const struct cfg *cfg = &c->graph->cfg;
    bool is_decided_before = false, may_be = block != c->loops->at[loop].head && is_made_up(c, block);
    for (uint32_t e = cfg->in_at[block]; may_be && e < cfg->in_at[block + 1]; e++) {
        uint32_t from = cfg->edges.at[cfg->in[e]].from, insn = last_insn(c, from);
        if (!cfg_loop_contains(c->loops, loop, from) || c->graph->insns.at[insn].flow != FLOW_BRANCH)
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
 * Calls visit for the jumps that close the loop. Jumping into the middle of a loop saves a test, which compilers like:
 * then the loop has several entries, and it is closed by the jumps backwards to any of them.
 */
void loop_each_latch(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn),
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

bool loop_has_address(const struct loop_context *c, uint32_t loop, uint64_t address)
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
 * What each instruction of a routine is in the source, as far as the debug information can be believed: rows left in
 * force from elsewhere are taken for nothing, and so are lines of a routine to which an instruction does not belong.
 */

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

static struct line_owner *owner_of(const struct line_owners *owners, const struct insn_source *source)
{
    const uint64_t *number = source->line != 0 ? map_get(&owners->at, line_key(source)) : NULL;
    return number != NULL ? &owners->owners.at[*number - 1] : NULL;
}

/*
 * What the vectoriser makes up has the line of what it stands for, but not always its routine: such code of an inlined
 * copy seems to be the host's, on lines that the host does not have. It is the copy's; of several, that of the code
 * before it.
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
        else if (owner->n_inside > owner->n_outside &&
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
