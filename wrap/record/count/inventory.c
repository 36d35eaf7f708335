/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/count/inventory.h"
#include "wrap/record/recorder.h"
#include <sched.h>

struct inventory inventory = {.is_searched = ATOMIC_FLAG_INIT};

bool inventory_begin(unsigned patience)
{
    while (atomic_flag_test_and_set_explicit(&inventory.is_searched, memory_order_acquire)) {
        if (patience-- == 0)
            return false;
        sched_yield();
    }
    return true;
}

void inventory_end(void)
{
    atomic_flag_clear_explicit(&inventory.is_searched, memory_order_release);
}

bool inventory_find(void)
{
    options_read();
    inventory.process.only = recorder.options.only;
    return counters_scan(&inventory.process);
}

void inventory_add(bool are_seen_everywhere)
{
    for (uint32_t i = inventory.n_ready; i < inventory.process.n_modules; i++)
        inventory.process.modules[i].is_seen_everywhere = are_seen_everywhere;
    atomic_store_explicit(&inventory.n_ready, inventory.process.n_modules, memory_order_release);
}

void inventory_attach(struct counters_thread *thread)
{
    counters_attach(&inventory.process, inventory_n_ready(), thread);
}

void inventory_leave(struct counters_thread *thread, struct counters_thread *rest)
{
    counters_leave(&inventory.process, inventory_n_ready(), thread, rest);
}
