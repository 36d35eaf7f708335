/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/clock_steps.h"
#include "wrap/base/err.h"
#include <stdlib.h>

enum { TOTAL_BOUNDS = 4 << 20, LEAST_BOUNDS = 256, MOST_BOUNDS = 1 << 18 };

static struct clock_bounds *lists_new(uint32_t n_ranks)
{
    struct clock_bounds *lists = calloc(n_ranks + 1, sizeof *lists);
    if (!lists)
        err_out_of_memory(n_ranks * sizeof *lists);
    return lists;
}

void clock_steps_init(struct clock_steps *steps, uint32_t n_ranks)
{
    size_t most = TOTAL_BOUNDS / (n_ranks + 1);
    *steps = (struct clock_steps){.n_ranks = n_ranks,
                                  .most = most < LEAST_BOUNDS  ? LEAST_BOUNDS
                                          : most > MOST_BOUNDS ? MOST_BOUNDS
                                                               : most,
                                  .lows = lists_new(n_ranks),
                                  .highs = lists_new(n_ranks)};
}

void clock_steps_release(struct clock_steps *steps)
{
    for (uint32_t rank = 0; rank < steps->n_ranks; rank++) {
        vec_release(&steps->lows[rank].bounds);
        vec_release(&steps->highs[rank].bounds);
    }
    free(steps->lows);
    free(steps->highs);
    *steps = (struct clock_steps){0};
}

/* Every second of those kept, and from now on half as many: the whole run stays covered. */
static void thin_out(struct clock_bounds *of)
{
    size_t n = 0;
    for (size_t i = 0; i < of->bounds.n; i += 2)
        of->bounds.at[n++] = of->bounds.at[i];
    of->bounds.n = n;
    of->every *= 2;
}

static void add(const struct clock_steps *steps, struct clock_bounds *of, struct clock_bound bound)
{
    of->every += !of->every;
    if (++of->n_skipped < of->every)
        return;
    of->n_skipped = 0;
    if (of->bounds.n >= steps->most)
        thin_out(of);
    *vec_push(&of->bounds) = bound;
}

void clock_steps_take(struct clock_steps *steps, uint32_t cause_rank, uint64_t cause_ns, uint32_t effect_rank,
                      uint64_t effect_ns)
{
    int64_t distance = (int64_t)(cause_ns - effect_ns);
    if (cause_rank == effect_rank || cause_rank >= steps->n_ranks || effect_rank >= steps->n_ranks)
        return;
    if (!cause_rank)
        add(steps, &steps->lows[effect_rank], (struct clock_bound){effect_ns, distance, INT64_MAX});
    else if (!effect_rank)
        add(steps, &steps->highs[cause_rank], (struct clock_bound){cause_ns, INT64_MIN, -distance});
}

static int by_time(const void *left, const void *right)
{
    const struct clock_bound *a = left, *b = right;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static bool satisfies(int64_t offset_ns, const struct clock_bound *bound)
{
    return offset_ns >= bound->low_ns && offset_ns <= bound->high_ns;
}

/* The value nearest to `wish_ns` that satisfies the bounds from the first on, as many as can be satisfied together. */
static int64_t value_from(const struct clock_bound *bounds, size_t n, int64_t wish_ns)
{
    int64_t low = bounds[0].low_ns, high = bounds[0].high_ns;
    for (size_t i = 1; i < n && bounds[i].low_ns <= high && bounds[i].high_ns >= low; i++) {
        low = bounds[i].low_ns > low ? bounds[i].low_ns : low;
        high = bounds[i].high_ns < high ? bounds[i].high_ns : high;
    }
    return wish_ns < low ? low : wish_ns > high ? high : wish_ns;
}

/* What was known of the clock next, at this time or later; the last that was known, where nothing follows. */
static int64_t known_at(const struct clock_point *known, size_t n_known, uint64_t time_ns)
{
    for (size_t i = 0; i < n_known; i++)
        if (known[i].time_ns >= time_ns)
            return known[i].offset_ns;
    return n_known ? known[n_known - 1].offset_ns : 0;
}

void clock_steps_find(struct clock_steps *steps, uint32_t rank, const struct clock_point *known, size_t n_known,
                      struct clock_pieces *pieces)
{
    struct clock_bounds *of = &steps->lows[rank], *highs = &steps->highs[rank];
    for (size_t i = 0; i < highs->bounds.n; i++)
        *vec_push(&of->bounds) = highs->bounds.at[i];
    if (!of->bounds.n)
        return;
    const struct clock_bound *bounds = of->bounds.at;
    size_t n = of->bounds.n;
    qsort(of->bounds.at, n, sizeof *bounds, by_time);
    struct clock_piece piece = {.from_ns = bounds[0].time_ns, .offset_ns = known_at(known, n_known, 0)};
    for (size_t i = 0; i < n; i++) {
        if (!satisfies(piece.offset_ns, &bounds[i])) {
            if (i)
                *vec_push(&pieces->pieces) = piece;
            int64_t wish_ns = known_at(known, n_known, bounds[i].time_ns);
            piece.from_ns = i ? bounds[i - 1].time_ns + 1 : bounds[i].time_ns;
            piece.offset_ns = value_from(bounds + i, n - i, wish_ns);
        }
        piece.until_ns = bounds[i].time_ns;
    }
    *vec_push(&pieces->pieces) = piece;
}
