/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a stack that a walk may read: bytes at hand, pages beyond them, and what is known of it. */
#pragma once
#include "wrap/record/stack/pages.h"
#include <stdbool.h>
#include <stdint.h>

/* Places of the stack that certainly hold return addresses, in rising order. The innermost may have ended. */
enum { UNWIND_MAX_FRAMES = 128 };
struct unwind_known {
    unsigned n;
    uint64_t slot[UNWIND_MAX_FRAMES];
};
static inline bool unwind_is_known(const struct unwind_known *known, uint64_t slot)
{
    for (unsigned i = 0; i < known->n && known->slot[i] <= slot; i++)
        if (known->slot[i] == slot)
            return true;
    return false;
}

/* The stack bytes that may be read: address a in [low, high) is bytes[a - low]. */
struct unwind_stack {
    uint64_t low, high;
    const unsigned char *bytes;
    struct stack_pages *beyond;       /* from `high` on, what is there at present; NULL = nothing */
    const struct unwind_known *known; /* NULL = nothing */
};

/* False when it lies elsewhere. */
bool window_read(const struct unwind_stack *stack, uint64_t address, uint64_t *value);
