// SPDX-License-Identifier: BSD-3-Clause
/*
 * Facts about calls for counting.
 *
 * Which calls cannot end an interval. A loop's counts may be added behind it if no synchronisation is reached inside
 * it, which holds for calls that touch no memory, for the compiler's own, and for functions of this unit that call none
 * but such: the compiler finishes functions before their callers, so it is known of them by then. A definition that the
 * linker may replace tells nothing.
 *
 * A function that counts is neither pure nor const, and neither is what it calls: were a recursive call said to touch
 * no memory, a counter could be kept in a register across it. But functions that are compiled later already rely on
 * what was found out about this one: their calls of it have no virtual operands. So the truth is told to each function
 * while it is being compiled, about itself and the functions that it calls, and taken back when it is finished. Between
 * different functions nothing can go wrong: none reads or writes another one's counters.
 */
#include "routine.h"
#include <set>

namespace
{

std::set<unsigned> quiet_functions; /* by DECL_UID */

/* The function's own definition, if it is the one that will be called. */
tree definition_of(tree callee)
{
    cgraph_node *node = callee ? cgraph_node::get(callee) : nullptr;
    if (!node || node->get_availability() <= AVAIL_INTERPOSABLE)
        return NULL_TREE;
    return node->ultimate_alias_target()->decl;
}

bool is_quiet(const gcall *call)
{
    tree definition = definition_of(gimple_call_fndecl(call));
    return definition && quiet_functions.count(DECL_UID(definition));
}

bool always_comes_back(int flags)
{
    return (flags & ECF_NOTHROW) && !(flags & (ECF_NORETURN | ECF_RETURNS_TWICE));
}

} // namespace

bool call_is_harmless(const gimple *stmt)
{
    const gcall *call = as_a<const gcall *>(stmt);
    if (gimple_call_internal_p(call))
        return true;
    int flags = gimple_call_flags(call);
    if (!always_comes_back(flags))
        return false;
    if (flags & (ECF_CONST | ECF_PURE))
        return true;
    return ((flags & ECF_LEAF) && gimple_call_builtin_p(call, BUILT_IN_NORMAL)) || is_quiet(call);
}

void calls_remember()
{
    unsigned self = DECL_UID(cfun->decl);
    basic_block block;
    quiet_functions.insert(self); /* its calls of itself do no more than the others */
    FOR_EACH_BB_FN(block, cfun)
    for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
        if (is_gimple_call(gsi_stmt(at)) && !call_is_harmless(gsi_stmt(at))) {
            quiet_functions.erase(self);
            return;
        }
}

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
