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

/* Floating-point numbers have no conditional moves, but minimum and maximum. */
bool may_be_moved(gphi *phi, gcond *condition)
{
    if (!FLOAT_TYPE_P(TREE_TYPE(gimple_phi_result(phi))))
        return true;
    tree left = gimple_cond_lhs(condition), right = gimple_cond_rhs(condition);
    for (unsigned i = 0; i < gimple_phi_num_args(phi); i++)
        if (gimple_phi_arg_def(phi, i) != left && gimple_phi_arg_def(phi, i) != right)
            return false;
    return true;
}

/* The join chooses at least one value, and not so many that branching is cheaper. */
bool chooses_few(basic_block join, gcond *condition)
{
    unsigned n = 0;
    for (gphi_iterator at = gsi_start_phis(join); !gsi_end_p(at); gsi_next(&at)) {
        if (virtual_operand_p(gimple_phi_result(at.phi())))
            continue;
        if (!may_be_moved(at.phi(), condition))
            return false;
        n++;
    }
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
    if (!optimize || !condition || EDGE_COUNT(from->succs) != 2)
        return {};
    basic_block first = meeting_point(EDGE_SUCC(from, 0), from), second = meeting_point(EDGE_SUCC(from, 1), from);
    if (first != second || first == from || !chooses_few(first, condition))
        return {};
    return {condition, (way->flags & EDGE_TRUE_VALUE) != 0, EDGE_COUNT(first->preds) == 2 ? first : nullptr};
}

/* A bit that is compared with zero is the outcome itself. */
static tree outcome_of(gcond *condition, bool *is_inverse, gimple_seq *seq)
{
    tree left = gimple_cond_lhs(condition), right = gimple_cond_rhs(condition);
    tree_code code = gimple_cond_code(condition);
    if ((code == EQ_EXPR || code == NE_EXPR) && integer_zerop(right) && INTEGRAL_TYPE_P(TREE_TYPE(left)) &&
        TREE_CODE(left) == SSA_NAME && tree_nonzero_bits(left) == 1) {
        *is_inverse = code == EQ_EXPR;
        return left;
    }
    tree outcome = make_ssa_name(boolean_type_node);
    gimple_seq_add_stmt(seq, gimple_build_assign(outcome, code, left, right));
    *is_inverse = false;
    return outcome;
}

tree arm_outcome(const arm &arm, gimple_seq *seq)
{
    bool is_inverse;
    tree outcome = outcome_of(arm.condition, &is_inverse, seq), number = make_ssa_name(uint64_type_node);
    gimple_seq_add_stmt(seq, gimple_build_assign(number, NOP_EXPR, outcome));
    if (is_inverse != arm.is_true)
        return number;
    tree inverse = make_ssa_name(uint64_type_node);
    gimple_seq_add_stmt(seq, gimple_build_assign(inverse, BIT_XOR_EXPR, number, build_one_cst(uint64_type_node)));
    return inverse;
}
