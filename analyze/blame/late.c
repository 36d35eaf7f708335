/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/late.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>

static int by_falling_blame(const void *a, const void *b)
{
    const struct cause_rank *left = a, *right = b;
    return order_of(right->blame_ns, left->blame_ns) ?: order_of(left->rank, right->rank);
}

static int by_falling_time(const void *a, const void *b)
{
    const struct cause_rank *left = a, *right = b;
    return order_of(right->time_ns, left->time_ns) ?: order_of(left->rank, right->rank);
}

void late_sort(struct cause_rank *ranks, uint32_t n)
{
    qsort(ranks, n, sizeof *ranks, by_falling_blame);
}

void late_sort_by_time(struct cause_rank *ranks, uint32_t n)
{
    qsort(ranks, n, sizeof *ranks, by_falling_time);
}

/* A count of events that come by chance has its square root as error. A single one tells nothing of how often.
 * Their number follows from their time. */
static double may_carry_ns(const struct cause_rank *rank, double waiting_ns, double n_times)
{
    double n_own = round(n_times * rank->blame_ns / waiting_ns);
    return rank->blame_ns * (n_own > 1 ? 1 + SAME_DEVIATIONS / sqrt(n_own) : 1);
}

uint32_t late_count(const struct cause_rank *ranks, uint32_t n, double waiting_ns, double n_times)
{
    double carried_ns = 0, least_ns = 0;
    uint32_t n_late = 0;
    for (; n_late < n && may_carry_ns(&ranks[n_late], waiting_ns, n_times) >= least_ns; n_late++) {
        carried_ns += ranks[n_late].blame_ns;
        if (least_ns == 0 && 2 * carried_ns >= waiting_ns)
            least_ns = ranks[n_late].blame_ns / 2;
    }
    return n_late;
}

/* Of the ranks in `rest`, which carry little blame or none, those at the front that spend as long in it as who carries
 * it, as far as samples tell: nearer to them than to the mean of those that are left. */
static uint32_t count_as_long(const struct cause *cause, struct cause_rank *rest, uint32_t n_rest)
{
    double rest_ns = 0, least_ns = INFINITY, least_error_ns = 0;
    for (uint32_t i = 0; i < n_rest; i++)
        rest_ns += rest[i].time_ns;
    for (uint32_t i = 0; i < cause->n_late && n_rest; i++) {
        const struct cause_rank *late = &cause->ranks[i];
        if (late->time_ns > NOTABLY_LONGER * rest_ns / n_rest && late->time_ns < least_ns) {
            least_ns = late->time_ns;
            least_error_ns = late->error_ns;
        }
    }
    uint32_t n = 0;
    for (; n + 1 < n_rest; n++) {
        double time_ns = rest[n].time_ns, left_ns = (rest_ns - time_ns) / (n_rest - n - 1);
        double allowed_ns = SAME_DEVIATIONS * hypot(rest[n].error_ns, least_error_ns);
        if (time_ns * TIMES_ALIKE + allowed_ns < least_ns || 2 * time_ns < least_ns + left_ns)
            break;
        rest_ns -= time_ns;
    }
    return n;
}

void late_add_as_long(struct cause *cause, struct arena *arena)
{
    uint32_t n = cause->n_ranks + cause->n_others, n_blamed = 0;
    struct arena scratch = {0};
    struct cause_rank *all = arena_array(&scratch, struct cause_rank, n + 1), *rest = all + cause->n_late;
    for (uint32_t i = 0; i < n; i++)
        all[i] = i < cause->n_ranks ? cause->ranks[i] : cause->others[i - cause->n_ranks];
    late_sort_by_time(rest, n - cause->n_late);
    uint32_t n_more = count_as_long(cause, rest, n - cause->n_late);
    if (n_more) {
        cause->n_late += n_more;
        late_sort(all, cause->n_late);
        late_sort(all + cause->n_late, n - cause->n_late);
        for (uint32_t i = cause->n_late; i < n; i++)
            n_blamed += all[i].blame_ns > 0;
        cause->n_ranks = cause->n_late + n_blamed;
        cause->n_others = n - cause->n_ranks;
        cause->ranks = arena_copy(arena, all, (n + 1) * sizeof *all);
        cause->others = cause->ranks + cause->n_ranks;
    }
    arena_release(&scratch);
}

/* False where nothing tells it. */
static bool does_half(const struct cause *cause, const struct cause_rank *less, const struct cause_rank *more)
{
    bool is_apart = false;
    for (uint32_t i = 0; i < cause->n_late; i++)
        is_apart |= cause->ranks[i].time_is_not_theirs;
    if (is_apart && less->worked_ns > 0 && more->worked_ns > 0)
        return 2 * (less->worked_ns + less->worked_error_ns) <= more->worked_ns;
    return cause->kind == KIND_MORE_WORK && less->executions && 2 * less->instructions <= more->instructions;
}

void late_leave_out_less(struct cause *cause)
{
    while (cause->n_late > 1 && does_half(cause, &cause->ranks[cause->n_late - 1], &cause->ranks[0]))
        cause->n_late--;
}

static bool is_next_to_nothing(const struct cause_rank *rank, double late_ns)
{
    return rank->time_ns + rank->unseen_ns + SAME_DEVIATIONS * rank->error_ns < NEGLIGIBLE_SHARE * late_ns;
}

bool late_is_alone(const struct cause *cause)
{
    double late_ns = INFINITY;
    uint32_t n_compared = cause->n_ranks - cause->n_late + cause->n_others;
    for (uint32_t i = 0; i < cause->n_late; i++) {
        late_ns = fmin(late_ns, cause->ranks[i].time_ns);
        if (SAME_DEVIATIONS * cause->ranks[i].error_ns > USUAL_DOUBT * cause->ranks[i].time_ns)
            return false;
    }
    for (uint32_t i = cause->n_late; i < cause->n_ranks; i++)
        if (!is_next_to_nothing(&cause->ranks[i], late_ns))
            return false;
    for (uint32_t i = 0; i < cause->n_others; i++)
        if (!is_next_to_nothing(&cause->others[i], late_ns))
            return false;
    return n_compared > 0;
}

/* By executions where they are known. */
struct part_floor late_part_floor(const struct cause *cause)
{
    struct part_floor late = {0}, most = {0};
    for (uint32_t i = 0; i < cause->n_ranks + cause->n_others; i++) {
        const struct cause_rank *rank = cause_rank_at(cause, i);
        struct part_floor *side = i < cause->n_late ? &late : &most;
        side->executions = fmax(side->executions, (double)rank->executions);
        side->ns = fmax(side->ns, rank->time_ns);
    }
    double executions = NEXT_TO_NOTHING * most.executions, ns = NEGLIGIBLE_SHARE * most.ns;
    if (late.executions > 0)
        return (struct part_floor){.executions = most.executions >= NEXT_TO_NOTHING * late.executions ? executions : 0};
    return (struct part_floor){.ns = most.ns >= NEGLIGIBLE_SHARE * late.ns ? ns : 0};
}

/* In a time that few samples tell, a rank may have a part that none of them hit. */
bool late_has_part(const struct part_floor *floor, const struct cause_rank *rank)
{
    return (double)rank->executions >= floor->executions &&
           rank->time_ns + SAME_DEVIATIONS * rank->error_ns >= floor->ns;
}
