// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loop nests without calls, for the plugins of all compilers: an edge inside one may be counted in a variable.
 * `is_free`: by loop, true when nothing is called in it.
 */
#pragma once
extern "C" {
#include "wrap/flow/cfg.h"
}
#include <vector>

/* The outermost loop around this one, or the loop itself, that calls nothing; or null. */
inline const cfg_loop *nest_around(const cfg_loops &loops, const std::vector<bool> &is_free, uint32_t loop)
{
    const cfg_loop *nest = nullptr;
    for (; loop != CFG_NONE; loop = loops.at[loop].parent)
        if (is_free[loop])
            nest = &loops.at[loop];
    return nest;
}

/* That around the innermost loop in which the edge stays; or null. */
inline const cfg_loop *nest_around_edge(const cfg_loops &loops, const std::vector<bool> &is_free, const cfg_edge &ends)
{
    uint32_t loop = loops.innermost[ends.from];
    while (loop != CFG_NONE && !cfg_loop_contains(&loops, loop, ends.to))
        loop = loops.at[loop].parent;
    return nest_around(loops, is_free, loop);
}
