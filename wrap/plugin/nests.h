// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loop nests without calls, for the plugins of all compilers: an edge inside one may be counted in a variable.
 * `is_free`: by loop, true when nothing is called in it.
 */
#pragma once
extern "C" {
#include "wrap/flow/cfg.h"
#include "wrap/points.h"
}
#include <algorithm>
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

/* Every exit of a nest adds each of its variables to a word. With more of these additions than MOST_ADDITIONS the code
 * would grow by the square of the loop's size. */
enum { MOST_ADDITIONS = 256 };

/* By edge with a counter, the nest in a variable of which it is counted; null = in memory. `nest_of`: that in which an
 * edge lies, or null. If there is no room for all, the dearest have it. */
template <typename F>
std::vector<const cfg_loop *> choose_nests(const cfg_loops &loops, const std::vector<uint32_t> &counter,
                                           const double *costs, F nest_of)
{
    std::vector<const cfg_loop *> nests(counter.size());
    std::vector<uint64_t> n_additions(loops.n);
    std::vector<uint32_t> by_cost;
    for (uint32_t e = 0; e < counter.size(); e++)
        if (counter[e] != POINTS_NONE)
            by_cost.push_back(e);
    std::stable_sort(by_cost.begin(), by_cost.end(), [&](uint32_t a, uint32_t b) { return costs[a] > costs[b]; });
    for (uint32_t e : by_cost) {
        const cfg_loop *nest = nest_of(e);
        if (nest && (n_additions[(size_t)(nest - loops.at)] += nest->n_exits) <= MOST_ADDITIONS)
            nests[e] = nest;
    }
    return nests;
}
