// SPDX-License-Identifier: BSD-3-Clause
/*
 * Registers that counting would cost, given back in the RTL.
 *
 * Addresses of counters. The place of a counter in its thread's storage is a constant, which the instruction that
 * counts can hold itself. But where one block counts twice, the compiler computes what the two addresses share first,
 * takes it out of loops, and so keeps a register for it, which recursive functions save and restore at every call. Such
 * registers are replaced by their constant again.
 *
 * Early returns. A function that may return at once saves no registers before it knows, provided that the copy of an
 * argument which survives calls is needed on the other way only. A block that merely hands the argument on as the
 * result becomes a copy before the condition by itself, but not with a counter in it. So the copy is moved there, as it
 * would have been without the counter.
 */
#include "routine.h"

namespace
{

bool names_counters(const_rtx constant, tree counters)
{
    subrtx_iterator::array_type array;
    FOR_EACH_SUBRTX(each, array, constant, ALL)
    if (GET_CODE(*each) == SYMBOL_REF && SYMBOL_REF_DECL(*each) == counters)
        return true;
    return false;
}

/* The constant that the register always holds, when it is the place of the routine's counters; or null. */
rtx place_in(rtx reg, tree counters)
{
    if (!REG_P(reg) || HARD_REGISTER_P(reg) || DF_REG_DEF_COUNT(REGNO(reg)) != 1)
        return NULL_RTX;
    rtx set = single_set(DF_REF_INSN(DF_REG_DEF_CHAIN(REGNO(reg))));
    return set && GET_CODE(SET_SRC(set)) == CONST && names_counters(SET_SRC(set), counters) ? SET_SRC(set) : NULL_RTX;
}

/* The same address without such a register, or null. It is: thread + register, or that + number. */
rtx constant_address(rtx address, tree counters)
{
    HOST_WIDE_INT offset = 0;
    if (GET_CODE(address) == PLUS && CONST_INT_P(XEXP(address, 1))) {
        offset = INTVAL(XEXP(address, 1));
        address = XEXP(address, 0);
    }
    if (GET_CODE(address) != PLUS)
        return NULL_RTX;
    for (int i = 0; i < 2; i++)
        if (rtx place = place_in(XEXP(address, i), counters))
            return gen_rtx_PLUS(GET_MODE(address), XEXP(address, 1 - i),
                                plus_constant(GET_MODE(address), copy_rtx(place), offset));
    return NULL_RTX;
}

void settle_addresses(rtx_insn *insn, tree counters)
{
    subrtx_ptr_iterator::array_type array;
    FOR_EACH_SUBRTX_PTR(each, array, &PATTERN(insn), NONCONST)
    if (MEM_P(**each))
        if (rtx address = constant_address(XEXP(**each, 0), counters))
            validate_change(insn, &XEXP(**each, 0), address, true);
    apply_change_group();
}

} // namespace

void routine_settle_addresses(const routine &r)
{
    basic_block block;
    rtx_insn *insn;
    if (!r.counters)
        return;
    FOR_EACH_BB_FN(block, cfun)
    FOR_BB_INSNS(block, insn)
    if (NONDEBUG_INSN_P(insn))
        settle_addresses(insn, r.counters);
}

namespace
{

bool is_copy(rtx set)
{
    return REG_P(SET_DEST(set)) && REG_P(SET_SRC(set)) && !HARD_REGISTER_P(SET_DEST(set)) &&
           !HARD_REGISTER_P(SET_SRC(set));
}

/* The only copy of a register in a block that does nothing else but count; or null. */
rtx_insn *only_copy(basic_block block)
{
    rtx_insn *insn, *copy = nullptr;
    FOR_BB_INSNS(block, insn)
    {
        rtx set = NONDEBUG_INSN_P(insn) ? single_set(insn) : NULL_RTX;
        if (!NONDEBUG_INSN_P(insn) || simplejump_p(insn) || (set && MEM_P(SET_DEST(set))))
            continue;
        if (!set || copy || !is_copy(set))
            return nullptr;
        copy = insn;
    }
    return copy;
}

/* The begin of the choice at a block's end: its jump, or the comparison just before. They must stay neighbours. */
rtx_insn *choice_of(basic_block block)
{
    rtx_insn *jump = BB_END(block), *before = prev_nonnote_nondebug_insn_bb(jump);
    rtx set = before ? single_set(before) : NULL_RTX;
    bool compares = set && REG_P(SET_DEST(set)) && GET_MODE_CLASS(GET_MODE(SET_DEST(set))) == MODE_CC;
    return compares ? before : jump;
}

/* Into `block`, from whose end one leads to `early` or to `other`, when nobody needs what the copy overwrites. */
bool move_copy(basic_block block, basic_block early, basic_block other)
{
    rtx_insn *copy = only_copy(early), *choice = choice_of(block);
    if (!copy)
        return false;
    rtx to = SET_DEST(single_set(copy));
    if (REGNO_REG_SET_P(df_get_live_in(other), REGNO(to)) ||
        reg_used_between_p(to, PREV_INSN(choice), NEXT_INSN(BB_END(block))) ||
        reg_used_between_p(to, BB_HEAD(early), copy))
        return false;
    reorder_insns(copy, copy, PREV_INSN(choice));
    INSN_LOCATION(copy) = INSN_LOCATION(BB_END(block));
    return true;
}

} // namespace

void routine_clear_early_returns(const routine &)
{
    basic_block first = single_succ(ENTRY_BLOCK_PTR_FOR_FN(cfun));
    if (EDGE_COUNT(first->succs) != 2 || !any_condjump_p(BB_END(first)))
        return;
    df_analyze();
    bool is_moved = false; /* one at most: it changes what the other way needs */
    for (unsigned i = 0; i < 2 && !is_moved; i++) {
        basic_block early = EDGE_SUCC(first, i)->dest;
        is_moved =
            single_pred_p(early) && single_succ_p(early) && move_copy(first, early, EDGE_SUCC(first, 1 - i)->dest);
    }
}
