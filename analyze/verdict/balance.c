/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/balance.h"
#include "analyze/constants/constants.h"
#include "analyze/counts/executions.h"
#include <math.h>

const char *balance_name(enum balance balance)
{
    static const char *const names[] = {[BALANCE_UNEVEN] = "uneven",
                                        [BALANCE_SERIAL] = "serialisation",
                                        [BALANCE_EACH_TIME] = "each-time",
                                        [BALANCE_VARYING] = "varying"};
    return names[balance];
}

static bool is_within(double ratio, double least, double most)
{
    return ratio > least && ratio < most;
}

bool balance_is_as_often(const struct crowd *late, const struct crowd *others)
{
    const struct doing *whom = others->n ? &others->mean : &late->mean;
    bool is_so = late->n + others->n > 1 && late->mean.executions > 0 && whom->executions > 0;
    bool has_code = late->mean.instructions > 0 && whom->instructions > 0;
    for (uint32_t i = 0; i < late->n && is_so; i++)
        is_so = is_within(late->each[i].executions / whom->executions, 1 - AS_OFTEN, 1 + AS_OFTEN) &&
                (!has_code ||
                 is_within(late->each[i].instructions / whom->instructions, 1 / (1 + USUAL_DOUBT), 1 + USUAL_DOUBT));
    return is_so;
}

bool balance_is_less(const struct crowd *late, const struct crowd *others)
{
    const struct doing *whom = &others->mean;
    double executions =
        late->mean.executions > 0 && whom->executions > 0 ? late->mean.executions / whom->executions : 1;
    double instructions =
        late->mean.instructions > 0 && whom->instructions > 0 ? late->mean.instructions / whom->instructions : 1;
    return executions * instructions < 1 - AS_OFTEN && late->mean.computing_ns < NOTABLY_LONGER * whom->computing_ns;
}

/* The longest of late ranks among themselves. */
static bool may_be_alike(const struct crowd *crowd)
{
    const struct doing *least = crowd->each, *most = crowd->each;
    for (uint32_t i = 1; i < crowd->n; i++) {
        least = crowd->each[i].time_ns < least->time_ns ? &crowd->each[i] : least;
        most = crowd->each[i].time_ns > most->time_ns ? &crowd->each[i] : most;
    }
    struct ratio times = sides_times(most, least);
    return times.value <= TIMES_ALIKE || (times.low <= 1 && times.value <= exp(VAGUE_DOUBT));
}

/* Nobody takes longer in all, as far as times tell. */
static bool is_as_long(const struct crowd *late, const struct crowd *others)
{
    if (!others->n)
        return late->n > 1 && may_be_alike(late);
    bool is_nothing = true;
    for (uint32_t i = 0; i < others->n; i++)
        is_nothing &= others->each[i].time_ns < NEGLIGIBLE_SHARE * late->mean.time_ns;
    return !is_nothing && !sides_is_longer(&late->mean, &others->mean);
}

static bool nobody_has_more(const struct cause *cause, const struct sides *sides)
{
    const struct crowd *late = &sides->longer, *others = &sides->others;
    bool has_counts = late->mean.executions > 0 && cause->kind != KIND_MORE_TIME && !cause->is_in_library;
    if (!has_counts)
        return is_as_long(late, others);
    return balance_is_as_often(late, others) || (others->n && balance_is_less(late, others));
}

/* Of one late rank, compared with the others, or with the mean of all who are late. More instructions in each execution
 * are more work, and make none dearer. */
static struct ratio cost_ratio(const struct sides *sides, uint32_t late)
{
    const struct doing *who = &sides->late.each[late];
    const struct doing *whom = sides->others.n ? &sides->others.mean : &sides->late.mean;
    struct ratio costs = sides_costs(who, whom);
    double code = who->instructions > 0 && whom->instructions > 0 ? who->instructions / whom->instructions : 1;
    if (is_within(code, 1 / (1 + USUAL_DOUBT), 1 + USUAL_DOUBT))
        return costs;
    return (struct ratio){costs.value / code, costs.low / code, costs.high / code};
}

static bool has_costs(const struct sides *sides)
{
    const struct doing *whom = sides->others.n ? &sides->others.mean : &sides->late.mean;
    bool has = sides->late.n + sides->others.n > 1 && whom->cost_ns > 0;
    for (uint32_t i = 0; i < sides->late.n && has; i++)
        has = sides->late.each[i].cost_ns > 0;
    return has;
}

/* One execution costs more on a late rank: by more than the error, and by more than people care about. */
static bool one_is_dearer(const struct sides *sides)
{
    bool has = has_costs(sides), is_dearer = false;
    for (uint32_t i = 0; i < sides->late.n && has; i++) {
        struct ratio costs = cost_ratio(sides, i);
        is_dearer |= costs.value > NOTABLY_LONGER && costs.low > 1;
    }
    return is_dearer;
}

/* So little is known of their costs that they may as well be the same. */
static bool is_unknown_cost(const struct sides *sides)
{
    bool is_unknown = has_costs(sides);
    for (uint32_t i = 0; i < sides->late.n && is_unknown; i++)
        is_unknown = ratio_doubt(cost_ratio(sides, i)) > VAGUE_DOUBT;
    return is_unknown;
}

enum balance balance_of(const struct cause *cause, const struct sides *sides)
{
    bool has_more_trips = cause->n_partings && cause->partings[0].kind == PARTING_TRIPS;
    bool is_each_time = has_more_trips || cause->meanwhile > NEGLIGIBLE_SHARE;
    bool may_be_dearer = cause->kind == KIND_SLOWER && (one_is_dearer(sides) || is_unknown_cost(sides));
    if (cause->is_unexplained)
        return BALANCE_UNEVEN;
    if (!nobody_has_more(cause, sides))
        return is_each_time && !sides->others.n && sides->late.n > 1 ? BALANCE_EACH_TIME : BALANCE_UNEVEN;
    if (!is_each_time)
        return BALANCE_SERIAL;
    bool is_near = cause->meanwhile * exp(SAME_FACTOR) >= 1;
    return is_near && !has_more_trips && !may_be_dearer ? BALANCE_VARYING : BALANCE_EACH_TIME;
}

/* Known of both sides: others that never run it spend no time there either. */
static bool is_more_often(const struct sides *sides)
{
    const struct doing *late = &sides->late.mean, *others = &sides->others.mean;
    bool never_run = sides->others.n && others->time_ns < NEXT_TO_NOTHING * late->time_ns;
    return (others->executions > 0 || never_run) && late->executions > NOTABLY_LONGER * others->executions;
}

static void kind_becomes(struct cause *cause, enum cause_kind kind, enum cause_kind becomes)
{
    double ns = cause->kind_ns[kind];
    if (becomes == kind || !(ns > 0))
        return;
    cause->kind_ns[kind] = 0;
    cause->kind_ns[becomes] += ns;
    for (int i = 0; i < KIND_N; i++)
        if (i == 0 || cause->kind_ns[i] > cause->kind_ns[cause->kind])
            cause->kind = (enum cause_kind)i;
}

struct settled_kinds balance_settle_kinds(struct cause *cause, const struct sides *sides)
{
    struct settled_kinds settled = {.more_work = KIND_MORE_WORK, .more_time = KIND_MORE_TIME, .slower = KIND_SLOWER};
    if (cause->is_spinning) /* however often it looks */
        return settled;
    bool is_as_often = balance_is_as_often(&sides->late, &sides->others);
    if (cause->balance == BALANCE_VARYING || (has_costs(sides) && !one_is_dearer(sides)))
        settled.slower = cause->balance == BALANCE_VARYING || is_as_often ? KIND_MORE_TIME : KIND_MORE_WORK;
    if (is_more_often(sides) && executions_are_few(sides->others.mean.executions, sides->late.mean.executions))
        settled.slower = KIND_MORE_WORK;
    bool tells_more = cause->n_partings || cause->called_back || cause->balance != BALANCE_UNEVEN;
    if (cause->is_as_much_otherwise || (is_as_often && !tells_more))
        settled.more_work = KIND_MORE_TIME;
    else if (is_more_often(sides) && !one_is_dearer(sides))
        settled.more_time = KIND_MORE_WORK;
    kind_becomes(cause, KIND_MORE_WORK, settled.more_work);
    kind_becomes(cause, KIND_MORE_TIME, settled.more_time);
    kind_becomes(cause, KIND_SLOWER, settled.slower);
    return settled;
}
