/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/clock.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void clocks_init(struct clocks *clocks, size_t n_locations)
{
    *clocks = (struct clocks){.n_locations = n_locations};
    clocks->locations = memory_new(n_locations + 1, sizeof *clocks->locations);
}

void clocks_release(struct clocks *clocks)
{
    for (size_t i = 0; i < clocks->n_locations; i++) {
        vec_release(&clocks->locations[i].points);
        vec_release(&clocks->locations[i].floors);
    }
    free(clocks->locations);
    *clocks = (struct clocks){0};
}

void clocks_begin_at(struct clocks *clocks, uint64_t first_ns)
{
    clocks->origin_ns += (int64_t)first_ns;
    for (size_t i = 0; i < clocks->n_locations; i++)
        for (size_t k = 0; k < clocks->locations[i].floors.n; k++) {
            uint64_t *floor_ns = &clocks->locations[i].floors.at[k].time_ns;
            *floor_ns = *floor_ns > first_ns ? *floor_ns - first_ns : 0;
        }
}

void clocks_sort(struct clocks *clocks, size_t location)
{
    struct clock_location *at = &clocks->locations[location];
    vec_sort(&at->points, key_order_u64);
}

static int64_t within_bounds(__int128 ns)
{
    return ns > CLOCK_LATEST_NS ? CLOCK_LATEST_NS : ns < -CLOCK_LATEST_NS ? -CLOCK_LATEST_NS : (int64_t)ns;
}

static int64_t offset_at(const struct clock_location *location, struct clock_cursor *cursor, uint64_t time_ns)
{
    size_t n = location->points.n;
    const struct clock_point *points = location->points.at;
    if (n == 1)
        return points[0].offset_ns;
    while (cursor->point + 2 < n && time_ns >= points[cursor->point + 1].time_ns)
        cursor->point++;
    /* On the line through two points, also beyond them. */
    const struct clock_point *a = &points[cursor->point];
    const struct clock_point *b = &points[cursor->point + 1];
    __int128 length = (__int128)b->time_ns - a->time_ns, drift = (__int128)b->offset_ns - a->offset_ns;
    __int128 distance = (__int128)time_ns - a->time_ns, size = drift < 0 ? -drift : drift;
    if (length <= 0 || size * 1000000 > length * CLOCK_LARGEST_DRIFT_PER_MILLION)
        return 2 * distance < length ? a->offset_ns : b->offset_ns;
    return within_bounds(a->offset_ns + drift * distance / length);
}

uint64_t clocks_repair(const struct clocks *clocks, size_t location, struct clock_cursor *cursor, uint64_t time_ns,
                       uint64_t event)
{
    const struct clock_location *at = &clocks->locations[location];
    __int128 corrected_ns = (__int128)time_ns - clocks->origin_ns;
    if (at->points.n)
        corrected_ns += offset_at(at, cursor, time_ns);
    while (cursor->floor < at->floors.n && at->floors.at[cursor->floor].event <= event)
        cursor->floor_ns = at->floors.at[cursor->floor++].time_ns;
    uint64_t result_ns = corrected_ns < 0 ? 0 : (uint64_t)within_bounds(corrected_ns);
    if (result_ns < cursor->floor_ns)
        result_ns = cursor->floor_ns;
    cursor->floor_ns = result_ns;
    return result_ns;
}

void clock_pairs_take(struct clock_pairs *pairs, uint32_t cause, uint32_t effect, int64_t distance_ns)
{
    uint32_t a = cause < effect ? cause : effect, b = cause < effect ? effect : cause;
    bool is_new;
    uint64_t *slot = map_put(&pairs->index, key_pair(a, b), &is_new);
    if (is_new) {
        *vec_push(&pairs->pairs) = (struct clock_pair){a, b, INT64_MAX, INT64_MAX};
        *slot = pairs->pairs.n;
    }
    struct clock_pair *pair = &pairs->pairs.at[*slot - 1];
    int64_t *bound = cause == a ? &pair->there_ns : &pair->back_ns;
    if (distance_ns < *bound)
        *bound = distance_ns;
}

void clock_pairs_release(struct clock_pairs *pairs)
{
    map_release(&pairs->index);
    vec_release(&pairs->pairs);
}

/* The distance that may remain between the two clocks; unknown when only one direction is. */
static const int64_t WIDTH_UNKNOWN = INT64_MAX - 1;
static int64_t width(const struct clock_pair *pair)
{
    if (pair->there_ns == INT64_MAX || pair->back_ns == INT64_MAX)
        return WIDTH_UNKNOWN;
    int64_t sum_ns = pair->there_ns + pair->back_ns;
    return sum_ns < 0 ? 0 : sum_ns;
}

/* The value to add to the other's clock when this one's is right. */
static int64_t difference(const struct clock_pair *pair, uint32_t from)
{
    int64_t there = from == pair->a ? pair->there_ns : pair->back_ns;
    int64_t back = from == pair->a ? pair->back_ns : pair->there_ns;
    if (there != INT64_MAX && back != INT64_MAX)
        return (back - there) / 2;
    if (there != INT64_MAX)
        return there < 0 ? -there : 0;
    return back < 0 ? back : 0;
}

/* Of each process, the pairs it is in. */
struct neighborhoods {
    uint32_t *first; /* by process, and one more */
    uint32_t *pairs;
};

static struct neighborhoods neighborhoods_make(const struct clock_pairs *pairs, uint32_t n, struct arena *arena)
{
    struct neighborhoods made = {.first = arena_array(arena, uint32_t, (size_t)n + 2),
                                 .pairs = arena_array(arena, uint32_t, 2 * pairs->pairs.n + 1)};
    for (size_t i = 0; i < pairs->pairs.n; i++) {
        made.first[pairs->pairs.at[i].a + 2]++;
        made.first[pairs->pairs.at[i].b + 2]++;
    }
    for (uint32_t p = 0; p < n; p++)
        made.first[p + 2] += made.first[p + 1];
    for (uint32_t i = 0; i < pairs->pairs.n; i++) {
        made.pairs[made.first[pairs->pairs.at[i].a + 1]++] = i;
        made.pairs[made.first[pairs->pairs.at[i].b + 1]++] = i;
    }
    return made;
}

/* Prim's algorithm, with a heap in which a process may stand several times. Only its best edge counts. */
uint32_t clocks_align(const struct clock_pairs *pairs, uint32_t n, int64_t *offset, uint64_t *error)
{
    struct arena arena = {0};
    struct heap edges = {0};
    struct neighborhoods of = neighborhoods_make(pairs, n, &arena);
    int64_t *best = arena_array(&arena, int64_t, n + 1); /* width of the best edge from the tree; -1 = in the tree */
    uint32_t *from = arena_array(&arena, uint32_t, n + 1), n_reached = 0;
    memset(offset, 0, n * sizeof *offset);
    memset(error, 0, n * sizeof *error);
    for (uint32_t p = 0; p < n; p++)
        best[p] = INT64_MAX;
    if (n)
        heap_push(&edges, 0, 0);
    while (edges.n) {
        uint32_t added = edges.items[0].stream;
        heap_pop(&edges);
        if (best[added] < 0)
            continue;
        best[added] = -1;
        n_reached++;
        if (added) {
            const struct clock_pair *edge = &pairs->pairs.at[from[added]];
            uint32_t parent = edge->a == added ? edge->b : edge->a;
            offset[added] = within_bounds((__int128)offset[parent] + difference(edge, parent));
            error[added] = error[parent] + (width(edge) < WIDTH_UNKNOWN ? (uint64_t)width(edge) / 2 : 0);
        }
        for (uint32_t i = of.first[added]; i < of.first[added + 1]; i++) {
            const struct clock_pair *edge = &pairs->pairs.at[of.pairs[i]];
            uint32_t p = edge->a == added ? edge->b : edge->a;
            if (width(edge) >= best[p])
                continue;
            best[p] = width(edge);
            from[p] = of.pairs[i];
            heap_push(&edges, (uint64_t)best[p], p);
        }
    }
    heap_release(&edges);
    arena_release(&arena);
    return n_reached;
}

enum { TOTAL_BOUNDS = 4 << 20, LEAST_BOUNDS = 256, MOST_BOUNDS = 1 << 18 };

static struct clock_bounds *lists_new(uint32_t n_ranks)
{
    struct clock_bounds *lists = memory_new(n_ranks + 1, sizeof *lists);
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

static void add(const struct clock_steps *steps, struct clock_bounds *of, struct clock_bound bound)
{
    of->every += !of->every;
    if (++of->n_skipped < of->every)
        return;
    of->n_skipped = 0;
    if (of->bounds.n >= steps->most) {
        /* Every second of those kept, and from now on half as many: the whole run stays covered. */
        size_t n = 0;
        for (size_t i = 0; i < of->bounds.n; i += 2)
            of->bounds.at[n++] = of->bounds.at[i];
        of->bounds.n = n;
        of->every *= 2;
    }
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

/* The next known value of the clock, at this time or later. The last one if none follows. */
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
    qsort(of->bounds.at, n, sizeof *bounds, key_order_u64);
    struct clock_piece piece = {.from_ns = bounds[0].time_ns, .offset_ns = known_at(known, n_known, 0)};
    for (size_t i = 0; i < n; i++) {
        if (!(piece.offset_ns >= bounds[i].low_ns && piece.offset_ns <= bounds[i].high_ns)) {
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
