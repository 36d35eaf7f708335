// SPDX-License-Identifier: BSD-3-Clause
/*
 * Early returns. A function that may return at once saves no registers before it knows, provided that the copy of an
 * argument which survives calls is needed on the other way only. A block that merely hands the argument on as the
 * result becomes a copy before the condition by itself, but not with a counter in it. So the copy is moved there, as it
 * would have been without the counter.
 */
#include "routine.h"

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

/* Where the choice at a block's end begins: its jump, or the comparison just before. They must stay neighbours. */
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
