// SPDX-License-Identifier: BSD-3-Clause
/*
 * The program's requests for memory: beside the executions, the bytes are added up, call by call. The counters of
 * allocation points come after those of the edges.
 *
 * Programs have routines that allocate for others (xmalloc). Their own requests say nothing, so their callers are
 * allocation points as well; which of them are is known when all units are, in the analysis.
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

/* The bytes that a call asks for: the product of its factors, of arguments or of what they point to; or the length of a
 * string, up to a limit. Nothing when it allocates nothing. */
struct asked {
    std::vector<tree> factors;
    bool are_pointed_to = false;
    tree string = NULL_TREE, limit = NULL_TREE;
    tree if_called = NULL_TREE; /* through a pointer: only if that leads to this function */
    points_asked how = POINTS_ASKED;
    bool is_nothing() const
    {
        return factors.empty() && !string;
    }
};

tree argument(const gcall *call, unsigned i)
{
    return gimple_call_arg(call, i);
}

asked asked_of_builtin(const gcall *call, built_in_function code)
{
    switch (code) {
    case BUILT_IN_MALLOC:
        return {{argument(call, 0)}};
    case BUILT_IN_CALLOC:
        return {{argument(call, 0), argument(call, 1)}};
    case BUILT_IN_REALLOC:
    case BUILT_IN_ALIGNED_ALLOC:
        return {{argument(call, 1)}};
    case BUILT_IN_POSIX_MEMALIGN:
        return {{argument(call, 2)}};
    case BUILT_IN_STRDUP:
        return {{}, false, argument(call, 0)};
    case BUILT_IN_STRNDUP:
        return {{}, false, argument(call, 0), argument(call, 1)};
    default:
        return {};
    }
}

/* Functions of libraries that the compiler does not know. Those of MPI's Fortran bindings take the size by reference.
 */
asked asked_of_library(const gcall *call, const char *symbol)
{
    static const struct {
        const char *symbol;
        unsigned n_arguments, factors[2], n_factors;
    } known[] = {
        {"memalign", 2, {1}, 1},
        {"valloc", 1, {0}, 1},
        {"pvalloc", 1, {0}, 1},
        {"reallocarray", 3, {1, 2}, 2},
        {"MPI_Alloc_mem", 3, {0}, 1},
        {"MPI_Win_allocate", 6, {0}, 1},
        {"MPI_Win_allocate_c", 6, {0}, 1},
        {"MPI_Win_allocate_shared", 6, {0}, 1},
        {"MPI_Win_allocate_shared_c", 6, {0}, 1},
    };
    static const char *const fortran[] = {"mpi_alloc_mem", "mpi_win_allocate"}; /* and what begins so */
    for (const auto &each : known)
        if (!strcmp(symbol, each.symbol) && gimple_call_num_args(call) == each.n_arguments) {
            asked asked;
            for (unsigned i = 0; i < each.n_factors; i++)
                asked.factors.push_back(argument(call, each.factors[i]));
            return asked;
        }
    for (const char *each : fortran)
        if (!strncmp(symbol, each, strlen(each)) && gimple_call_num_args(call) >= 3 &&
            POINTER_TYPE_P(TREE_TYPE(argument(call, 0))))
            return {{argument(call, 0)}, true};
    return {};
}

bool is_size(const_tree type)
{
    return INTEGRAL_TYPE_P(type) && TYPE_PRECISION(type) == TYPE_PRECISION(sizetype);
}

/* A pointer of such a type may lead to a function of the malloc family, or to one that calls it and is counted itself.
 */
asked asked_through_pointer(const gcall *call)
{
    tree type = gimple_call_fntype(call);
    unsigned n = gimple_call_num_args(call);
    if (gimple_call_internal_p(call) || !type || !POINTER_TYPE_P(TREE_TYPE(type)) || n < 1 || n > 2)
        return {};
    bool is_first_size = is_size(TREE_TYPE(argument(call, 0))),
         is_last_size = is_size(TREE_TYPE(argument(call, n - 1)));
    if (!is_last_size || (!is_first_size && !POINTER_TYPE_P(TREE_TYPE(argument(call, 0)))))
        return {};
    built_in_function code = n == 1 ? BUILT_IN_MALLOC : is_first_size ? BUILT_IN_CALLOC : BUILT_IN_REALLOC;
    asked asked = asked_of_builtin(call, code);
    asked.if_called = builtin_decl_explicit(code);
    return asked.if_called ? asked : ::asked{};
}

/* The parameters, from 0, that tell a routine of the program how much to allocate: as it was declared, or because it
 * has the type of malloc or calloc, whatever other parameters it has. Nothing: it has none such. */
std::vector<unsigned> size_parameters(tree type, points_asked *how)
{
    std::vector<unsigned> found;
    *how = POINTS_ASKED_OF;
    if (tree declared = lookup_attribute("alloc_size", TYPE_ATTRIBUTES(type))) {
        for (tree each = TREE_VALUE(declared); each; each = TREE_CHAIN(each))
            if (tree_fits_uhwi_p(TREE_VALUE(each)))
                found.push_back((unsigned)tree_to_uhwi(TREE_VALUE(each)) - 1);
        return found;
    }
    *how = POINTS_ASKED_MAYBE;
    if (!POINTER_TYPE_P(TREE_TYPE(type)) || !VOID_TYPE_P(TREE_TYPE(TREE_TYPE(type))))
        return found;
    unsigned n = 0;
    for (tree each = TYPE_ARG_TYPES(type); each && !VOID_TYPE_P(TREE_VALUE(each)); each = TREE_CHAIN(each), n++)
        if (is_size(TREE_VALUE(each)))
            found.push_back(n);
    return found.size() <= 2 ? found : std::vector<unsigned>();
}

asked asked_of_wrapper(const gcall *call, tree callee)
{
    asked asked;
    for (unsigned each : size_parameters(gimple_call_fntype(call), &asked.how))
        if (each < gimple_call_num_args(call) && INTEGRAL_TYPE_P(TREE_TYPE(argument(call, each))))
            asked.factors.push_back(argument(call, each));
    return callee == cfun->decl ? ::asked{} : asked;
}

asked what_is_asked(const gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    if (!callee)
        return asked_through_pointer(call);
    if (is_allocating_new(callee) && gimple_call_num_args(call) >= 1)
        return {{argument(call, 0)}};
    if (fndecl_built_in_p(callee))
        return gimple_call_builtin_p(call, BUILT_IN_NORMAL) ? asked_of_builtin(call, DECL_FUNCTION_CODE(callee))
                                                            : asked{};
    asked asked = DECL_EXTERNAL(callee) ? asked_of_library(call, routine_symbol(callee)) : ::asked{};
    return asked.is_nothing() && gimple_call_fntype(call) ? asked_of_wrapper(call, callee) : asked;
}

tree add_statement(gimple_seq *seq, tree_code code, tree left, tree right = NULL_TREE)
{
    tree result = make_ssa_name(uint64_type_node);
    gimple_seq_add_stmt(seq, gimple_build_assign(result, code, left, right));
    return result;
}

tree as_counter(gimple_seq *seq, tree value)
{
    if (useless_type_conversion_p(uint64_type_node, TREE_TYPE(value)))
        return value;
    if (TREE_CODE(value) == INTEGER_CST)
        return fold_convert(uint64_type_node, value);
    return add_statement(seq, NOP_EXPR, value);
}

tree pointed_to(tree pointer)
{
    return build2(MEM_REF, uint64_type_node, pointer, build_int_cst(build_pointer_type(char_type_node), 0));
}

/* With the byte that ends it. */
tree string_bytes(gimple_seq *seq, const asked &asked)
{
    tree length = make_ssa_name(size_type_node);
    tree counter = builtin_decl_explicit(asked.limit ? BUILT_IN_STRNLEN : BUILT_IN_STRLEN);
    gcall *call = gimple_build_call(counter, asked.limit ? 2 : 1, asked.string, asked.limit);
    gimple_call_set_lhs(call, length);
    gimple_seq_add_stmt(seq, call);
    return add_statement(seq, PLUS_EXPR, as_counter(seq, length), build_one_cst(uint64_type_node));
}

/* 1 if the pointer leads to that function, else 0. */
tree is_called(gimple_seq *seq, const gcall *call, tree function)
{
    tree pointer = gimple_call_fn(call), outcome = make_ssa_name(boolean_type_node);
    tree address = fold_convert(TREE_TYPE(pointer), build_fold_addr_expr(function));
    gimple_seq_add_stmt(seq, gimple_build_assign(outcome, EQ_EXPR, pointer, address));
    return add_statement(seq, NOP_EXPR, outcome);
}

void count_bytes(const routine &r, uint32_t counter, gcall *call, const asked &asked)
{
    gimple_seq seq = nullptr;
    tree bytes = asked.string ? string_bytes(&seq, asked) : NULL_TREE;
    for (tree factor : asked.factors) {
        tree value = asked.are_pointed_to ? add_statement(&seq, MEM_REF, pointed_to(factor)) : as_counter(&seq, factor);
        bytes = bytes ? add_statement(&seq, MULT_EXPR, bytes, value) : value;
    }
    if (asked.if_called)
        bytes = add_statement(&seq, MULT_EXPR, bytes, is_called(&seq, call, asked.if_called));
    gimple_seq_add_seq(&seq, counter_add(r, counter, bytes));
    insert_before(call, seq);
}

/* The function that was inlined there. */
tree inlined_at(tree scope)
{
    tree origin = BLOCK_ABSTRACT_ORIGIN(scope);
    while (origin && TREE_CODE(origin) == BLOCK)
        origin = BLOCK_ABSTRACT_ORIGIN(origin);
    return origin && TREE_CODE(origin) == FUNCTION_DECL ? origin : NULL_TREE;
}

/* The user's own source line that leads to a call inlined from a system header, or from a routine that allocates for
 * others: that is *callee then. */
location_t user_location(location_t where, std::string *callee)
{
    points_asked how;
    for (tree scope = LOCATION_BLOCK(where); scope && TREE_CODE(scope) == BLOCK; scope = BLOCK_SUPERCONTEXT(scope)) {
        if (!inlined_function_outer_scope_p(scope) || BLOCK_SOURCE_LOCATION(scope) == UNKNOWN_LOCATION)
            continue;
        tree inlined = inlined_at(scope);
        bool is_wrapper = inlined && !size_parameters(TREE_TYPE(inlined), &how).empty();
        if (!is_wrapper && !in_system_header_at(where))
            break;
        if (is_wrapper && callee->empty() && !in_system_header_at(where))
            *callee = lang_hooks.decl_printable_name(inlined, 1);
        where = BLOCK_SOURCE_LOCATION(scope);
    }
    return where;
}

} // namespace

void routine_find_allocs(routine &r)
{
    for (uint32_t b = BLOCK_FIRST; b < r.graph.n_blocks; b++)
        for (auto at = gsi_start_bb(r.blocks[b]); !gsi_end_p(at); gsi_next(&at)) {
            gcall *call = dyn_cast<gcall *>(gsi_stmt(at));
            asked asked = call ? what_is_asked(call) : ::asked{};
            if (asked.is_nothing())
                continue;
            std::string callee = asked.how == POINTS_ASKED ? "" : routine_symbol(gimple_call_fndecl(call)), through;
            location_t where = user_location(gimple_location(call), &through);
            r.allocs.push_back({r.n_counters++, b, where, call, callee.empty() ? through : callee, asked.how});
        }
}

void routine_count_bytes(const routine &r)
{
    for (const alloc &each : r.allocs)
        count_bytes(r, each.counter, each.call, what_is_asked(each.call));
}
