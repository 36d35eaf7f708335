/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The modules of this process that count, as far as they are known. One thread at a time looks for more. All read those
 * that are ready.
 */
#pragma once
#include "wrap/record/count/counters.h"

extern struct inventory {
    struct counters_process process;
    _Atomic uint32_t n_ready; /* of its modules: their ranges are there for all threads */
    atomic_flag is_searched;
} inventory;

static inline uint32_t inventory_n_ready(void)
{
    return atomic_load_explicit(&inventory.n_ready, memory_order_acquire);
}

/* False when another thread has not ended after `patience` looks: in a forked child it never will. */
bool inventory_begin(unsigned patience);
/* In between: true when there are new modules, which inventory_add makes ready. */
bool inventory_find(void);
void inventory_add(bool are_seen_everywhere);
void inventory_end(void);

/* counters_attach and counters_leave for the modules that are ready. */
void inventory_attach(struct counters_thread *thread);
void inventory_leave(struct counters_thread *thread, struct counters_thread *rest);
