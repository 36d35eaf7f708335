/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/verdict.h"
#include "analyze/verdict/balance.h"
#include "analyze/verdict/when.h"

void verdict_settle(const struct analysis *analysis, struct cause *cause)
{
    struct arena scratch = {0};
    struct sides sides = sides_of(&scratch, cause);
    cause->balance = balance_of(cause, &sides);
    balance_settle_kind(cause, &sides);
    cause->acts = when_acts(analysis, cause);
    arena_release(&scratch);
}

void verdicts_find(struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        verdict_settle(analysis, &analysis->causes[i]);
}
