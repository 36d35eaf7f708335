/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/rounds.h"

enum { NESTED_MOST = 32 }; /* loops around an address */

/* The innermost loop around a context, of its own routine or of one that called it; TRACE_NONE. */
static uint32_t innermost_around(struct rounds *rounds, const struct sites *sites, uint32_t context)
{
    if (context == TRACE_NONE)
        return TRACE_NONE;
    const struct context *at = sites_context_at(sites, context);
    uint32_t loop = innermost_around(rounds, sites, at->parent);
    struct code *code = sites->code;
    if (!code || at->module == TRACE_NONE || code_module_is_runtime(code, at->module))
        return loop;
    uint32_t places[NESTED_MOST];
    uint32_t n = code_loops_at(code, at->module, trace_code_address(at->address, at->is_return), places, NESTED_MOST);
    while (n > 0) {
        uint32_t key[] = {loop, at->parent, places[--n]}, outer = loop;
        loop = intern_put(&rounds->loops, key, sizeof key);
        if (loop == rounds->outer.n)
            *vec_push(&rounds->outer) = outer;
    }
    return loop;
}

void rounds_begin(struct rounds *rounds, const struct sites *sites)
{
    *rounds = (struct rounds){0};
    for (uint32_t site = 0; site < sites->sites.n; site++)
        *vec_push(&rounds->innermost) = innermost_around(rounds, sites, sites_at(sites, site)->context);
}

void rounds_release(struct rounds *rounds)
{
    intern_release(&rounds->loops);
    vec_release(&rounds->outer);
    vec_release(&rounds->innermost);
}

bool rounds_is_around(const struct rounds *rounds, uint32_t loop, uint32_t inner)
{
    if (loop == TRACE_NONE)
        return true;
    while (inner != TRACE_NONE && inner > loop)
        inner = rounds->outer.at[inner];
    return inner == loop;
}
