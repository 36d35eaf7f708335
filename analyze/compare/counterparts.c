/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/counterparts.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

/* One of the stands in an order of its own: qsort has no context. */
struct entry {
    const struct candidate *candidate;
    const char *group;
    uint32_t index;
};

/* Pairs of equal places, by side and line. */
struct group {
    const struct candidate *candidates;
    struct entry *before, *after;
    size_t n_before, n_after;
    uint32_t *counterpart;
    bool is_one_routine; /* else of a file */
};

static int entry_compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    const struct candidate *of_x = x->candidate, *of_y = y->candidate;
    int order = strcmp(x->group, y->group) ?: order_of(of_x->is_after, of_y->is_after);
    order = order ?: order_of(of_x->line_first, of_y->line_first) ?: order_of(of_x->line_last, of_y->line_last);
    return order ?: order_of(x->index, y->index);
}

static bool is_free(const struct group *group, const struct entry *entry)
{
    return group->counterpart[entry->index] == COUNTERPART_NONE;
}

static bool is_one_build(const struct entry *before, const struct entry *after)
{
    return before->candidate->build && before->candidate->build == after->candidate->build;
}

static int64_t shift_of(const struct entry *before, const struct entry *after)
{
    return (int64_t)after->candidate->line_first - before->candidate->line_first;
}

static bool may_have_moved(const struct entry *before, const struct entry *after)
{
    int64_t shift = shift_of(before, after);
    return shift == (int64_t)after->candidate->line_last - before->candidate->line_last &&
           (!shift || !is_one_build(before, after));
}

/* By size, so that the first of equally frequent ones is the smallest. */
static int shift_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return order_of(llabs(x), llabs(y)) ?: order_of(x, y);
}

/* Pairs that stand apart by the most frequent number; 0 when there is no pair. */
static size_t usual_shift(const struct group *group, int64_t *shift)
{
    VEC(int64_t) shifts = {0};
    size_t n_most = 0;
    for (size_t i = 0; i < group->n_before; i++)
        for (size_t j = 0; j < group->n_after; j++)
            if (is_free(group, &group->before[i]) && is_free(group, &group->after[j]) &&
                may_have_moved(&group->before[i], &group->after[j]))
                *vec_push(&shifts) = shift_of(&group->before[i], &group->after[j]);
    vec_sort(&shifts, shift_compare);
    for (size_t i = 0, end; i < shifts.n; i = end) {
        for (end = i; end < shifts.n && shifts.at[end] == shifts.at[i];)
            end++;
        if (end - i > n_most) {
            n_most = end - i;
            *shift = shifts.at[i];
        }
    }
    vec_release(&shifts);
    return n_most;
}

static void join(struct group *group, const struct entry *before, const struct entry *after)
{
    group->counterpart[before->index] = after->index;
    group->counterpart[after->index] = before->index;
}

static void join_shifted(struct group *group, int64_t shift)
{
    for (size_t i = 0; i < group->n_before; i++)
        for (size_t j = 0; j < group->n_after; j++) {
            const struct entry *before = &group->before[i], *after = &group->after[j];
            if (is_free(group, before) && is_free(group, after) && shift_of(before, after) == shift &&
                may_have_moved(before, after))
                join(group, before, after);
        }
}

/* The distance by which the next one found on this side of before[i] has moved. False when there is none. */
static bool neighbour_shift(const struct group *group, size_t i, int step, int64_t *shift)
{
    for (i += (size_t)step; i < group->n_before; i += (size_t)step) /* below 0 is beyond the end */
        if (!is_free(group, &group->before[i])) {
            uint32_t found = group->counterpart[group->before[i].index];
            *shift = (int64_t)group->candidates[found].line_first - group->before[i].candidate->line_first;
            return true;
        }
    return false;
}

/* As far as the neighbours have, or between. */
static bool moves_with_neighbours(const struct group *group, size_t i, size_t j)
{
    int64_t above = 0, below = 0, shift = shift_of(&group->before[i], &group->after[j]);
    bool is_below = neighbour_shift(group, i, 1, &below), is_above = neighbour_shift(group, i, -1, &above);
    if (!is_above && !is_below)
        return false;
    above = is_above ? above : below;
    below = is_below ? below : above;
    return (above <= shift && shift <= below) || (below <= shift && shift <= above);
}

/* In order, as long as as many neighbours have been found ahead of the one as of the other. */
static void join_in_order(struct group *group)
{
    size_t i = 0, j = 0, found_i = 0, found_j = 0;
    while (i < group->n_before && j < group->n_after) {
        const struct entry *before = &group->before[i], *after = &group->after[j];
        if (!is_free(group, before) && found_i <= found_j) {
            found_i++;
            i++;
        } else if (!is_free(group, after)) {
            found_j++;
            j++;
        } else if (found_i == found_j) {
            if (group->is_one_routine ? !is_one_build(before, after)
                                      : may_have_moved(before, after) && moves_with_neighbours(group, i, j))
                join(group, before, after);
            i++;
            j++;
            found_i++;
            found_j++;
        } else if (found_i < found_j) {
            i++;
        } else {
            j++;
        }
    }
}

static void group_match(struct group *group)
{
    int64_t shift = 0;
    size_t n_pairs = group->n_before && group->n_after ? usual_shift(group, &shift) : 0;
    /* One pair alone tells how far lines have moved only if they have not, or if there is no other choice. */
    bool is_only = group->is_one_routine && (group->n_before < 2 || group->n_after < 2);
    if (n_pairs > 1 || (n_pairs && (!shift || is_only)))
        join_shifted(group, shift);
    join_in_order(group);
}

static void groups_match(const struct candidate *candidates, struct entry *entries, size_t n, uint32_t *counterpart,
                         bool is_one_routine)
{
    items_sort(entries, n, sizeof *entries, entry_compare);
    for (size_t i = 0, end; i < n; i = end) {
        size_t first_after;
        for (end = i; end < n && !strcmp(entries[end].group, entries[i].group);)
            end++;
        for (first_after = i; first_after < end && !entries[first_after].candidate->is_after;)
            first_after++;
        group_match(&(struct group){.candidates = candidates,
                                    .before = entries + i,
                                    .after = entries + first_after,
                                    .n_before = first_after - i,
                                    .n_after = end - first_after,
                                    .counterpart = counterpart,
                                    .is_one_routine = is_one_routine});
    }
}

/* By file and routine, whatever the side. */
static int routine_compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return strcmp(x->candidate->file, y->candidate->file) ?: strcmp(x->candidate->routine, y->candidate->routine);
}

/* Of those with file and routine, the ones whose routine is on one side only are moved to the front, and those that
 * have been found, as their neighbours. */
static size_t keep_renamed(struct entry *entries, size_t n, const uint32_t *counterpart)
{
    size_t n_kept = 0;
    items_sort(entries, n, sizeof *entries, routine_compare);
    for (size_t i = 0, end; i < n; i = end) {
        bool is_on[2] = {false, false};
        for (end = i; end < n && !routine_compare(&entries[end], &entries[i]); end++)
            is_on[entries[end].candidate->is_after] = true;
        for (size_t j = i; j < end; j++)
            if (is_on[0] != is_on[1] || counterpart[entries[j].index] != COUNTERPART_NONE)
                entries[n_kept++] = entries[j];
    }
    return n_kept;
}

void counterparts_find(const struct candidate *candidates, uint32_t n, uint32_t *counterpart)
{
    struct arena scratch = {0};
    struct entry *entries = arena_array(&scratch, struct entry, n + 1);
    size_t n_named = 0;
    for (uint32_t i = 0; i < n; i++) {
        counterpart[i] = COUNTERPART_NONE;
        entries[i] = (struct entry){&candidates[i], candidates[i].alike, i};
    }
    groups_match(candidates, entries, n, counterpart, true);
    for (uint32_t i = 0; i < n; i++)
        if (candidates[i].renamed)
            entries[n_named++] = (struct entry){&candidates[i], candidates[i].renamed, i};
    groups_match(candidates, entries, keep_renamed(entries, n_named, counterpart), counterpart, false);
    arena_release(&scratch);
}
