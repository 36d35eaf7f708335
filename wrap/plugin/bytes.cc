// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where the program asks for memory: beside the executions, the bytes are added up, call by call. The counters of
 * allocation points come after those of the edges.
 */
#include "routine.h"

namespace
{

/* An operator new of the library or of the whole program. One of a class asks for memory itself, and one that is told
 * where (its second parameter is a pointer) asks for none. */
bool is_allocating_new(tree callee)
{
    if (!DECL_IS_OPERATOR_NEW_P(callee) || (DECL_CONTEXT(callee) && TYPE_P(DECL_CONTEXT(callee))))
        return false;
    tree first = TYPE_ARG_TYPES(TREE_TYPE(callee)), second = first ? TREE_CHAIN(first) : NULL_TREE;
    return !second || TREE_CODE(TREE_VALUE(second)) != POINTER_TYPE;
}

/* The bytes that a call asks for, as an expression of its arguments; nothing when it allocates nothing. */
std::vector<tree> allocated_bytes(gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    if (!callee)
        return {};
    if (is_allocating_new(callee) && gimple_call_num_args(call) >= 1)
        return {gimple_call_arg(call, 0)};
    if (!gimple_call_builtin_p(call, BUILT_IN_NORMAL))
        return {};
    switch (DECL_FUNCTION_CODE(callee)) {
    case BUILT_IN_MALLOC:
        return {gimple_call_arg(call, 0)};
    case BUILT_IN_CALLOC:
        return {gimple_call_arg(call, 0), gimple_call_arg(call, 1)};
    case BUILT_IN_REALLOC:
    case BUILT_IN_ALIGNED_ALLOC:
        return {gimple_call_arg(call, 1)};
    case BUILT_IN_POSIX_MEMALIGN:
        return {gimple_call_arg(call, 2)};
    default:
        return {};
    }
}

tree as_counter(gimple_seq *seq, tree value)
{
    if (useless_type_conversion_p(uint64_type_node, TREE_TYPE(value)))
        return value;
    if (TREE_CODE(value) == INTEGER_CST)
        return fold_convert(uint64_type_node, value);
    tree converted = make_ssa_name(uint64_type_node);
    gimple_seq_add_stmt(seq, gimple_build_assign(converted, NOP_EXPR, value));
    return converted;
}

void count_bytes(const routine &r, uint32_t counter, gcall *call, const std::vector<tree> &factors)
{
    gimple_seq seq = nullptr;
    tree bytes = as_counter(&seq, factors[0]);
    if (factors.size() > 1) {
        tree other = as_counter(&seq, factors[1]), product = make_ssa_name(uint64_type_node);
        gimple_seq_add_stmt(&seq, gimple_build_assign(product, MULT_EXPR, bytes, other));
        bytes = product;
    }
    gimple_seq_add_seq(&seq, counter_add(r, counter, bytes));
    insert_before(call, seq);
}

/* Where the user's own source leads to a call that was inlined from a system header. */
location_t user_location(location_t where)
{
    tree scope = LOCATION_BLOCK(where);
    for (; scope && TREE_CODE(scope) == BLOCK && in_system_header_at(where); scope = BLOCK_SUPERCONTEXT(scope))
        if (inlined_function_outer_scope_p(scope) && BLOCK_SOURCE_LOCATION(scope) != UNKNOWN_LOCATION)
            where = BLOCK_SOURCE_LOCATION(scope);
    return where;
}

} // namespace

void routine_find_allocs(routine &r)
{
    for (uint32_t b = BLOCK_FIRST; b < r.graph.n_blocks; b++)
        for (auto at = gsi_start_bb(r.blocks[b]); !gsi_end_p(at); gsi_next(&at)) {
            gcall *call = dyn_cast<gcall *>(gsi_stmt(at));
            if (call && !allocated_bytes(call).empty())
                r.allocs.push_back({r.n_counters++, b, user_location(gimple_location(call)), call});
        }
}

void routine_count_bytes(const routine &r)
{
    for (const alloc &each : r.allocs)
        count_bytes(r, each.counter, each.call, allocated_bytes(each.call));
}
