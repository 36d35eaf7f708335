/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over the instructions of a loop. */
#include "analyze/code/loop_parts.h"

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
