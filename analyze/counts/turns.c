/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/counts/turns.h"
#include "wrap/base/containers.h"
#include <string.h>

static bool is_of_line(const struct counts_block *block, const struct counts_line *line)
{
    for (uint32_t i = 0; i < block->n_lines; i++)
        if (block->lines[i].line != line->line || strcmp(block->lines[i].file, line->file) != 0)
            return false;
    return true;
}

/* True where the loop may end in a block from which it also goes back. */
static bool asks_last(const struct counts_function *function, const struct cfg_loop *loop)
{
    for (uint32_t i = 0; i < loop->n_exits; i++)
        if (cfg_leads_to(&function->cfg, function->cfg.edges.at[loop->exits[i]].from, loop->head))
            return true;
    return false;
}

/* Blocks that do no more than ask; then only those that all ways in the loop reach over such blocks. */
static void mark(const struct counts_function *function, uint32_t loop, bool *asks)
{
    const struct cfg *cfg = &function->cfg;
    const struct cfg_order *order = &function->loops.order;
    uint32_t head = function->loops.at[loop].head;
    const struct counts_line *line = function->blocks[head].lines;
    for (uint32_t i = 0; i < order->n; i++) {
        uint32_t block = order->topological[i];
        if (function->blocks[block].loop == loop)
            asks[block] = is_of_line(&function->blocks[block], line) && !cfg_leads_to(cfg, block, head);
    }
    for (uint32_t i = 0; i < function->n_addresses; i++) {
        const struct points_address *at = &function->addresses[i];
        if (at->what != POINTS_CODE && function->blocks[at->block].loop == loop)
            asks[at->block] = false; /* it calls */
    }
    for (uint32_t i = 0; i < order->n; i++) {
        uint32_t block = order->topological[i];
        for (uint32_t k = cfg->in_at[block]; asks[block] && block != head && k < cfg->in_at[block + 1]; k++) {
            uint32_t from = cfg->edges.at[cfg->in[k]].from;
            if (function->blocks[block].loop == loop)
                asks[block] = asks[from] && function->blocks[from].loop == loop;
        }
    }
}

void turns_find_asking(const struct counts_function *function, uint32_t loop, bool *asks)
{
    const struct cfg_loop *at = &function->loops.at[loop];
    bool may_end = false;
    if (!at->n_exits || at->is_irreducible || !function->blocks[at->head].n_lines || asks_last(function, at))
        return;
    mark(function, loop, asks);
    for (uint32_t i = 0; i < at->n_exits; i++)
        may_end |= asks[function->cfg.edges.at[at->exits[i]].from];
    for (uint32_t i = 0; i < at->n_blocks && !may_end; i++)
        if (function->blocks[at->blocks[i]].loop == loop)
            asks[at->blocks[i]] = false;
}
