/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/looks.h"

enum { FIRST_NS = 2000000, LATER_NS = 8000000, TIMES_COST = 100 };

bool looks_is_time(const struct looks *looks, uint64_t now_ns, unsigned n_threads)
{
    uint64_t apart_ns = looks->n < LOOKS_FIRST ? FIRST_NS : LATER_NS;
    uint64_t cost_ns = looks->cost_ns[0] < looks->cost_ns[1] ? looks->cost_ns[0] : looks->cost_ns[1];
    uint64_t worth_ns = cost_ns * TIMES_COST * n_threads;
    return now_ns >= looks->last_ns + (worth_ns > apart_ns ? worth_ns : apart_ns);
}

void looks_take(struct looks *looks, uint64_t now_ns, uint64_t cost_ns)
{
    looks->last_ns = now_ns;
    looks->cost_ns[looks->n++ % 2] = cost_ns;
}
