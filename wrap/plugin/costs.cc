// SPDX-License-Identifier: BSD-3-Clause
/*
 * The cheapest places for counters. An edge is as dear as it is executed often, by Ball and Larus's weights. There are
 * three exceptions.
 *
 * Blocks of their own: an edge that can only be counted in such a block costs a jump as well, and weighs double. Such
 * are edges from a block with several ways out to one with several ways in, and those out of an empty block. But where
 * the edge is the only way back in a loop, its head is counted instead. If a constant is chosen on it, there is such a
 * block anyway. If only a return follows, the compiler repeats that rather than jump to it.
 *
 * Choices: one between two values costs as much as the block that chooses (computed.cc).
 *
 * Loops that tell their iterations: as much as entering the loop (computed.cc), if no call in it can end an interval
 * (calls.cc).
 *
 * Counters in loops live in variables, as far out as no call lies in the loop: around a call a variable would have to
 * be saved, in each recursion anew, where memory costs no more than one addition.
 */
#include "costs.h"
#include <algorithm>

namespace
{

bool all_calls(const routine &r, const cfg_loop &loop, bool fits(const gimple *call))
{
    for (uint32_t i = 0; i < loop.n_blocks; i++) {
        basic_block block = r.blocks[loop.blocks[i]];
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
            if (is_gimple_call(gsi_stmt(at)) && !fits(gsi_stmt(at)))
                return false;
    }
    return true;
}

bool loop_is_quiet(const routine &r, const cfg_loop &loop)
{
    if (loop.is_irreducible || !loop.n_exits || !all_calls(r, loop, call_is_harmless))
        return false;
    for (uint32_t i = 0; i < loop.n_exits; i++)
        if (!r.places[loop.exits[i]].on)
            return false;
    for (uint32_t i = r.graph.in_at[loop.head]; i < r.graph.in_at[loop.head + 1]; i++)
        if (!r.places[r.graph.in[i]].on)
            return false;
    return true;
}

/* It will be a few instructions and no call. */
bool call_is_cheap(const gimple *call)
{
    return gimple_call_internal_p(call) || is_inexpensive_builtin(gimple_call_fndecl(call));
}

/* A block that does nothing and to which several lead: the compiler has them jump to where it leads. */
bool is_forwarder(basic_block block)
{
    return !single_pred_p(block) && single_succ_p(block) && empty_block_p(block);
}

/* A value that is chosen on this edge is a constant, which is loaded in a block of the edge's own. */
bool loads_constant(edge e)
{
    for (gphi_iterator at = gsi_start_phis(e->dest); !gsi_end_p(at); gsi_next(&at))
        if (is_gimple_min_invariant(PHI_ARG_DEF_FROM_EDGE(at.phi(), e)))
            return true;
    return false;
}

/* Counting on this edge takes a block that would not be there otherwise. */
bool takes_block(const place &where)
{
    edge e = where.on;
    if (!e)
        return false;
    if (is_forwarder(e->src))
        return true;
    return !single_succ_p(e->src) && !single_pred_p(e->dest) && !loads_constant(e);
}

/* Counted in a block of its own, from which a jump leads on. */
bool needs_jump(const routine &r, const loop_facts &facts, uint32_t edge)
{
    tree value;
    if (!takes_block(r.places[edge]) || edge_returns(r.places[edge].on, &value))
        return false;
    return !nest_of(r, facts, edge) || !head_to_count(r, facts.loops, edge);
}

/* The executions of a block, as far as the weights of its ways out show. */
double block_weight(const routine &r, const double *weights, uint32_t block)
{
    double sum = 0;
    for (uint32_t i = r.graph.out_at[block]; i < r.graph.out_at[block + 1]; i++)
        sum += weights[r.graph.out[i]];
    return sum;
}

/* The entries of a loop, likewise. */
double entry_weight(const routine &r, const cfg_loops &loops, const double *weights, uint32_t loop)
{
    double sum = 0;
    uint32_t head = loops.at[loop].head;
    for (uint32_t i = r.graph.in_at[head]; i < r.graph.in_at[head + 1]; i++)
        if (!cfg_loop_contains(&loops, loop, r.graph.edges.at[r.graph.in[i]].from))
            sum += weights[r.graph.in[i]];
    return sum;
}

/* The flow block that ends with the condition, looked for from the edge backwards. */
uint32_t block_of_condition(const routine &r, uint32_t edge, const gcond *condition)
{
    uint32_t block = r.graph.edges.at[edge].from;
    if (r.blocks[block] != gimple_bb(condition))
        block = r.graph.edges.at[r.graph.in[r.graph.in_at[block]]].from;
    return block;
}

double cost_of(const routine &r, const loop_facts &facts, const double *weights, uint32_t edge)
{
    uint32_t telling = telling_loop(r, facts, edge);
    if (telling != CFG_NONE)
        return entry_weight(r, facts.loops, weights, facts.trips[telling].at);
    arm arm = r.places[edge].on ? routine_find_arm(r.places[edge].on) : ::arm{};
    if (arm.condition)
        return block_weight(r, weights, block_of_condition(r, edge, arm.condition));
    return needs_jump(r, facts, edge) ? 2 * weights[edge] : weights[edge];
}

bool call_is_of_another(const gimple *call)
{
    return gimple_call_fndecl(call) != cfun->decl;
}

/* The loop's number needs a value from before it, which every recursion would have to save. */
bool keeps_a_value(const trips &trips)
{
    return trips.kind == trips::AT_EXIT && TREE_CODE(trips.base) == SSA_NAME;
}

bool loop_tells(const loop_facts &facts, uint32_t loop)
{
    const trips &trips = facts.trips[loop];
    return facts.is_quiet[loop] && trips.kind != trips::UNKNOWN && (facts.is_flat[loop] || !keeps_a_value(trips));
}

} // namespace

loop_facts know_loops(routine &r, const options &options)
{
    loop_facts facts;
    facts.loops = cfg_find_loops(&r.graph);
    facts.trips.resize(facts.loops.n);
    for (uint32_t l = 0; l < facts.loops.n; l++) {
        facts.is_quiet.push_back(options.promote && loop_is_quiet(r, facts.loops.at[l]));
        facts.is_free.push_back(facts.is_quiet[l] && all_calls(r, facts.loops.at[l], call_is_cheap));
        facts.is_flat.push_back(all_calls(r, facts.loops.at[l], call_is_of_another));
    }
    if (options.promote && options.trips)
        facts.trips = routine_find_trips(r, facts.loops, facts.is_quiet);
    return facts;
}

uint32_t telling_loop(const routine &r, const loop_facts &facts, uint32_t e)
{
    uint32_t head = r.graph.edges.at[e].to, l = facts.loops.innermost[head];
    bool is_way_back = l != CFG_NONE && facts.loops.at[l].head == head && facts.loops.order.is_retreating[e];
    return is_way_back && loop_tells(facts, l) ? l : (uint32_t)CFG_NONE;
}

const cfg_loop *head_to_count(const routine &r, const cfg_loops &loops, uint32_t e)
{
    uint32_t head = r.graph.edges.at[e].to, l = loops.innermost[head];
    if (!takes_block(r.places[e]) || !loops.order.is_retreating[e] || l == CFG_NONE)
        return nullptr;
    const cfg_loop &loop = loops.at[l];
    if (loop.head != head || loop.is_irreducible || loop.n_back_edges != 1)
        return nullptr;
    bool is_open = true;
    each_entry(r, loops, loop, [&](edge each) { is_open &= each != nullptr; });
    return is_open ? &loop : nullptr;
}

const cfg_loop *nest_of(const routine &r, const loop_facts &facts, uint32_t e)
{
    uint32_t telling = telling_loop(r, facts, e);
    if (telling == CFG_NONE)
        return nest_around_edge(facts.loops, facts.is_free, r.graph.edges.at[e]);
    return nest_around(facts.loops, facts.is_free, facts.loops.at[facts.trips[telling].at].parent);
}

double *counter_costs(routine &r, const loop_facts &facts, const options &options)
{
    std::vector<unsigned char> is_counting;
    for (const trips &each : facts.trips)
        is_counting.push_back(each.kind != trips::UNKNOWN);
    double *weights = knuth_weights(&r.graph, &facts.loops, is_counting.data());
    if (options.from)
        measured_weigh(options.from, routine_symbol(r.decl), &r.graph, weights);
    double *costs = arena_array(&r.graph.arena, double, r.places.size());
    for (uint32_t e = 0; e < r.places.size(); e++)
        costs[e] = cost_of(r, facts, weights, e);
    return costs;
}
