// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which calls cannot end an interval. What a loop counts may be added behind it if no synchronisation is reached inside
 * it, which holds for calls that touch no memory, for the compiler's own, and for functions of this unit that call none
 * but such: the compiler finishes functions before their callers, so it is known of them by then. A definition that the
 * linker may replace tells nothing.
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
