// SPDX-License-Identifier: BSD-3-Clause
/*
 * Executions that the program computes itself, so that they need not be counted one by one.
 *
 * Iterations that the loop counts. A number of iterations known on entry is added there, once. If the loop has a
 * variable that goes up or down by a fixed step, the difference between its value at an exit and its first value shows
 * it. Both replace an instruction in every iteration by a few per execution of the loop; other loops are told apart by
 * `kind`.
 *
 * A choice between two values. If the two ways from a condition meet again at once and do no more than choose a value,
 * the compiler will make a conditional move of it, unless an instruction that counts stands in the way. There the
 * outcome of the condition is added instead: as a number, before the branch.
 */
#include "routine.h"

namespace
{

bool is_known_on_entry(class loop *loop, edge exit, tree *niter)
{
    class tree_niter_desc known;
    if (!exit || !number_of_iterations_exit(loop, exit, &known, false) || !integer_zerop(known.may_be_zero))
        return false;
    if (!INTEGRAL_TYPE_P(TREE_TYPE(known.niter)) && !POINTER_TYPE_P(TREE_TYPE(known.niter)))
        return false;
    if (gcc_is_expensive(known.niter))
        return false;
    *niter = known.niter;
    return true;
}

/* The variable cannot come round to its first value again. */
bool cannot_wrap(tree type, const affine_iv &iv)
{
    return TYPE_PRECISION(type) >= 64 || iv.no_overflow || TYPE_OVERFLOW_UNDEFINED(type);
}

bool counts_iterations(class loop *loop, gphi *phi, edge entry, edge latch, trips &trips)
{
    tree result = gimple_phi_result(phi), type = TREE_TYPE(result);
    affine_iv iv;
    if (virtual_operand_p(result) || !(INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type)) || TYPE_PRECISION(type) < 32 ||
        !simple_iv(loop, loop, result, &iv, false) || !cst_and_fits_in_hwi(iv.step) || !cannot_wrap(type, iv))
        return false;
    HOST_WIDE_INT step = int_cst_value(iv.step); /* pointers move by unsigned steps: down is a huge one */
    tree base = PHI_ARG_DEF_FROM_EDGE(phi, entry), next = PHI_ARG_DEF_FROM_EDGE(phi, latch);
    if (!step || !pow2p_hwi(step < 0 ? -step : step) || TREE_CODE(next) != SSA_NAME ||
        SSA_NAME_OCCURS_IN_ABNORMAL_PHI(result) || SSA_NAME_OCCURS_IN_ABNORMAL_PHI(next))
        return false;
    trips.kind = trips::AT_EXIT;
    trips.phi = result;
    trips.next = next;
    trips.base = base;
    trips.step = step;
    return true;
}

trips find_variable(class loop *loop, edge entry)
{
    trips best;
    for (gphi_iterator at = gsi_start_phis(loop->header); !gsi_end_p(at); gsi_next(&at)) {
        trips found;
        if (!counts_iterations(loop, at.phi(), entry, loop_latch_edge(loop), found))
            continue;
        /* A constant first value occupies no register. */
        if (best.kind == trips::UNKNOWN || (TREE_CODE(best.base) == SSA_NAME && TREE_CODE(found.base) != SSA_NAME))
            best = found;
    }
    return best;
}

edge only_entry(const routine &r, const cfg_loops &loops, uint32_t l)
{
    edge entry = nullptr;
    const cfg_loop &loop = loops.at[l];
    for (uint32_t i = r.graph.in_at[loop.head]; i < r.graph.in_at[loop.head + 1]; i++) {
        uint32_t e = r.graph.in[i];
        if (cfg_loop_contains(&loops, l, r.graph.edges.at[e].from))
            continue;
        if (entry)
            return nullptr;
        entry = r.places[e].on;
    }
    return entry;
}

trips find_one(const routine &r, const cfg_loops &loops, uint32_t l)
{
    const cfg_loop &flow = loops.at[l];
    class loop *loop = r.blocks[flow.head]->loop_father;
    if (flow.is_irreducible || flow.n_back_edges != 1 || !loop || loop->header != r.blocks[flow.head] || !loop->latch)
        return {};
    tree niter;
    if (flow.n_exits == 1 && is_known_on_entry(loop, r.places[flow.exits[0]].on, &niter)) {
        trips known;
        known.kind = trips::ON_ENTRY;
        known.niter = niter;
        return known;
    }
    edge entry = only_entry(r, loops, l);
    return entry ? find_variable(loop, entry) : trips{};
}

/* The edge into the loop, from a block that does nothing but enter it. */
edge plain_entry(const routine &r, const cfg_loops &loops, uint32_t l)
{
    edge entry = only_entry(r, loops, l);
    return entry && single_succ_p(entry->src) ? entry : nullptr;
}

bool is_known_before(const trips &known, class loop *loop)
{
    bool is_known = expr_invariant_in_loop_p(loop, known.niter);
    for (const trips::times &times : known.entered)
        is_known &= expr_invariant_in_loop_p(loop, times.niter);
    return is_known;
}

/* A loop that every iteration of the one around it enters once, for a number of iterations that is known before that
 * one too, is told there: the numbers multiply. */
bool move_out(const routine &r, const cfg_loops &loops, const std::vector<trips> &found, trips &moving)
{
    uint32_t around = loops.at[moving.at].parent;
    edge entry = plain_entry(r, loops, moving.at);
    if (around == CFG_NONE || found[around].kind != trips::ON_ENTRY || !entry || !plain_entry(r, loops, around))
        return false;
    class loop *loop = r.blocks[loops.at[around].head]->loop_father;
    if (entry->src->loop_father != loop || !dominated_by_p(CDI_DOMINATORS, loop->latch, entry->src) ||
        !is_known_before(moving, loop))
        return false;
    edge exit = r.places[loops.at[around].exits[0]].on;
    moving.entered.push_back({found[around].niter, dominated_by_p(CDI_DOMINATORS, exit->src, entry->src)});
    moving.at = around;
    return true;
}

tree convert(gimple_seq *seq, tree type, tree value)
{
    if (useless_type_conversion_p(type, TREE_TYPE(value)))
        return value;
    if (TREE_CODE(value) == INTEGER_CST)
        return fold_convert(type, value);
    tree converted = make_ssa_name(type);
    gimple_seq_add_stmt(seq, gimple_build_assign(converted, NOP_EXPR, value));
    return converted;
}

tree combine(gimple_seq *seq, tree_code code, tree left, tree right)
{
    tree result = make_ssa_name(TREE_TYPE(left));
    gimple_seq_add_stmt(seq, gimple_build_assign(result, code, left, right));
    return result;
}

} // namespace

void routine_prepare_loops()
{
    if (optimize)
        loop_optimizer_init(GCC_LOOP_SHAPE);
}

void routine_forget_loops()
{
    if (optimize)
        loop_optimizer_finalize();
}

std::vector<trips> routine_find_trips(const routine &r, const cfg_loops &loops, const std::vector<bool> &is_quiet)
{
    std::vector<trips> found(loops.n);
    if (!loops.n || !optimize)
        return found;
    calculate_dominance_info(CDI_DOMINATORS);
    scev_initialize();
    for (uint32_t l = 0; l < loops.n; l++) {
        found[l] = find_one(r, loops, l);
        found[l].at = l;
    }
    scev_finalize();
    for (trips &each : found)
        while (each.kind == trips::ON_ENTRY && loops.at[each.at].parent != CFG_NONE &&
               is_quiet[loops.at[each.at].parent] && move_out(r, loops, found, each))
            continue;
    return found;
}

static tree as_value(gimple_seq *seq, tree expression)
{
    gimple_seq before = nullptr;
    tree value = force_gimple_operand(unshare_expr(expression), &before, true, NULL_TREE);
    gimple_seq_add_seq(seq, before);
    return convert(seq, uint64_type_node, value);
}

tree trips_on_entry(const trips &trips, gimple_seq *seq)
{
    tree value = as_value(seq, trips.niter);
    for (const trips::times &times : trips.entered) {
        tree n = as_value(seq, times.niter);
        if (times.is_one_more)
            n = combine(seq, PLUS_EXPR, n, build_one_cst(uint64_type_node));
        value = combine(seq, MULT_EXPR, value, n);
    }
    return value;
}

/* The variable at an exit, before or after its step there. */
struct reading {
    tree value;
    bool is_stepped;
};

/* Some jumps over the loop's end leave it with a next value of their own. */
static bool is_one_step_on(const trips &trips, tree name)
{
    gimple *stmt = TREE_CODE(name) == SSA_NAME ? SSA_NAME_DEF_STMT(name) : nullptr;
    tree_code code = stmt && is_gimple_assign(stmt) ? gimple_assign_rhs_code(stmt) : ERROR_MARK;
    return (code == PLUS_EXPR || code == POINTER_PLUS_EXPR) && gimple_assign_rhs1(stmt) == trips.phi &&
           cst_and_fits_in_hwi(gimple_assign_rhs2(stmt)) && int_cst_value(gimple_assign_rhs2(stmt)) == trips.step;
}

/* The operand of the exit's condition is at hand. The other of the variable's two values would need a register of its
 * own. If the loop ends because the variable equals something, that something will do. */
static reading read_at_exit(const trips &trips, edge exit)
{
    gcond *condition = safe_dyn_cast<gcond *>(gcc_last_statement(exit->src));
    tree left = condition ? gimple_cond_lhs(condition) : NULL_TREE;
    bool is_stepped = left && (left == trips.next || is_one_step_on(trips, left));
    if (left && (left == trips.phi || is_stepped)) {
        tree_code equal = exit->flags & EDGE_TRUE_VALUE ? EQ_EXPR : NE_EXPR;
        return {gimple_cond_code(condition) == equal ? gimple_cond_rhs(condition) : left, is_stepped};
    }
    is_stepped = dominated_by_p(CDI_DOMINATORS, exit->src, gimple_bb(SSA_NAME_DEF_STMT(trips.next)));
    return {is_stepped ? trips.next : trips.phi, is_stepped};
}

tree trips_at_exit(const trips &trips, edge exit, gimple_seq *seq)
{
    reading reading = read_at_exit(trips, exit);
    tree type = unsigned_type_for(TREE_TYPE(trips.phi));
    tree now = convert(seq, type, reading.value), first = convert(seq, type, trips.base);
    tree distance = trips.step > 0 ? combine(seq, MINUS_EXPR, now, first) : combine(seq, MINUS_EXPR, first, now);
    HOST_WIDE_INT size = trips.step > 0 ? trips.step : -trips.step;
    if (size > 1)
        distance = combine(seq, RSHIFT_EXPR, distance, build_int_cst(integer_type_node, exact_log2(size)));
    tree count = convert(seq, uint64_type_node, distance);
    return reading.is_stepped ? combine(seq, PLUS_EXPR, count, build_int_cst(uint64_type_node, -1)) : count;
}

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

/* The target of the way over this edge of `from`, past an arm. */
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
    gcond *condition = safe_dyn_cast<gcond *>(gcc_last_statement(from));
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
