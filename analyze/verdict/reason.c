/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/reason.h"
#include "analyze/constants/constants.h"
#include "analyze/counts/executions.h"
#include "analyze/verdict/balance.h"
#include <math.h>

static bool is_alike(const struct crowd *crowd, enum measure measure)
{
    double most = crowd_most(crowd, measure);
    for (uint32_t i = 0; i < crowd->n; i++)
        if (doing_measure(&crowd->each[i], measure) * TIMES_ALIKE < most)
            return false;
    return true;
}

/* `beside`: by so much others account for it, which is left out. */
static struct factor factor_of(const struct crowd *late, const struct crowd *others, enum measure measure,
                               double beside)
{
    double of_late = doing_measure(&late->mean, measure), of_others = doing_measure(&others->mean, measure);
    struct factor factor = {.is_known = of_late > 0 && of_others > 0, .unit = of_others * beside};
    factor.least = factor.mean = factor.most = factor.is_known ? of_late / factor.unit : 1;
    for (uint32_t i = 0; i < late->n && factor.is_known; i++) {
        double one = doing_measure(&late->each[i], measure) / factor.unit;
        factor.least = fmin(factor.least, one);
        factor.most = fmax(factor.most, one);
    }
    return factor;
}

static bool is_within(const struct factor *factor, double low, double high)
{
    return factor->least > low && factor->most < high;
}

/* Times are those of the cause: where the code that names it enters more, on either side, they are not all that ranks
 * spend there. */
static bool is_itself(const struct crowd *late, const struct crowd *others)
{
    double entered_ns = fmax(late->mean.entered_ns, others->mean.entered_ns);
    return entered_ns > (NOTABLY_LONGER - 1) * late->mean.time_ns;
}

struct reason reason_of_no_longer(const struct crowd *late, const struct crowd *others)
{
    struct reason reason = {.times = factor_of(late, others, MEASURE_TIME, 1),
                            .is_average = !is_alike(others, MEASURE_TIME),
                            .is_itself = is_itself(late, others)};
    bool is_as_long = reason.times.is_known && reason.times.least * NOTABLY_LONGER > 1;
    reason.kind = is_as_long ? REASON_AS_LONG : REASON_NO_LONGER;
    return reason;
}

static struct reason of_time(const struct crowd *late, const struct crowd *others)
{
    struct reason reason = {.kind = REASON_TIME_VARIES, .is_itself = is_itself(late, others)};
    struct ratio times = sides_times(&late->mean, &others->mean);
    if (!others->n)
        return reason;
    if (crowd_most(others, MEASURE_TIME) < NEGLIGIBLE_SHARE * late->mean.time_ns) {
        reason.most_ns = others->mean.time_ns + SAME_DEVIATIONS * others->mean.error_ns;
        reason.is_alone = reason.most_ns < WORTH_SAYING * late->mean.time_ns;
        reason.is_few = SAME_DEVIATIONS * hypot(late->mean.error_ns, others->mean.error_ns) >=
                        late->mean.time_ns - others->mean.time_ns;
        bool is_next_to_nothing = reason.most_ns < (NOTABLY_LONGER - 1) * late->mean.time_ns;
        reason.kind = reason.is_few || is_next_to_nothing ? REASON_TIME_ALONE : REASON_TIME_AT_MOST;
        return reason;
    }
    if (!sides_is_longer(&late->mean, &others->mean))
        return reason_of_no_longer(late, others);
    reason.is_average = !is_alike(others, MEASURE_TIME);
    reason.times = factor_of(late, others, MEASURE_TIME, 1);
    reason.times.at_least = times.low;
    reason.times.at_most = times.high;
    reason.times.doubt = ratio_doubt(times);
    reason.times.is_vague = reason.times.doubt > VAGUE_DOUBT;
    reason.kind = reason.times.is_vague && times.low > 1 ? REASON_LONGER_AT_LEAST : REASON_LONGER;
    /* Others were never seen there themselves. */
    if (reason.kind == REASON_LONGER_AT_LEAST && others->mean.borrowed_ns >= MOST_SHARE * others->mean.time_ns) {
        reason.kind = REASON_TIME_AT_MOST;
        reason.about_ns = others->mean.time_ns;
        reason.most_ns = late->mean.time_ns / times.low;
    }
    reason.is_few = reason.times.is_vague && reason.kind == REASON_LONGER;
    return reason;
}

/* By more than its error, and by more than people care about. */
static bool is_other_cost(const struct factor *cost, const struct crowd *late, const struct crowd *others)
{
    for (uint32_t i = 0; i < late->n && cost->is_known; i++) {
        struct ratio costs = sides_costs(&late->each[i], &others->mean);
        double by_code = cost->unit / others->mean.cost_ns, ratio = costs.value / by_code;
        if ((ratio > NOTABLY_LONGER && costs.low > by_code) || (ratio < 1 / NOTABLY_LONGER && costs.high < by_code))
            return true;
    }
    return false;
}

static enum cost_told cost_told_of(const struct factor *cost, const struct crowd *late, const struct crowd *others)
{
    bool is_other = is_other_cost(cost, late, others), is_dearer = is_other && cost->mean > 1;
    bool are_few = executions_are_few(others->mean.executions, late->mean.executions);
    if (are_few && others->mean.computing_ns < NEGLIGIBLE_SHARE * late->mean.computing_ns)
        return COST_TOLD_UNKNOWN; /* a little of it tells nothing of much */
    if (cost->is_vague && (!is_other || (is_dearer && cost->at_least < NOTABLY_LONGER)))
        return COST_TOLD_UNKNOWN;
    if (!is_other)
        return COST_TOLD_SAME;
    return cost->is_vague && is_dearer ? COST_TOLD_AT_LEAST : COST_TOLD_FACTOR;
}

/* One execution, compared with the others': instructions first, since they are work, then the rest. Those of a library
 * are not counted: what its calls weigh is an estimate, and how long they take is all that is known. */
static void set_each(struct reason *reason, bool is_estimated, const struct crowd *late, const struct crowd *others)
{
    reason->code = factor_of(late, others, MEASURE_INSTRUCTIONS, 1);
    reason->has_same_code = is_estimated || is_within(&reason->code, 1 / (1 + USUAL_DOUBT), 1 + USUAL_DOUBT);
    double by_code = reason->has_same_code ? 1 : reason->code.mean;
    struct ratio costs = sides_costs(&late->mean, &others->mean);
    reason->cost = factor_of(late, others, MEASURE_COST, by_code);
    reason->cost.doubt = ratio_doubt(costs);
    reason->cost.is_vague = reason->cost.doubt > VAGUE_DOUBT;
    reason->cost.at_least = costs.low / by_code;
    reason->cost.at_most = costs.high / by_code;
    reason->cost_told = cost_told_of(&reason->cost, late, others);
}

/* Where several are compared with each other, or with those who wait. */
static bool has_counts(const struct crowd *late, const struct crowd *others)
{
    return others->n ? late->mean.executions > 0 : balance_is_as_often(late, others);
}

static struct reason of_work(const struct cause *cause, const struct crowd *late, const struct crowd *others)
{
    struct reason reason = {.kind = REASON_ONLY};
    if (!others->n) {
        reason.kind = cause->balance == BALANCE_EACH_TIME ? REASON_ANOTHER_EACH_TIME : REASON_IN_TURN;
        return reason;
    }
    reason.is_alone = crowd_most(others, MEASURE_EXECUTIONS) < NEXT_TO_NOTHING * late->mean.executions;
    if (reason.is_alone)
        return reason;
    bool is_by_cost = cause->kind == KIND_SLOWER && is_alike(others, MEASURE_EXECUTIONS);
    reason.is_average = !is_alike(others, is_by_cost ? MEASURE_COST : MEASURE_EXECUTIONS);
    reason.often = factor_of(late, others, MEASURE_EXECUTIONS, 1);
    reason.is_as_often = is_within(&reason.often, 1 - AS_OFTEN, 1 + AS_OFTEN);
    /* Ranks that run it as often over the whole run may still do so at other times. */
    bool may_have_more = cause->is_in_library && cause->balance == BALANCE_UNEVEN;
    reason.is_at_other_times = cause->kind_ns[KIND_MORE_WORK] >= WORTH_SAYING * cause->waiting_ns &&
                               balance_is_as_often(late, others) && !may_have_more;
    reason.kind = balance_is_less(late, others) ? REASON_LESS_BUT_LATER : REASON_WORK;
    set_each(&reason, cause->is_estimated, late, others);
    reason.back = factor_of(late, others, MEASURE_CALLED_BACK, 1);
    reason.is_slower_then = cause->balance == BALANCE_EACH_TIME && reason.has_same_code &&
                            reason.cost_told == COST_TOLD_SAME &&
                            cause->kind_ns[KIND_MORE_TIME] >= WORTH_SAYING * cause->waiting_ns;
    return reason;
}

/* Computing: from executions where they are known, else from time. */
static struct reason of_computing(const struct cause *cause, const struct crowd *late, const struct crowd *others)
{
    if (cause->balance == BALANCE_VARYING)
        return (struct reason){.kind =
                                   balance_is_as_often(late, others) ? REASON_STEPS_VARY_COUNTED : REASON_STEPS_VARY};
    return has_counts(late, others) ? of_work(cause, late, others) : of_time(late, others);
}

static struct reason of_no_cpu(const struct cause *cause, const struct crowd *late, const struct crowd *others)
{
    double computing_ns = cause->kind_ns[KIND_MORE_WORK] + cause->kind_ns[KIND_SLOWER] + cause->kind_ns[KIND_MORE_TIME];
    if (computing_ns < WORTH_SAYING * cause->waiting_ns)
        return (struct reason){.kind = REASON_NO_CPU};
    struct reason reason = of_computing(cause, late, others);
    reason.lacks_cpu = true;
    return reason;
}

static struct reason reason_by_kind(const struct cause *cause, const struct crowd *late, const struct crowd *others)
{
    if (cause->is_unrecorded)
        return (struct reason){.kind = REASON_UNRECORDED};
    if (cause->is_unexplained)
        return (struct reason){.kind = REASON_UNEXPLAINED};
    if (cause->is_spinning)
        return of_time(late, others);
    switch (cause->kind) {
    case KIND_MORE_WORK:
    case KIND_SLOWER:
        return of_computing(cause, late, others);
    case KIND_DESCHEDULED:
        return of_no_cpu(cause, late, others);
    case KIND_BLOCKED:
    case KIND_TRANSFER:
        return of_time(late, others);
    default:
        return cause->balance == BALANCE_UNEVEN && !cause->is_in_library && !cause->is_as_much_otherwise
                   ? of_time(late, others)
                   : of_computing(cause, late, others);
    }
}

struct reason reason_of(const struct cause *cause, const struct sides *sides)
{
    struct reason reason = reason_by_kind(cause, &sides->longer, &sides->others);
    if (reason.kind == REASON_TIME_VARIES && cause->kind != KIND_TRANSFER && sides->longer.n > 1)
        reason.kind = REASON_BY_TURNS;
    return reason;
}
