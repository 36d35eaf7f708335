// SPDX-License-Identifier: BSD-3-Clause
/*
 * A choice between two values. Where the two ways from a condition meet again at once and do no more than choose a
 * value, the compiler will make a conditional move of it, unless an instruction that counts stands in the way. There
 * the outcome of the condition is added instead: as a number, before the branch.
 */
#include "routine.h"

namespace
{

enum { MOST_STATEMENTS = 3 };

bool is_cheap(gimple *stmt)
{
    return is_gimple_debug(stmt) || gimple_code(stmt) == GIMPLE_LABEL || gimple_code(stmt) == GIMPLE_PREDICT ||
           (is_gimple_assign(stmt) && !gimple_vuse(stmt) && !gimple_could_trap_p(stmt));
}

/* A block that can only be entered from `from`, and does nothing but compute a little. */
bool is_arm(basic_block block, basic_block from)
{
    unsigned n = 0;
    if (!single_succ_p(block) || !single_pred_p(block) || single_pred(block) != from)
        return false;
    for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
        if (!is_cheap(gsi_stmt(at)))
            return false;
        n += is_gimple_assign(gsi_stmt(at));
    }
    return n <= MOST_STATEMENTS;
}

/* Where the way over this edge of `from` leads to, past an arm. */
basic_block meeting_point(edge e, basic_block from)
{
    return is_arm(e->dest, from) ? single_succ(e->dest) : e->dest;
}

/* The join chooses at least one value, and not so many that branching is cheaper. */
bool chooses_few(basic_block join)
{
    unsigned n = 0;
    for (gphi_iterator at = gsi_start_phis(join); !gsi_end_p(at); gsi_next(&at))
        n += !virtual_operand_p(gimple_phi_result(at.phi()));
    return n >= 1 && n <= 2;
}

} // namespace

arm routine_find_arm(edge e)
{
    basic_block from = e->src;
    edge way = e;
    if (single_pred_p(from) && is_arm(from, single_pred(from))) {
        way = single_pred_edge(from);
        from = way->src;
    }
    gcond *condition = safe_dyn_cast<gcond *>(last_stmt(from));
    if (!condition || EDGE_COUNT(from->succs) != 2)
        return {};
    basic_block first = meeting_point(EDGE_SUCC(from, 0), from), second = meeting_point(EDGE_SUCC(from, 1), from);
    if (first != second || first == from || !chooses_few(first))
        return {};
    return {condition, (way->flags & EDGE_TRUE_VALUE) != 0, EDGE_COUNT(first->preds) == 2 ? first : nullptr};
}

tree arm_outcome(const arm &arm, gimple_seq *seq)
{
    tree outcome = make_ssa_name(boolean_type_node), number = make_ssa_name(uint64_type_node);
    gimple_seq_add_stmt(seq, gimple_build_assign(outcome, gimple_cond_code(arm.condition),
                                                 gimple_cond_lhs(arm.condition), gimple_cond_rhs(arm.condition)));
    if (!arm.is_true) {
        tree inverse = make_ssa_name(boolean_type_node);
        gimple_seq_add_stmt(seq, gimple_build_assign(inverse, BIT_XOR_EXPR, outcome, boolean_true_node));
        outcome = inverse;
    }
    gimple_seq_add_stmt(seq, gimple_build_assign(number, NOP_EXPR, outcome));
    return number;
}
