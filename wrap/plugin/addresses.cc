// SPDX-License-Identifier: BSD-3-Clause
/*
 * Addresses of counters. The place of a counter in its thread's storage is a constant, which the instruction that
 * counts can hold itself. But where one block counts twice, the compiler computes what the two addresses share first,
 * takes it out of loops, and so keeps a register for it, which recursive functions save and restore at every call. Such
 * registers are replaced by their constant again.
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
    FOR_EACH_BB_FN(block, cfun)
    FOR_BB_INSNS(block, insn)
    if (NONDEBUG_INSN_P(insn))
        settle_addresses(insn, r.counters);
}
