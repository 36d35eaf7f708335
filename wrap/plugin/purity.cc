// SPDX-License-Identifier: BSD-3-Clause
/*
 * A function that counts is neither pure nor const, and neither is what it calls: were a recursive call said to touch
 * no memory, a counter could be kept in a register across it. But functions that are compiled later already rely on
 * what was found out about this one: their calls of it have no virtual operands. So the truth is told to each function
 * while it is being compiled, about itself and the functions that it calls, and taken back when it is finished. Between
 * different functions nothing can go wrong: none reads or writes another one's counters.
 */
#include "routine.h"

namespace
{

struct purity {
    tree decl;
    bool is_readonly, is_pure, is_looping;
};
std::vector<purity> forgotten;

bool is_innocent(tree decl)
{
    return (TREE_READONLY(decl) || DECL_PURE_P(decl)) && !fndecl_built_in_p(decl);
}

void forget(tree decl)
{
    forgotten.push_back({decl, !!TREE_READONLY(decl), !!DECL_PURE_P(decl), !!DECL_LOOPING_CONST_OR_PURE_P(decl)});
    TREE_READONLY(decl) = 0;
    DECL_PURE_P(decl) = 0;
    DECL_LOOPING_CONST_OR_PURE_P(decl) = 0;
}

std::vector<gimple *> innocent_calls()
{
    std::vector<gimple *> calls;
    basic_block block;
    FOR_EACH_BB_FN(block, cfun)
    for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
        tree callee = is_gimple_call(gsi_stmt(at)) ? gimple_call_fndecl(gsi_stmt(at)) : NULL_TREE;
        if (callee && is_innocent(callee))
            calls.push_back(gsi_stmt(at));
    }
    return calls;
}

} // namespace

void purity_forget()
{
    std::vector<gimple *> calls = innocent_calls();
    if (is_innocent(cfun->decl))
        forget(cfun->decl);
    for (gimple *call : calls)
        if (is_innocent(gimple_call_fndecl(call)))
            forget(gimple_call_fndecl(call));
    for (gimple *call : calls)
        update_stmt(call);
}

void purity_restore()
{
    for (const purity &each : forgotten) {
        TREE_READONLY(each.decl) = each.is_readonly;
        DECL_PURE_P(each.decl) = each.is_pure;
        DECL_LOOPING_CONST_OR_PURE_P(each.decl) = each.is_looping;
    }
    forgotten.clear();
}
