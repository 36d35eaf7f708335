/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/stack/window.h"
#include <string.h>

bool window_read(const struct unwind_stack *stack, uint64_t address, uint64_t *value)
{
    if (address < stack->low)
        return false;
    if (address >= stack->high)
        return stack->beyond && pages_read(stack->beyond, address, value);
    if (stack->high - address < sizeof *value)
        return false;
    memcpy(value, stack->bytes + (address - stack->low), sizeof *value);
    return true;
}
