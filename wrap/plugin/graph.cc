// SPDX-License-Identifier: BSD-3-Clause
/*
 * The flow graph of a function: GCC's CFG after the last GIMPLE pass, and what it does not
 * show.
 *
 *  - A block whose last call does not return flows to EXIT.
 *  - A tail call flows to EXIT: the code after it is deleted when it becomes a jump. Whether it does is decided later,
 *    so each tail call gets a return statement of its own, which nobody else shares; and it is counted before the call.
 *  - A call that may throw past all handlers here has an edge to EXIT for the frames that an exception removes. So has
 * every call in a unit that uses longjmp. These edges are never counted but follow from the others.
 *  - Abnormal edges (computed goto, setjmp) cannot carry a counter either. GCC leads them all through one block a
 *    function, so that they form a star, which fits into a spanning tree. For setjmp this dispatcher is a block without
 *    code; frames that vanish in such a function flow through it to EXIT, because a call has one way out of the
 *    ordinary only whose frequency follows from the others.
 */
#include "routine.h"
#include <map>

/* What a return statement would return to someone who comes over this edge; false when that does more than return. */
bool edge_returns(edge e, tree *value)
{
    std::vector<edge> path;
    for (;; e = single_succ_edge(e->dest)) {
        path.push_back(e);
        gimple *last = nullptr;
        for (auto at = gsi_start_bb(e->dest); !gsi_end_p(at); gsi_next(&at)) {
            gimple *stmt = gsi_stmt(at);
            if (is_gimple_debug(stmt) || gimple_code(stmt) == GIMPLE_LABEL || gimple_code(stmt) == GIMPLE_PREDICT ||
                gimple_clobber_p(stmt) || gimple_nop_p(stmt))
                continue;
            if (last || gimple_code(stmt) != GIMPLE_RETURN)
                return false;
            last = stmt;
        }
        if (last) {
            *value = gimple_return_retval(as_a<greturn *>(last));
            break;
        }
        if (!single_succ_p(e->dest) || path.size() > 64)
            return false;
    }
    for (size_t i = path.size(); i-- > 0;)
        if (*value && TREE_CODE(*value) == SSA_NAME && is_a<gphi *>(SSA_NAME_DEF_STMT(*value)) &&
            gimple_bb(SSA_NAME_DEF_STMT(*value)) == path[i]->dest)
            *value = PHI_ARG_DEF_FROM_EDGE(as_a<gphi *>(SSA_NAME_DEF_STMT(*value)), path[i]);
    return true;
}

gimple *block_receiver(basic_block block)
{
    gimple_stmt_iterator at = gsi_start_nondebug_after_labels_bb(block);
    if (gsi_end_p(at) || !is_gimple_call(gsi_stmt(at)))
        return nullptr;
    return gimple_call_flags(gsi_stmt(at)) & ECF_RETURNS_TWICE ? gsi_stmt(at) : nullptr;
}

namespace
{

/* The unit refers to this function by its assembler name. */
bool unit_refers_to(const char *name)
{
    return symtab_node::get_for_asmname(get_identifier(name)) != nullptr;
}

bool unit_uses_longjmp()
{
    static const char *const names[] = {"longjmp",       "_longjmp",          "siglongjmp",
                                        "__longjmp_chk", "_setjmp",           "setjmp",
                                        "__sigsetjmp",   "__builtin_longjmp", "__builtin_nonlocal_goto"};
    for (const char *name : names)
        if (unit_refers_to(name))
            return true;
    return false;
}

/* Executions for nothing are not undone in the counts, and a new attempt begins in the middle of a block. */
bool has_transactions(function *fn)
{
    basic_block block;
    if (!flag_tm)
        return false;
    FOR_EACH_BB_FN(block, fn)
    for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
        if (gimple_call_builtin_p(gsi_stmt(at), BUILT_IN_TM_START))
            return true;
    return decl_is_tm_clone(fn->decl);
}

const char *why_not(function *fn)
{
    return has_transactions(fn) ? "its transactions may be broken off and begin anew" : routine_why_never(fn->decl);
}

/* A tail call, or __builtin_return, behind which no return statement follows. */
gcall *tail_call_of(basic_block block)
{
    for (auto at = gsi_last_bb(block); !gsi_end_p(at); gsi_prev(&at)) {
        gcall *call = dyn_cast<gcall *>(gsi_stmt(at));
        if (call && (gimple_call_tail_p(call) || gimple_call_builtin_p(call, BUILT_IN_RETURN)))
            return call;
        if (call)
            return nullptr;
    }
    return nullptr;
}

bool block_returns(basic_block block)
{
    gimple *last = gcc_last_statement(block);
    return last && gimple_code(last) == GIMPLE_RETURN;
}

/* Gives the tail call a return statement in its own block. If that is not possible it is an ordinary call. */
bool own_return(basic_block block, gcall *call)
{
    tree value;
    if (block_returns(block))
        return false;
    if (!single_succ_p(block) || !edge_returns(single_succ_edge(block), &value)) {
        gimple_call_set_tail(call, false);
        return false;
    }
    edge e = single_succ_edge(block);
    profile_probability probability = e->probability;
    gimple_stmt_iterator end = gsi_last_bb(block);
    gsi_insert_after(&end, gimple_build_return(value), GSI_NEW_STMT);
    remove_edge(e);
    make_edge(block, EXIT_BLOCK_PTR_FOR_FN(cfun), 0)->probability = probability;
    return true;
}

void own_returns()
{
    bool is_changed = false;
    basic_block block;
    FOR_EACH_BB_FN(block, cfun)
    if (gcall *call = tail_call_of(block))
        is_changed |= own_return(block, call);
    if (!is_changed)
        return;
    free_dominance_info(CDI_DOMINATORS);
    free_dominance_info(CDI_POST_DOMINATORS);
    delete_unreachable_blocks();
}

void add_edge(routine &r, uint32_t from, uint32_t to, place where)
{
    cfg_add_edge(&r.graph, from, to);
    r.places.push_back(where);
}

bool catches_all(const eh_region_d *region)
{
    for (eh_catch_d *each = region->u.eh_try.first_catch; each; each = each->next_catch)
        if (!each->type_list)
            return true;
    return false;
}

/* An exception from this statement may pass by this frame. It has no handler here, or handlers for some types only. */
bool may_throw_past(gimple *stmt)
{
    if (stmt_can_throw_external(cfun, stmt))
        return true;
    if (!stmt_can_throw_internal(cfun, stmt))
        return false;
    for (const eh_region_d *region = get_eh_region_from_lp_number(lookup_stmt_eh_lp(stmt)); region;
         region = region->outer) {
        if (region->type == ERT_CLEANUP || region->type == ERT_MUST_NOT_THROW)
            return false;
        if (region->type == ERT_TRY && catches_all(region))
            return false;
    }
    return true;
}

/* Some call of the block may end this frame without coming back (and the block does not end there anyway). */
bool may_vanish(basic_block block, const gimple *leaves_by, bool by_longjmp)
{
    for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
        gimple *stmt = gsi_stmt(at);
        if (stmt == leaves_by || stmt == block_receiver(block))
            continue;
        if (may_throw_past(stmt))
            return true;
        if (by_longjmp && is_gimple_call(stmt) && !call_is_harmless(stmt))
            return true;
    }
    return false;
}

/* The block through which GCC leads control from calls to setjmp's second return. Sanitizers put calls into it. */
bool is_dispatcher(basic_block block)
{
    gimple *last = gcc_last_statement(block);
    return last && gimple_call_internal_p(last, IFN_ABNORMAL_DISPATCHER);
}

/* Adds the edges that GCC knows. True when one of them is abnormal. */
bool add_known_edges(routine &r, basic_block block, const std::map<basic_block, uint32_t> &number, gcall *tail)
{
    gimple *last = gcc_last_statement(block);
    bool ends_with_receiver = last && last == block_receiver(block), is_abnormal = false;
    edge e;
    edge_iterator i;
    FOR_EACH_EDGE(e, i, block->succs)
    {
        place where;
        if (tail && e->dest == EXIT_BLOCK_PTR_FOR_FN(cfun))
            where.before = tail;
        else if (!(e->flags & EDGE_ABNORMAL))
            where.on = e;
        else if (ends_with_receiver)
            continue; /* setjmp itself does not jump */
        is_abnormal |= where.is_fixed();
        add_edge(r, number.at(block), number.at(e->dest), where);
    }
    return is_abnormal;
}

struct vanishing {
    bool is_counted, by_longjmp;
};

void add_block_edges(routine &r, basic_block block, const std::map<basic_block, uint32_t> &number, vanishing vanishing)
{
    uint32_t from = number.at(block);
    gcall *tail = tail_call_of(block);
    bool is_abnormal = add_known_edges(r, block, number, tail);
    if (EDGE_COUNT(block->succs) == 0) {
        add_edge(r, from, BLOCK_EXIT, place{});
    } else if (from == r.dispatcher) {
        if (vanishing.is_counted)
            add_edge(r, from, BLOCK_EXIT, place{});
    } else if (vanishing.is_counted && may_vanish(block, tail, vanishing.by_longjmp)) {
        r.flags |= POINTS_F_EXCEPTIONS;
        if (r.dispatcher == POINTS_NONE)
            add_edge(r, from, BLOCK_EXIT, place{});
        else if (!is_abnormal)
            add_edge(r, from, r.dispatcher, place{});
    }
}

} // namespace

const char *routine_why_never(tree decl)
{
    static const struct {
        const char *attribute, *why;
    } refused[] = {
        {"no_instrument_function", ""}, /* asked for: no note */
        {"no_profile_instrument_function", ""},
        {"naked", "it is naked"},
        {"interrupt", "it is an interrupt handler"},
        {"target_clones", "it exists in several versions"},
    };
    for (const auto &each : refused)
        if (lookup_attribute(each.attribute, DECL_ATTRIBUTES(decl)))
            return each.why;
    if (DECL_STRUCT_FUNCTION(decl) && DECL_STRUCT_FUNCTION(decl)->has_nonlocal_label)
        return "nested functions jump into it";
    cgraph_node *node = cgraph_node::get(decl);
    ipa_ref *ref;
    for (unsigned i = 0; node && node->iterate_referring(i, ref); i++)
        if (ref->use == IPA_REF_ALIAS && is_a<cgraph_node *>(ref->referring) && ref->referring->ifunc_resolver)
            return "it resolves an ifunc, before threads have storage";
    return nullptr;
}

bool may_leave(gimple *stmt)
{
    return may_throw_past(stmt) || (is_gimple_call(stmt) && !call_is_harmless(stmt));
}

bool routine_build_graph(routine &r, const options &options, const char **why)
{
    *why = why_not(cfun);
    if (*why)
        return false;
    own_returns();
    std::map<basic_block, uint32_t> number;
    r.blocks = {ENTRY_BLOCK_PTR_FOR_FN(cfun), EXIT_BLOCK_PTR_FOR_FN(cfun)};
    number[r.blocks[0]] = BLOCK_ROOT;
    number[r.blocks[1]] = BLOCK_EXIT;
    basic_block block;
    FOR_EACH_BB_FN(block, cfun)
    {
        number[block] = (uint32_t)r.blocks.size();
        if (is_dispatcher(block))
            r.dispatcher = number[block];
        r.blocks.push_back(block);
    }
    cfg_init(&r.graph, (uint32_t)r.blocks.size(), BLOCK_ROOT);
    if (cfun->calls_setjmp)
        r.flags |= POINTS_F_SETJMP;
    vanishing vanishing = {options.exceptions, unit_uses_longjmp()};
    for (basic_block each : r.blocks)
        if (each != r.blocks[BLOCK_EXIT])
            add_block_edges(r, each, number, vanishing);
    cfg_finish(&r.graph);
    return true;
}
