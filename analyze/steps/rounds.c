/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/rounds.h"

enum { NESTED_MOST = 32 }; /* loops around an address */

static void add_loops(struct rounds *rounds, const struct context *at)
{
    struct code *code = rounds->sites->code;
    uint32_t places[NESTED_MOST];
    if (!code || at->module == TRACE_NONE || code_module_is_runtime(code, at->module))
        return;
    uint32_t n = code_loops_at(code, at->module, trace_code_address(at->address, at->is_return), places, NESTED_MOST);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t key[] = {at->parent, places[i]};
        *vec_push(&rounds->around) = intern_put(&rounds->loops, key, sizeof key);
    }
}

void rounds_begin(struct rounds *rounds, const struct sites *sites)
{
    *rounds = (struct rounds){.sites = sites};
    for (uint32_t site = 0; site < sites->sites.n; site++) {
        *vec_push(&rounds->begins) = (uint32_t)rounds->around.n;
        for (uint32_t at = sites_at(sites, site)->context; at != TRACE_NONE; at = sites_context_at(sites, at)->parent)
            add_loops(rounds, sites_context_at(sites, at));
    }
    *vec_push(&rounds->begins) = (uint32_t)rounds->around.n;
}

void rounds_release(struct rounds *rounds)
{
    intern_release(&rounds->loops);
    vec_release(&rounds->around);
    vec_release(&rounds->begins);
}

uint32_t rounds_innermost(const struct rounds *rounds, uint32_t site)
{
    uint32_t begin = rounds->begins.at[site];
    return begin < rounds->begins.at[site + 1] ? rounds->around.at[begin] : TRACE_NONE;
}

size_t rounds_left(const struct rounds *rounds, uint32_t from, uint32_t to, const uint32_t **loops)
{
    const uint32_t *begin = rounds->around.at + rounds->begins.at[from],
                   *end = rounds->around.at + rounds->begins.at[from + 1];
    const uint32_t *other_begin = rounds->around.at + rounds->begins.at[to];
    const uint32_t *other = rounds->around.at + rounds->begins.at[to + 1];
    *loops = begin;
    while (end > begin && other > other_begin && end[-1] == other[-1]) {
        end--;
        other--;
    }
    return (size_t)(end - begin);
}
