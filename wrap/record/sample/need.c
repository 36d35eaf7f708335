/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/need.h"

enum { LEAST_PART = 100 };

void need_begin(struct need *need, bool is_runnable, uint64_t now_ns)
{
    *need = (struct need){.state = is_runnable ? GAP_ON : GAP_ASLEEP, .since_ns = now_ns};
}

static void go_on(struct need *need, uint64_t now_ns)
{
    uint64_t ns = now_ns > need->since_ns ? now_ns - need->since_ns : 0;
    if (need->state == GAP_ON)
        need->used_ns += ns;
    else if (need->state == GAP_READY)
        need->ready_ns += ns;
    need->since_ns += ns;
}

static void settle(struct need *need)
{
    need->needed_ns += need->used_ns + (need->used_ns >= need->ready_ns / LEAST_PART ? need->ready_ns : 0);
    need->ready_ns = need->used_ns = 0;
}

void need_switch(struct need *need, enum gap_state state, uint64_t now_ns)
{
    go_on(need, now_ns);
    if (need->state == GAP_ON)
        settle(need);
    need->state = state;
}

void need_was_woken(struct need *need, uint64_t ready_ns)
{
    need->ready_ns += ready_ns;
}

uint64_t need_take_ns(struct need *need, uint64_t now_ns)
{
    go_on(need, now_ns);
    if (need->state == GAP_ON)
        settle(need);
    uint64_t needed_ns = need->needed_ns;
    need->needed_ns = 0;
    return needed_ns;
}
