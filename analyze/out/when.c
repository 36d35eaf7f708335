/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/when.h"
#include "analyze/out/amount.h"

/* Of all: in one part of the run; left out at both ends together; how much more in the second half. */
static const double ONE_STALL = 0.9, LEFT_OUT = 0.02, GROWN = 2;

static double sum_of(const double *ns, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += ns[i];
    return sum;
}

const char *when_sentence(struct arena *arena, const struct analysis *analysis, const double *ns)
{
    double all_ns = sum_of(ns, 0, WHEN_PARTS), part_ns = analysis->efficiency.wall_ns / WHEN_PARTS;
    int from = 0, to = WHEN_PARTS;
    if (!(all_ns > 0) || !(part_ns > 0))
        return NULL;
    for (int i = 0; i < WHEN_PARTS; i++)
        if (ns[i] >= ONE_STALL * all_ns)
            return arena_printf(arena, "all at once, about %s after the start",
                                amount_duration((i + 0.5) * part_ns).text);
    while (sum_of(ns, 0, from + 1) <= LEFT_OUT / 2 * all_ns)
        from++;
    while (sum_of(ns, to - 1, WHEN_PARTS) <= LEFT_OUT / 2 * all_ns)
        to--;
    int middle = (from + to) / 2;
    double first_ns = sum_of(ns, from, middle) / (middle - from), second_ns = sum_of(ns, middle, to) / (to - middle);
    const char *trend = second_ns > GROWN * first_ns ? "growing" : first_ns > GROWN * second_ns ? "shrinking" : NULL;
    const char *begin = arena_strdup(arena, amount_duration(from * part_ns).text), *span = NULL;
    bool is_late = from > 1, is_short = to < WHEN_PARTS - 1;
    if (is_late && is_short)
        span = arena_printf(arena, "from %s to %s", begin, amount_duration(to * part_ns).text);
    else if (is_late)
        span = arena_printf(arena, "only after %s", begin);
    else if (is_short)
        span = arena_printf(arena, "only until %s", amount_duration(to * part_ns).text);
    if (trend && span)
        return arena_printf(arena, "%s, %s", trend, span);
    return trend ? arena_printf(arena, "%s over the run", trend) : span;
}

const char *when_blocks(struct arena *arena, const double *ns)
{
    static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    const char *text = "";
    double most_ns = 0;
    for (int i = 0; i < WHEN_PARTS; i++)
        most_ns = ns[i] > most_ns ? ns[i] : most_ns;
    for (int i = 0; i < WHEN_PARTS; i++) {
        int height = most_ns > 0 ? (int)(8 * ns[i] / most_ns + 0.5) : 0;
        text = arena_printf(arena, "%s%s", text, blocks[ns[i] > 0 && !height ? 1 : height]);
    }
    return text;
}
