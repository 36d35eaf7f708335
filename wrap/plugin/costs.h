/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The costs of counting, which depend on the loops: decided in costs.cc for place.cc, which carries it out.
 */
#pragma once
#include "routine.h"
#include "nests.h"

struct loop_facts {
    cfg_loops loops{};
    std::vector<bool> is_quiet; /* the thread cannot synchronise in it, and every way in and out can carry code */
    std::vector<bool> is_free;  /* quiet, and without calls, around which registers would have to be saved */
    std::vector<bool> is_flat;  /* the function does not call itself in it */
    std::vector<struct trips> trips;
};

loop_facts know_loops(routine &r, const options &options);

/* The quiet loop that tells its iterations, when the edge is its way back; or CFG_NONE. */
uint32_t telling_loop(const routine &r, const loop_facts &facts, uint32_t edge);

/* The loop whose only way back this edge is, when counting its head in a variable instead saves a jump; or null. One is
 * taken off then for every entry into the loop. */
const cfg_loop *head_to_count(const routine &r, const cfg_loops &loops, uint32_t edge);

/* By edge: what a counter on it costs. In r's arena. */
double *counter_costs(routine &r, const loop_facts &facts, const options &options);

/* The nest in a variable of which the edge can be counted, or null. A loop's own number is added around it. */
const cfg_loop *nest_of(const routine &r, const loop_facts &facts, uint32_t edge);

/* Calls act(edge) for the edges into a loop's head from outside. */
template <typename F> void each_entry(const routine &r, const cfg_loops &loops, const cfg_loop &loop, F act)
{
    for (uint32_t i = r.graph.in_at[loop.head]; i < r.graph.in_at[loop.head + 1]; i++)
        if (!cfg_loop_contains(&loops, (uint32_t)(&loop - loops.at), r.graph.edges.at[r.graph.in[i]].from))
            act(r.places[r.graph.in[i]].on);
}
