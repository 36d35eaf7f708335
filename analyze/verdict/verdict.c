/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/verdict.h"
#include "analyze/constants/constants.h"
#include "analyze/verdict/advice.h"
#include "analyze/verdict/answer.h"
#include "analyze/verdict/balance.h"
#include "analyze/verdict/machine.h"
#include "analyze/verdict/reason.h"
#include "analyze/verdict/when.h"
#include <math.h>

/* The two ends of a message are in different calls as a matter of course. */
static bool has_instead(const struct cause *cause, const struct sides *sides)
{
    return cause->instead_share >= MAJORITY && cause->kind != KIND_TRANSFER && sides->others.n &&
           crowd_most(&sides->others, MEASURE_TIME) < NEGLIGIBLE_SHARE * sides->late.mean.time_ns;
}

/* How many threads share it at a time, where that is known of both sides. */
static void settle_threads(struct cause *cause, const struct sides *sides)
{
    const struct doing *late = &sides->late.mean, *others = &sides->others.mean;
    double n_late = late->thread_ns / late->computing_ns, n_others = others->thread_ns / others->computing_ns;
    bool is_known = late->thread_ns > 0 && others->thread_ns > 0;
    bool is_shared = n_late > MORE_THREADS || n_others > MORE_THREADS;
    bool is_alike = n_late > n_others / MORE_THREADS && n_late < n_others * MORE_THREADS;
    bool is_told = is_known && is_shared && !is_alike;
    cause->late_threads = is_told ? n_late : 0;
    cause->other_threads = is_told ? n_others : 0;
}

/* A gain that is the waiting as far as people care is told as that. Evenly shared work gains more than the waiting by
 * what it lacked a CPU only; other work by that as well, where it is more than all other rows. */
static void settle_excess(const struct analysis *analysis, struct cause *cause)
{
    double waiting_ns = cause->waiting_ns;
    double others_ns = analysis->waiting_ns - analysis->machine.waiting_ns - waiting_ns;
    bool is_lacking = cause->remedy == REMEDY_SHARE || cause->lacking_ns > others_ns;
    if (cause->gain_ns <= NOTABLY_LONGER * waiting_ns) {
        cause->gain_ns = fmin(cause->gain_ns, waiting_ns);
        cause->gain_least_ns = fmin(cause->gain_least_ns, waiting_ns);
        cause->gain_excess = EXCESS_NONE;
    } else if (cause->gain_least_ns <= waiting_ns || is_lacking)
        cause->gain_excess = EXCESS_LACKING;
    else
        cause->gain_excess = cause->if_as_others_known_ns > waiting_ns ? EXCESS_SHARED : EXCESS_UNSEEN;
}

/* Late ranks that are as fast as the others still have more of the work. */
static double removed_share(const struct cause *cause)
{
    double slower_ns = cause->kind_ns[KIND_SLOWER], work_ns = cause->kind_ns[KIND_MORE_WORK];
    return cause->kind == KIND_SLOWER && slower_ns > 0 ? slower_ns / (slower_ns + work_ns) : 1;
}

/* Nobody shares out a slow memory or a sleep: it goes. And what varies by chance stays. */
static void settle_gain(const struct analysis *analysis, struct cause *cause)
{
    double minor_ns = NEGLIGIBLE_SHARE * analysis->efficiency.wall_ns;
    bool is_removed = cause->kind == KIND_SLOWER || cause->kind == KIND_BLOCKED;
    cause->remedy = cause->advice == ADVICE_NOTHING ? REMEDY_NONE : is_removed ? REMEDY_AS_OTHERS : REMEDY_SHARE;
    cause->gain_ns = cause->gain_least_ns = 0;
    if (cause->remedy == REMEDY_SHARE) {
        cause->gain_ns = cause->if_balanced_ns;
        cause->gain_least_ns = cause->if_balanced_least_ns;
    } else if (cause->remedy == REMEDY_AS_OTHERS) {
        double share = removed_share(cause);
        cause->gain_ns = share * cause->if_as_others_ns;
        cause->gain_least_ns = share * cause->if_as_others_least_ns;
    }
    settle_excess(analysis, cause);
    if (cause->gain_ns < NOTABLY_LONGER * cause->gain_least_ns)
        cause->gain_least_ns = cause->gain_ns; /* one figure */
    cause->is_gain_minor = cause->gain_ns < minor_ns;
    cause->is_gain_least_minor = cause->gain_least_ns < minor_ns;
    cause->gain_excess = cause->is_gain_minor ? EXCESS_NONE : cause->gain_excess; /* no figure is told */
}

void verdict_settle_parting(struct parting *parting)
{
    parting->is_as_often = parting->entered_least >= 1 - AS_OFTEN && parting->entered_most <= 1 + AS_OFTEN;
}

/* Where others wait for it at times only, its factors are still those of all its time. Late ranks may be so one after
 * the other. */
static void settle_reason(struct cause *cause)
{
    struct reason *reason = &cause->reason;
    bool acts_at_times = cause->every > 1 || cause->acts.kind > ACTS_THROUGHOUT;
    bool is_equal = reason->is_as_often && reason->has_same_code && reason->cost_told == COST_TOLD_SAME;
    bool has_factor = reason->kind == REASON_LONGER || reason->kind == REASON_LONGER_AT_LEAST ||
                      (reason->kind == REASON_WORK && !is_equal);
    reason->is_over_run = acts_at_times && has_factor;
    if (reason->kind == REASON_ANOTHER_EACH_TIME && cause->acts.moves)
        reason->kind = REASON_MOVES;
}

struct settled_kinds verdict_settle(const struct analysis *analysis, struct cause *cause)
{
    struct arena scratch = {0};
    struct sides sides = sides_of(&scratch, cause);
    cause->balance = balance_of(cause, &sides);
    struct settled_kinds settled = balance_settle_kinds(cause, &sides);
    cause->reason = reason_of(cause, &sides);
    cause->no_longer = reason_of_no_longer(&sides.no_longer, &sides.others);
    settle_threads(cause, &sides);
    cause->has_instead = has_instead(cause, &sides);
    /* They tell why one side executes more than another. */
    bool has_sides = !cause->is_spinning && cause->balance != BALANCE_VARYING;
    bool is_as_much = cause->reason.is_as_often && cause->reason.has_same_code &&
                      cause->kind_ns[KIND_MORE_WORK] < WORTH_SAYING * cause->waiting_ns;
    cause->n_partings = has_sides && !is_as_much ? cause->n_partings : 0;
    for (uint32_t i = 0; i < cause->n_partings; i++)
        verdict_settle_parting(&cause->partings[i]);
    cause->acts = when_acts(analysis, cause);
    settle_reason(cause);
    cause->sharing = thread_sharing_of(analysis, cause);
    cause->moves_nothing = cause->kind == KIND_TRANSFER && !step_moves_data(analysis, cause->step);
    cause->advice = advice_of(analysis, cause);
    settle_gain(analysis, cause);
    arena_release(&scratch);
    return settled;
}

static void node_becomes(struct code_node *node, enum cause_kind kind, enum cause_kind becomes)
{
    double ns = node->kind_ns[kind];
    node->kind_ns[kind] -= ns;
    node->kind_ns[becomes] += ns;
}

/* The code that a cause names, and what is below it, is of the kinds of the cause. `settled`: by the number before
 * causes were sorted. */
static void settle_nodes(struct analysis *analysis, const struct settled_kinds *settled, struct arena *scratch)
{
    uint32_t *cause = arena_array(scratch, uint32_t, analysis->n_nodes + 1); /* from 1; 0 = none */
    for (uint32_t i = 0; i < analysis->n_nodes; i++) {
        struct code_node *node = &analysis->nodes[i];
        cause[i] = node->cause || node->parent == TRACE_NONE ? node->cause : cause[node->parent];
        if (!cause[i])
            continue;
        node_becomes(node, KIND_MORE_WORK, settled[cause[i] - 1].more_work);
        node_becomes(node, KIND_MORE_TIME, settled[cause[i] - 1].more_time);
        node_becomes(node, KIND_SLOWER, settled[cause[i] - 1].slower);
    }
}

/* Nobody waits in MPI for a rank that waits in a loop of its own, if all do; or next to nobody. */
static void find_spinning(struct analysis *analysis)
{
    analysis->spinning = arena_array(&analysis->arena, struct spinning_loop, analysis->n_nodes + 1);
    for (uint32_t i = 0; i < analysis->n_nodes && analysis->code; i++) {
        const struct code_node *node = &analysis->nodes[i];
        uint32_t place = analysis->steps[node->step].place;
        bool is_long = node->most_ns >= (NOTABLY_LONGER - 1) * analysis->efficiency.wall_ns;
        double blamed_ns = 0;
        for (int kind = 0; kind < KIND_N; kind++)
            blamed_ns += node->kind_ns[kind];
        if (is_long && blamed_ns < (NOTABLY_LONGER - 1) * node->most_ns && place != CODE_NONE &&
            code_place(analysis->code, place)->is_spinning)
            analysis->spinning[analysis->n_spinning++] =
                (struct spinning_loop){.step = node->step, .rank = node->most_rank, .dur_ns = node->most_ns};
    }
}

static void settle_transfers(struct analysis *analysis)
{
    const struct efficiency *efficiency = &analysis->efficiency;
    struct transfers *transfers = &analysis->transfers;
    transfers->have_most = transfers->n_places && efficiency->transfer_ns > NEGLIGIBLE_SHARE * efficiency->all_ns &&
                           efficiency->transfer_ns > analysis->waiting_ns - analysis->machine.waiting_ns;
    transfers->moves_nothing = transfers->n_places && !step_moves_data(analysis, transfers->places[0].step);
    transfers->advice = transfers->have_most ? advice_of_transfer(analysis, transfers->places[0].step) : ADVICE_NONE;
}

static void settle_outside(struct analysis *analysis)
{
    struct outside *outside = &analysis->outside;
    outside->is_notable = outside->n_places && outside->ns >= NEGLIGIBLE_SHARE * analysis->efficiency.all_ns;
    outside->advice = outside->is_notable ? ADVICE_RECORD_THEM : ADVICE_NONE;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        for (uint32_t place = 0; place < outside->n_places && !analysis->causes[i].is_for_outside; place++)
            analysis->causes[i].is_for_outside = analysis->causes[i].step == outside->places[place].wait_step;
}

void verdict_settle_machine(struct analysis *analysis)
{
    machine_judge(&analysis->machine);
    analysis->machine.advice = advice_of_machine(analysis);
}

void verdict_settle_efficiency(struct analysis *analysis)
{
    struct efficiency *efficiency = &analysis->efficiency;
    efficiency->never_back_ns = 0;
    for (uint32_t i = 0; i < analysis->n_open_waits; i++)
        efficiency->never_back_ns += (double)analysis->open_waits[i].dur_ns;
    efficiency->never_back_ns = fmin(efficiency->never_back_ns, efficiency->mpi_ns);
    bool is_unknown = efficiency->unrecorded_ns >= (NOTABLY_LONGER - 1) * efficiency->all_ns;
    double *factors[] = {&efficiency->parallel, &efficiency->load_balance, &efficiency->serialisation,
                         &efficiency->transfer, &efficiency->processor};
    for (size_t i = 0; i < sizeof factors / sizeof *factors && (is_unknown || analysis->answer.kind == ANSWER_HANG);
         i++)
        *factors[i] = NAN;
}

/* By how much the work of late ranks is more, where it is counted; NAN: it is not. */
static double work_factor(const struct reason *reason)
{
    bool is_counted = reason->kind == REASON_WORK && reason->often.is_known;
    return is_counted ? reason->often.mean * (reason->has_same_code ? 1 : reason->code.mean) : NAN;
}

/* Times are as much longer in both within their errors. Exact counts belie that where they differ by more than core and
 * cache make of it. */
static bool is_by_another_factor(const struct cause *cause, const struct cause *largest)
{
    return fabs(log(work_factor(&cause->reason) / work_factor(&largest->reason))) > SAME_FACTOR;
}

/* What is counted alike in all rows is known. Times alone tell by how much: beyond what core and cache make of the same
 * work it is more of it. */
void verdict_settle_like(struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        if (cause->like && is_by_another_factor(cause, &analysis->causes[cause->like - 1]))
            cause->like = 0;
        cause->like_reason = cause->kind == KIND_MORE_WORK                 ? PARTITION_DATA
                             : cause->kind == KIND_SLOWER                  ? PARTITION_SLOWER
                             : cause->reason.times.mean > exp(SAME_FACTOR) ? PARTITION_DATA
                                                                           : PARTITION_EITHER;
    }
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct cause *cause = &analysis->causes[i];
        struct cause *largest = cause->like ? &analysis->causes[cause->like - 1] : NULL;
        if (largest && largest->kind != cause->kind)
            largest->like_reason = PARTITION_EITHER;
    }
}

void verdicts_find(struct analysis *analysis)
{
    struct arena scratch = {0};
    struct settled_kinds *settled = arena_array(&scratch, struct settled_kinds, analysis->n_causes + 1);
    verdict_settle_machine(analysis);
    settle_transfers(analysis);
    settle_outside(analysis);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        settled[analysis->causes[i].found_as] = verdict_settle(analysis, &analysis->causes[i]);
    verdict_settle_like(analysis);
    for (uint32_t i = 0; i < analysis->n_partitions; i++) {
        struct partition *partition = &analysis->partitions[i];
        settle_gain(analysis, &partition->whole);
        partition->has_own_node = late_have_own_node(analysis->trace, &partition->whole);
    }
    settle_nodes(analysis, settled, &scratch);
    find_spinning(analysis);
    answer_find(analysis);
    verdict_settle_efficiency(analysis);
    arena_release(&scratch);
}
