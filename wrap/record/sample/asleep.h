/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that sleeps: where, and for what. For the helper only.
 *
 * A sleeping thread has no samples. /proc tells its stack pointer and program counter in user space, not its other
 * registers. This is enough for the system call stubs, and further out for all code without frame pointers. For a frame
 * addressed through an unknown frame pointer, the stack is searched for the next pair of saved frame pointer and return
 * address.
 */
#pragma once
#include "wrap/record/recorder.h"
#include "wrap/record/sample/awaited.h"

struct asleep {
    uint64_t sp, pc;
    int system_call;                      /* -1: it sleeps outside of one */
    uint64_t argument[AWAITED_ARGUMENTS]; /* of the system call, the first ones */
};

enum asleep_found { THREAD_SLEEPS, THREAD_IS_BUSY, THREAD_IS_GONE };
enum asleep_found asleep_find(int32_t tid, struct asleep *at);
/* Its stack, cut where that cannot be followed. */
void asleep_walk(const struct asleep *at, struct stack_walk *walk);
/*
 * WW_S_BLOCKED, and for what. In a pool of processes a thread of the interpreter reads from a pipe of theirs, and wakes
 * the one that waits for their result. So a thread that runs Python (`runs_python_code`) and sleeps until another
 * thread wakes it waits for a pipe, if one of the others that run Python does, and the rest of these can only be woken
 * too.
 */
uint32_t asleep_flags(const struct recorder_thread *thread, const struct asleep *at, bool runs_python_code);
