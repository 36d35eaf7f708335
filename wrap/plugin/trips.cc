// SPDX-License-Identifier: BSD-3-Clause
/*
 * Iterations that need not be counted because the loop counts them itself. Where the number of iterations is known on
 * entry, it is added there, once. Where the loop has a variable that goes up or down by a fixed step, the difference
 * between its value at an exit and its first value tells. Both replace an instruction in every iteration by a few per
 * execution of the loop; other loops are told apart by `kind`.
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
    if (expression_expensive_p(known.niter))
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
        !simple_iv(loop, loop, result, &iv, false) || !tree_fits_shwi_p(iv.step) || !cannot_wrap(type, iv))
        return false;
    HOST_WIDE_INT step = tree_to_shwi(iv.step);
    if (POINTER_TYPE_P(type) && step > HOST_WIDE_INT_MAX / 2)
        return false;
    tree base = PHI_ARG_DEF_FROM_EDGE(phi, entry), next = PHI_ARG_DEF_FROM_EDGE(phi, latch);
    if (!step || !pow2p_hwi(step < 0 ? -step : step) || TREE_CODE(next) != SSA_NAME ||
        SSA_NAME_OCCURS_IN_ABNORMAL_PHI(result) || SSA_NAME_OCCURS_IN_ABNORMAL_PHI(next))
        return false;
    trips = {trips::AT_EXIT, nullptr, result, next, base, step};
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

tree convert(gimple_seq *seq, tree type, tree value)
{
    if (useless_type_conversion_p(type, TREE_TYPE(value)))
        return value;
    if (TREE_CODE(value) != SSA_NAME)
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
        loop_optimizer_init(LOOPS_HAVE_PREHEADERS);
}

void routine_forget_loops()
{
    if (optimize)
        loop_optimizer_finalize();
}

std::vector<trips> routine_find_trips(const routine &r, const cfg_loops &loops)
{
    std::vector<trips> found(loops.n);
    if (!loops.n || !optimize)
        return found;
    calculate_dominance_info(CDI_DOMINATORS);
    scev_initialize();
    for (uint32_t l = 0; l < loops.n; l++)
        found[l] = find_one(r, loops, l);
    scev_finalize();
    return found;
}

tree trips_on_entry(const trips &trips, gimple_seq *seq)
{
    gimple_seq before = nullptr;
    tree value = force_gimple_operand(unshare_expr(trips.niter), &before, true, NULL_TREE);
    gimple_seq_add_seq(seq, before);
    return convert(seq, uint64_type_node, value);
}

tree trips_at_exit(const trips &trips, edge exit, gimple_seq *seq)
{
    bool is_stepped = dominated_by_p(CDI_DOMINATORS, exit->src, gimple_bb(SSA_NAME_DEF_STMT(trips.next)));
    tree type = unsigned_type_for(TREE_TYPE(trips.phi));
    tree now = convert(seq, type, is_stepped ? trips.next : trips.phi), first = convert(seq, type, trips.base);
    tree distance = trips.step > 0 ? combine(seq, MINUS_EXPR, now, first) : combine(seq, MINUS_EXPR, first, now);
    HOST_WIDE_INT size = trips.step > 0 ? trips.step : -trips.step;
    if (size > 1)
        distance = combine(seq, RSHIFT_EXPR, distance, build_int_cst(integer_type_node, exact_log2(size)));
    tree count = convert(seq, uint64_type_node, distance);
    return is_stepped ? combine(seq, PLUS_EXPR, count, build_int_cst(uint64_type_node, -1)) : count;
}
