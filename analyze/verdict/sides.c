/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/sides.h"
#include "analyze/blame/late.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>

double doing_measure(const struct doing *doing, enum measure measure)
{
    const double values[] = {
        [MEASURE_TIME] = doing->time_ns,
        [MEASURE_EXECUTIONS] = doing->executions,
        [MEASURE_INSTRUCTIONS] = doing->instructions,
        [MEASURE_COST] = doing->cost_ns,
        [MEASURE_CALLED_BACK] = doing->called_back,
    };
    return values[measure];
}

double crowd_most(const struct crowd *crowd, enum measure measure)
{
    double most = 0;
    for (uint32_t i = 0; i < crowd->n; i++)
        most = fmax(most, doing_measure(&crowd->each[i], measure));
    return most;
}

static void set_each_time(struct doing *doing, double instructions)
{
    doing->instructions = doing->executions > 0 ? instructions / doing->executions : NAN;
    doing->cost_ns = doing->executions > 0 ? doing->computing_ns / doing->executions : NAN;
}

/* Where less than one of a process's threads was seen at work at a time, they spun for one that may have had no CPU:
 * that much of its time there is not known. */
static double spun_ns(const struct cause_rank *rank)
{
    return rank->threads > 0 && rank->threads < 1 ? (1 - rank->threads) * rank->computing_ns : 0;
}

static double thread_error_ns(const struct cause_rank *rank)
{
    return (spun_ns(rank) + rank->unseen_ns) / SAME_DEVIATIONS;
}

/* Where helper threads run it while the one that calls MPI is elsewhere, as those that fetch data ahead, its time there
 * is what it waited for them. So it is where they had no CPU. How long they took is known of both sides, or else not
 * used. */
static bool is_by_helpers(const struct cause *cause)
{
    bool is_apart = false, are_known = cause->kind != KIND_BLOCKED;
    for (uint32_t i = 0; i < cause->n_ranks + cause->n_others; i++) {
        const struct cause_rank *rank = cause_rank_at(cause, i);
        is_apart |= rank->time_is_not_theirs;
        are_known &= rank->worked_ns > 0;
    }
    return is_apart && are_known;
}

static void doing_of_helpers(struct doing *doing, const struct cause_rank *rank)
{
    doing->time_ns = doing->computing_ns = rank->worked_ns;
    doing->cost_error = rank->worked_ns > 0 ? rank->worked_error_ns / rank->worked_ns : 0;
    doing->error_ns = hypot(rank->worked_error_ns, rank->unseen_ns / SAME_DEVIATIONS);
    doing->thread_ns = 0;
}

static void crowd_add(struct crowd *crowd, const struct cause_rank *rank, bool is_by_helpers)
{
    struct doing *doing = &crowd->each[crowd->n++];
    *doing = (struct doing){.rank = rank->rank,
                            .time_ns = rank->time_ns,
                            .computing_ns = rank->computing_ns,
                            .entered_ns = rank->entered_ns,
                            .executions = (double)rank->executions,
                            .called_back = (double)rank->called_back,
                            .cost_error = rank->cost_error,
                            .bytes = (double)rank->bytes,
                            .file_bytes = (double)rank->file_bytes,
                            .n_accesses = (double)rank->n_accesses,
                            .thread_ns = rank->threads * rank->computing_ns,
                            .unseen_ns = rank->unseen_ns,
                            .borrowed_ns = rank->borrowed_ns,
                            .error_ns = hypot(rank->error_ns, thread_error_ns(rank))};
    if (is_by_helpers)
        doing_of_helpers(doing, rank);
    set_each_time(doing, rank->instructions);
}

static void crowd_finish(struct crowd *crowd)
{
    struct doing sum = {0};
    double instructions = 0, cost_ns2 = 0, time_ns2 = 0, n = crowd->n ? crowd->n : 1;
    qsort(crowd->each, crowd->n, sizeof *crowd->each, key_order_u32);
    for (uint32_t i = 0; i < crowd->n; i++) {
        const struct doing *doing = &crowd->each[i];
        crowd->ranks[i] = doing->rank;
        sum.time_ns += doing->time_ns / n;
        sum.computing_ns += doing->computing_ns / n;
        sum.entered_ns += doing->entered_ns / n;
        sum.executions += doing->executions / n;
        sum.called_back += doing->called_back / n;
        sum.bytes += doing->bytes / n;
        sum.file_bytes += doing->file_bytes / n;
        sum.n_accesses += doing->n_accesses / n;
        sum.thread_ns += doing->thread_ns / n;
        sum.unseen_ns += doing->unseen_ns / n;
        sum.borrowed_ns += doing->borrowed_ns / n;
        instructions += doing->executions > 0 ? doing->instructions * doing->executions / n : 0;
        cost_ns2 += pow(doing->cost_error * doing->computing_ns / n, 2);
        time_ns2 += pow(doing->error_ns / n, 2);
    }
    sum.cost_error = sum.computing_ns > 0 ? sqrt(cost_ns2) / sum.computing_ns : 0;
    sum.error_ns = sqrt(time_ns2);
    set_each_time(&sum, instructions);
    crowd->mean = sum;
}

static struct crowd crowd_of(struct arena *arena, uint32_t n_most)
{
    return (struct crowd){.ranks = arena_array(arena, uint32_t, n_most + 1),
                          .each = arena_array(arena, struct doing, n_most + 1)};
}

/* Of what is computed. */
static double core_error_ns(const struct doing *doing)
{
    return COST_ACROSS_RANKS * fmin(doing->computing_ns, doing->time_ns);
}

struct ratio sides_times(const struct doing *late, const struct doing *others)
{
    return ratio_of((struct measured){late->time_ns, hypot(late->error_ns, core_error_ns(late)), true},
                    (struct measured){others->time_ns, hypot(others->error_ns, core_error_ns(others)), true});
}

struct ratio sides_costs(const struct doing *late, const struct doing *others)
{
    bool is_known = late->cost_error > 0 && others->cost_error > 0;
    double unknown = USUAL_DOUBT / SAME_DEVIATIONS / M_SQRT2;
    double late_error = is_known ? hypot(late->cost_error, COST_ACROSS_RANKS) : unknown,
           others_error = is_known ? hypot(others->cost_error, COST_ACROSS_RANKS) : unknown;
    struct ratio costs = ratio_of((struct measured){late->cost_ns, late_error * late->cost_ns, false},
                                  (struct measured){others->cost_ns, others_error * others->cost_ns, false});
    /* Counts are of all threads. Where only one side is seen to leave it to workers, the other side's may have done it
     * while the main thread waited, and their time is not known. */
    if ((late->thread_ns > 0) != (others->thread_ns > 0))
        costs = (struct ratio){.low = 0, .value = costs.value, .high = INFINITY};
    return costs;
}

bool sides_is_longer(const struct doing *late, const struct doing *others)
{
    struct ratio times = sides_times(late, others);
    return ratio_exceeds(times, NOTABLY_LONGER) || times.value >= TIMES_ALIKE;
}

static void sides_divide(struct arena *arena, struct sides *sides)
{
    sides->longer = crowd_of(arena, sides->late.n);
    sides->no_longer = crowd_of(arena, sides->late.n);
    for (uint32_t i = 0; i < sides->late.n; i++) {
        const struct doing *doing = &sides->late.each[i];
        bool is_longer = !(sides->others.mean.time_ns > 0) || sides_is_longer(doing, &sides->others.mean);
        struct crowd *crowd = is_longer ? &sides->longer : &sides->no_longer;
        crowd->each[crowd->n++] = *doing;
    }
    if (!sides->longer.n || !sides->no_longer.n) {
        sides->longer = sides->late;
        sides->no_longer.n = 0;
        return;
    }
    crowd_finish(&sides->longer);
    crowd_finish(&sides->no_longer);
}

struct sides sides_of(struct arena *arena, const struct cause *cause)
{
    uint32_t n_most = cause->n_ranks + cause->n_others;
    struct sides sides = {.late = crowd_of(arena, n_most), .others = crowd_of(arena, n_most)};
    struct part_floor floor = late_part_floor(cause);
    bool by_helpers = is_by_helpers(cause);
    for (uint32_t i = 0; i < n_most; i++) {
        const struct cause_rank *rank = cause_rank_at(cause, i);
        if (i < cause->n_late)
            crowd_add(&sides.late, rank, by_helpers);
        else if (late_has_part(&floor, rank))
            crowd_add(&sides.others, rank, by_helpers);
    }
    crowd_finish(&sides.late);
    crowd_finish(&sides.others);
    sides_divide(arena, &sides);
    return sides;
}
