/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each instruction of a routine is in the source, as far as the debug information can be believed: rows left in
 * force from elsewhere are taken for nothing, and so are lines of a routine to which an instruction does not belong.
 */
#include "analyze/code/loop_parts.h"

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
    return (uint64_t)source->file << 32 | source->line;
}

static bool is_in_copy(const struct unit *unit, const struct insn_source *source)
{
    return source->line != 0 && source->scope != SCOPE_NONE && unit->scopes.at[source->scope].parent != SCOPE_NONE;
}

static void owners_note(struct line_owners *owners, const struct unit *unit, const struct insn_source *source)
{
    bool is_new;
    if (!is_in_copy(unit, source))
        return;
    uint64_t *number = map_put(&owners->at, line_key(source), &is_new);
    if (is_new) {
        *vec_push(&owners->owners) = (struct line_owner){.scope = source->scope};
        *number = owners->owners.n;
    }
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
    for (size_t i = 0; i < n; i++)
        owners_note(&owners, unit, &sources[i]);
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
