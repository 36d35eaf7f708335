// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that need no counter. If all callers of a function stand in its unit and are counted, its calls are the sum of
 * what its call sites execute, and the function itself needs one counter fewer: one without branches needs none. A
 * site is executed as often as its block, as long as nothing before it in the block may leave the block. Otherwise it
 * has a counter of its own, which costs what the function's would have.
 *
 * Functions are compiled one after the other, callees first as a rule. So it is decided before the first of them, from
 * the call graph as it is after inlining. Functions that call themselves in a circle count their calls: otherwise the
 * equations would not be solved one function after the other.
 *
 * A caller may turn out not to be counted after all. What it calls, and what that calls, is left out then.
 */
#include "routine.h"
#include <map>
#include <set>

namespace
{

enum progress { UNSEEN, OPEN, DONE };

std::map<cgraph_node *, progress> candidates;
std::set<unsigned> called;  /* by DECL_UID: their callers count their calls */
std::set<unsigned> unknown; /* of these: some caller is not counted */

/* The function of whose code this one is a part now. */
cgraph_node *body_of(cgraph_node *node)
{
    return node->inlined_to ? node->inlined_to : node;
}

bool will_be_counted(cgraph_node *node, const options &options)
{
    return !gcc_is_thunk(node) && !routine_why_never(node->decl) && routine_is_asked_for(node->decl, options);
}

/* All its calls are those that the call graph knows. */
bool is_called_from_here_alone(cgraph_node *node)
{
    return !node->alias && !node->inlined_to && !node->simdclone && node->local_p() && !node->has_aliases_p() &&
           !DECL_COMDAT_GROUP(node->decl) && !fndecl_built_in_p(node->decl) && node->callers;
}

bool has_counted_callers(cgraph_node *node, const options &options)
{
    for (cgraph_edge *e = node->callers; e; e = e->next_caller)
        if (!will_be_counted(body_of(e->caller), options))
            return false;
    return true;
}

/* A depth-first search towards the callers. Whatever closes a circle counts its calls. */
void break_circles(cgraph_node *first)
{
    std::vector<std::pair<cgraph_node *, cgraph_edge *>> path = {{first, first->callers}};
    candidates[first] = OPEN;
    while (!path.empty()) {
        auto &[node, edge] = path.back();
        if (!edge) {
            candidates[node] = DONE;
            path.pop_back();
            continue;
        }
        cgraph_node *caller = body_of(edge->caller);
        edge = edge->next_caller;
        auto found = candidates.find(caller);
        if (found == candidates.end())
            continue;
        if (found->second == OPEN)
            called.erase(DECL_UID(caller->decl));
        else if (found->second == UNSEEN) {
            found->second = OPEN;
            path.push_back({caller, caller->callers});
        }
    }
}

bool is_among(const std::set<unsigned> &functions, tree decl)
{
    return decl && functions.count(DECL_UID(decl));
}

} // namespace

void called_decide(const options &options)
{
    std::vector<cgraph_node *> in_order; /* the same each time the unit is compiled */
    cgraph_node *node;
    if (options.every_block || !options.called || flag_tm)
        return;
    FOR_EACH_DEFINED_FUNCTION(node)
    if (is_called_from_here_alone(node) && will_be_counted(node, options) && has_counted_callers(node, options)) {
        in_order.push_back(node);
        candidates[node] = UNSEEN;
        called.insert(DECL_UID(node->decl));
    }
    for (cgraph_node *each : in_order)
        if (candidates[each] == UNSEEN)
            break_circles(each);
    candidates.clear();
}

void called_forget()
{
    called.clear();
    unknown.clear();
}

bool is_called(tree decl)
{
    return is_among(called, decl);
}

bool is_unknown(tree decl)
{
    return is_among(unknown, decl);
}

bool called_lose(tree decl)
{
    return is_called(decl) && unknown.insert(DECL_UID(decl)).second;
}

void called_lose_calls()
{
    basic_block block;
    FOR_EACH_BB_FN(block, cfun)
    for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
        if (is_gimple_call(gsi_stmt(at)))
            called_lose(gimple_call_fndecl(gsi_stmt(at)));
}

void routine_find_sites(routine &r)
{
    for (uint32_t b = BLOCK_FIRST; b < r.graph.n_blocks; b++) {
        bool is_reached = b != r.dispatcher;
        for (auto at = gsi_start_bb(r.blocks[b]); !gsi_end_p(at); gsi_next(&at)) {
            gimple *stmt = gsi_stmt(at);
            tree callee = is_gimple_call(stmt) ? gimple_call_fndecl(stmt) : NULL_TREE;
            if (is_called(callee))
                r.sites.push_back({b, callee, is_reached ? (uint32_t)POINTS_NONE : r.n_counters++, stmt});
            is_reached = is_reached && !may_leave(stmt);
        }
    }
}

void routine_count_sites(const routine &r)
{
    for (const site &each : r.sites)
        if (each.counter != POINTS_NONE)
            insert_before(each.call, counter_add(r, each.counter, build_one_cst(uint64_type_node)));
}
