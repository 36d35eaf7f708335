/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/counts/turns.h"
#include <string.h>

enum { CONDITIONS_MOST = 16 }; /* blocks behind each other */

static bool leads_to(const struct cfg *cfg, uint32_t from, uint32_t to)
{
    for (uint32_t i = cfg->out_at[from]; i < cfg->out_at[from + 1]; i++)
        if (cfg->edges.at[cfg->out[i]].to == to)
            return true;
    return false;
}

static bool calls_anything(const struct counts_function *function, uint32_t block)
{
    for (uint32_t i = 0; i < function->n_addresses; i++)
        if (function->addresses[i].block == block && function->addresses[i].what != POINTS_CODE)
            return true;
    return false;
}

static bool is_of_line(const struct counts_block *block, const struct counts_line *line)
{
    for (uint32_t i = 0; i < block->n_lines; i++)
        if (block->lines[i].line != line->line || strcmp(block->lines[i].file, line->file) != 0)
            return false;
    return true;
}

/* All ways to it in the loop come over such blocks. */
static bool is_asking(const struct counts_function *function, uint32_t loop, uint32_t block, unsigned depth)
{
    const struct cfg *cfg = &function->cfg;
    uint32_t head = function->loops.at[loop].head;
    const struct counts_block *first = &function->blocks[head];
    if (depth == CONDITIONS_MOST || function->blocks[block].loop != loop || !first->n_lines ||
        !is_of_line(&function->blocks[block], first->lines) || leads_to(cfg, block, head) ||
        calls_anything(function, block))
        return false;
    for (uint32_t i = cfg->in_at[block]; block != head && i < cfg->in_at[block + 1]; i++)
        if (!is_asking(function, loop, cfg->edges.at[cfg->in[i]].from, depth + 1))
            return false;
    return true;
}

bool turns_asks(const struct counts_function *function, uint32_t loop, uint32_t block)
{
    if (loop >= function->loops.n)
        return false;
    const struct cfg_loop *at = &function->loops.at[loop];
    bool may_end = false;
    for (uint32_t i = 0; i < at->n_exits && !at->is_irreducible; i++) {
        uint32_t from = function->cfg.edges.at[at->exits[i]].from;
        if (leads_to(&function->cfg, from, at->head))
            return false;
        may_end |= is_asking(function, loop, from, 0);
    }
    return may_end && is_asking(function, loop, block, 0);
}
