/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/absences.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

void absences_release(struct absences *absences)
{
    vec_release(&absences->over);
    vec_release(&absences->under_way);
}

void absences_add_over(struct absences *absences, struct absence absence)
{
    if (absence.to_ns > absence.from_ns)
        *vec_push(&absences->over) = absence;
}

void absences_end(struct absences *absences, uint32_t lane, uint64_t now_ns)
{
    absence_list *under_way = &absences->under_way;
    for (size_t i = 0; i < under_way->n; i++) {
        struct absence absence = under_way->at[i];
        if (absence.lane != lane)
            continue;
        under_way->at[i] = under_way->at[--under_way->n];
        absence.to_ns = now_ns;
        absences_add_over(absences, absence);
        return;
    }
}

/* The first that was over later than that. */
static size_t first_after(const absence_list *over, uint64_t time_ns)
{
    size_t low = 0;
    bisect(low, over->n, over->at[low].to_ns <= time_ns);
    return low;
}

static void add_part(absence_list *list, const struct absence *absence, uint64_t from_ns, uint64_t to_ns)
{
    struct absence part = *absence;
    part.from_ns = part.from_ns > from_ns ? part.from_ns : from_ns;
    part.to_ns = part.to_ns < to_ns ? part.to_ns : to_ns;
    if (part.to_ns > part.from_ns)
        *vec_push(list) = part;
}

static int absence_compare(const void *a, const void *b)
{
    const struct absence *left = a, *right = b;
    return order_of(left->from_ns, right->from_ns) ?: order_of(left->lane, right->lane);
}

void absences_find(const struct absences *absences, uint64_t from_ns, uint64_t to_ns, absence_list *list)
{
    size_t n = list->n;
    for (size_t i = first_after(&absences->over, from_ns); i < absences->over.n; i++)
        add_part(list, &absences->over.at[i], from_ns, to_ns);
    for (size_t i = 0; i < absences->under_way.n; i++)
        add_part(list, &absences->under_way.at[i], from_ns, to_ns);
    if (list->n > n + 1)
        qsort(&list->at[n], list->n - n, sizeof *list->at, absence_compare);
}

bool absences_are_many(const struct absences *absences)
{
    enum { FEW = 64 };
    return absences->over.n > 2 * absences->n_kept + FEW;
}

void absences_forget(struct absences *absences, uint64_t before_ns)
{
    absence_list *over = &absences->over;
    size_t first = first_after(over, before_ns);
    for (size_t i = first; i < over->n; i++)
        over->at[i - first] = over->at[i];
    over->n -= first;
    absences->n_kept = over->n;
}

static uint64_t sum_between(const struct idle *idle, uint64_t from_ns, uint64_t to_ns, bool at_work)
{
    uint64_t sum_ns = 0;
    const absence_list *over = idle->absences ? &idle->absences->over : NULL;
    for (size_t i = over ? first_after(over, from_ns) : 0; over && i < over->n; i++) {
        const struct absence *absence = &over->at[i];
        if (absence->lane != idle->lane || (absence->atom != 0) != at_work || absence->from_ns >= to_ns)
            continue;
        uint64_t begin_ns = absence->from_ns > from_ns ? absence->from_ns : from_ns;
        uint64_t end_ns = absence->to_ns < to_ns ? absence->to_ns : to_ns;
        sum_ns += end_ns - begin_ns;
    }
    return sum_ns;
}

uint64_t idle_between(const struct idle *idle, uint64_t from_ns, uint64_t to_ns)
{
    return sum_between(idle, from_ns, to_ns, false);
}

uint64_t at_work_between(const struct idle *idle, uint64_t from_ns, uint64_t to_ns)
{
    return sum_between(idle, from_ns, to_ns, true);
}

uint64_t at_work_until(const struct idle *idle, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t until_ns = from_ns;
    const absence_list *over = idle->absences ? &idle->absences->over : NULL;
    for (size_t i = over ? first_after(over, from_ns) : 0; over && i < over->n; i++) {
        const struct absence *absence = &over->at[i];
        if (absence->lane == idle->lane && absence->atom && absence->from_ns < to_ns)
            until_ns = absence->to_ns < to_ns ? absence->to_ns : to_ns;
    }
    return until_ns;
}
