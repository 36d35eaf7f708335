/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For how long a thread needs a CPU, from its switches.
 *
 * It does while it runs, and while it is ready, if it then runs for a hundredth of that time or longer. A thread that
 * wakes another one may lose its CPU to it, and only falls asleep when it is back: it lacked nothing. So threads that
 * take turns need one CPU together.
 */
#pragma once
#include "wrap/record/sample/gap.h"

struct need {
    enum gap_state state;
    uint64_t since_ns;
    uint64_t ready_ns, used_ns; /* on a CPU, and ready before that: the present or last time */
    uint64_t needed_ns;         /* before that; of the time that is to be told */
};

void need_begin(struct need *need, bool is_runnable, uint64_t now_ns);
/* In order of time. */
void need_switch(struct need *need, enum gap_state state, uint64_t now_ns);
/* It comes from a sleep, at the end of which it was ready for so long. */
void need_was_woken(struct need *need, uint64_t ready_ns);
/* Since the last time that it was asked. A time ready counts when it is over. */
uint64_t need_take_ns(struct need *need, uint64_t now_ns);
