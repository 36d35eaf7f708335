/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/verdict.h"
#include "analyze/constants/constants.h"
#include "analyze/verdict/advice.h"
#include "analyze/verdict/balance.h"
#include "analyze/verdict/machine.h"
#include "analyze/verdict/when.h"

enum cause_kind verdict_settle(const struct analysis *analysis, struct cause *cause)
{
    struct arena scratch = {0};
    struct sides sides = sides_of(&scratch, cause);
    cause->balance = balance_of(cause, &sides);
    enum cause_kind slower = balance_settle_kind(cause, &sides);
    cause->acts = when_acts(analysis, cause);
    cause->sharing = thread_sharing_of(cause);
    cause->advice = advice_of(analysis, cause);
    arena_release(&scratch);
    return slower;
}

/* The code that a cause names, and what is below it, is slower where the cause is. `slower`: by the number before
 * causes were sorted, what that has become. */
static void settle_nodes(struct analysis *analysis, const enum cause_kind *slower, struct arena *scratch)
{
    uint32_t *cause = arena_array(scratch, uint32_t, analysis->n_nodes + 1); /* from 1; 0 = none */
    for (uint32_t i = 0; i < analysis->n_nodes; i++) {
        struct code_node *node = &analysis->nodes[i];
        cause[i] = node->cause || node->parent == TRACE_NONE ? node->cause : cause[node->parent];
        enum cause_kind kind = cause[i] ? slower[cause[i] - 1] : KIND_SLOWER;
        double ns = node->kind_ns[KIND_SLOWER];
        node->kind_ns[KIND_SLOWER] -= ns;
        node->kind_ns[kind] += ns;
    }
}

static void settle_transfers(struct analysis *analysis)
{
    const struct efficiency *efficiency = &analysis->efficiency;
    struct transfers *transfers = &analysis->transfers;
    transfers->have_most = transfers->n_places && efficiency->transfer_ns > NEGLIGIBLE_SHARE * efficiency->all_ns &&
                           efficiency->transfer_ns > analysis->waiting_ns - analysis->machine.waiting_ns;
    transfers->advice = transfers->have_most ? advice_of_transfer(analysis, transfers->places[0].step) : ADVICE_NONE;
}

void verdict_settle_machine(struct analysis *analysis)
{
    machine_judge(&analysis->machine);
    analysis->machine.advice = advice_of_machine(analysis);
}

void verdicts_find(struct analysis *analysis)
{
    struct arena scratch = {0};
    enum cause_kind *slower = arena_array(&scratch, enum cause_kind, analysis->n_causes + 1);
    verdict_settle_machine(analysis);
    settle_transfers(analysis);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        slower[analysis->causes[i].found_as] = verdict_settle(analysis, &analysis->causes[i]);
    settle_nodes(analysis, slower, &scratch);
    arena_release(&scratch);
}
