/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/when.h"
#include "analyze/constants/constants.h"
#include "analyze/out/amount.h"
#include <math.h>
#include <stdlib.h>

/* "th" of 10th. */
static const char *ordinal(uint32_t n)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    return n % 10 < 4 && n / 10 % 10 != 1 ? endings[n % 10] : "th";
}

static double sum_of(const double *ns, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += ns[i];
    return sum;
}

/* Of a normal distribution: its standard deviation over the median of the distances from its mean. */
static const double MEDIAN_TO_DEVIATION = 1.4826;

/* A part of the run in which a cause acts: the middle of its calls among all, and the waiting of each. */
struct part {
    double at, ns, n_calls;
};

struct weighted {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    const struct weighted *left = a, *right = b;
    return (left->value > right->value) - (left->value < right->value);
}

static double weighted_median(struct weighted *values, size_t n)
{
    double all = 0, half = 0;
    qsort(values, n, sizeof *values, by_value);
    for (size_t i = 0; i < n; i++)
        all += values[i].weight;
    size_t at = 0;
    for (; at + 1 < n && half + values[at].weight <= all / 2; at++)
        half += values[at].weight;
    return values[at].value;
}

/* Where one part stands far off since something happened there once, it is drawn in to where others are: around the
 * line with the median of the slopes between any two parts (Theil and Sen), which few of them do not move. */
static void draw_outliers_in(struct part *parts, int n)
{
    struct weighted values[WHEN_PARTS * (WHEN_PARTS - 1) / 2] = {0};
    size_t n_slopes = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            values[n_slopes++] = (struct weighted){(parts[i].ns - parts[k].ns) / (parts[i].at - parts[k].at),
                                                   parts[i].n_calls * parts[k].n_calls};
    double slope = weighted_median(values, n_slopes);
    for (int i = 0; i < n; i++)
        values[i] = (struct weighted){parts[i].ns - slope * parts[i].at, parts[i].n_calls};
    double height = weighted_median(values, n);
    for (int i = 0; i < n; i++)
        values[i].value = fabs(values[i].value - height);
    double room_ns = TREND_ERRORS * MEDIAN_TO_DEVIATION * weighted_median(values, n);
    for (int i = 0; i < n; i++) {
        double line_ns = height + slope * parts[i].at;
        parts[i].ns = fmin(fmax(parts[i].ns, line_ns - room_ns), line_ns + room_ns);
    }
}

/* "growing from 2.00 ms to 8.00 ms of waiting each time": the ends of a straight line through the parts, over the calls
 * made rather than over time, as what grows makes its steps longer. NULL where they do not differ by much, or by
 * chance, which fewer than three parts or calls cannot tell; or where two levels, one after the other, are nearer to
 * the parts.
 */
static const char *when_trend(struct arena *arena, const struct cause *cause, int from, int to)
{
    struct part parts[WHEN_PARTS];
    double n_calls = 0, centre = 0, all_ns = 0;
    int n = 0;
    for (int i = from; i < to; i++) {
        double here = cause->when_n[i];
        if (!(here > 0))
            continue;
        parts[n++] = (struct part){n_calls + here / 2, cause->when_ns[i] / here, here};
        n_calls += here;
    }
    if (fmin(n, n_calls) < 3)
        return NULL;
    draw_outliers_in(parts, n);
    for (int i = 0; i < n; i++) {
        centre += parts[i].n_calls * parts[i].at / n_calls;
        all_ns += parts[i].n_calls * parts[i].ns;
    }
    double mean_ns = all_ns / n_calls, above = 0, square = 0, scatter = 0, before = 0, so_far_ns = 0, of_levels = 0;
    for (int i = 0; i < n; i++) {
        double weight = parts[i].n_calls, at = parts[i].at - centre, off_ns = parts[i].ns - mean_ns;
        above += weight * at * off_ns;
        square += weight * at * at;
        scatter += weight * off_ns * off_ns;
        before += weight;
        so_far_ns += weight * off_ns;
        if (i + 1 < n)
            of_levels = fmax(of_levels, so_far_ns * so_far_ns * (1 / before + 1 / (n_calls - before)));
    }
    double slope = above / square, of_line = above * slope;
    double error = sqrt(fmax(0, scatter - of_line) / (fmin(n, n_calls) - 2) / square);
    double first_ns = fmax(0, mean_ns - slope * centre), last_ns = fmax(0, mean_ns + slope * (n_calls - centre));
    if (fabs(slope) < TREND_ERRORS * error || of_line < of_levels ||
        fmax(first_ns, last_ns) <= TREND_GROWN * fmin(first_ns, last_ns))
        return NULL;
    uint32_t times = cause->every > 1 ? cause->every : 1; /* others are not told */
    const char *begin = arena_strdup(arena, amount_duration(first_ns * times).text);
    return arena_printf(arena, "%s from %s to %s of waiting each time", slope > 0 ? "growing" : "shrinking", begin,
                        amount_duration(last_ns * times).text);
}

/* Whether a cause may act outside of its span as well, where nobody can tell: the machine held up ranks there by as
 * much more than inside as the cause does inside, so that others were the last. */
static bool is_hidden_outside(const struct analysis *analysis, const struct cause *cause, int from, int to)
{
    const double *machine_ns = analysis->machine.when_ns;
    double inside = to - from, outside = WHEN_PARTS - inside;
    double machine_inside_ns = sum_of(machine_ns, from, to);
    double machine_outside_ns = sum_of(machine_ns, 0, WHEN_PARTS) - machine_inside_ns;
    return outside > 0 &&
           machine_outside_ns / outside - machine_inside_ns / inside > sum_of(cause->when_ns, from, to) / inside;
}

/* The longest time, in parts, in which it did next to nothing between two times at which it acts. */
static int longest_pause(const double *ns, int from, int to, double nothing_ns)
{
    int longest = 0;
    for (int begin = from; begin < to; begin++)
        while (begin + longest < to && sum_of(ns, begin, begin + longest + 1) <= nothing_ns)
            longest++;
    return longest;
}

const char *when_sentence(struct arena *arena, const struct analysis *analysis, const struct cause *cause)
{
    const double *ns = cause->when_ns;
    double all_ns = sum_of(ns, 0, WHEN_PARTS), part_ns = analysis->efficiency.wall_ns / WHEN_PARTS;
    int from = 0, to = WHEN_PARTS;
    if (!(all_ns > 0) || !(part_ns > 0))
        return NULL;
    if (cause->stall_ns > 0) {
        const char *dur = arena_strdup(arena, amount_duration(cause->stall_ns).text);
        return arena_printf(arena, "a single stall of %s, %s after the start", dur,
                            amount_duration((double)cause->stall_after_ns).text);
    }
    for (int i = 0; i < WHEN_PARTS && cause->lead_ns <= part_ns; i++)
        if (ns[i] >= MOST_SHARE * all_ns)
            return arena_printf(arena, "all at once, about %s after the start",
                                amount_duration((i + 0.5) * part_ns).text);
    const double nothing_ns = TREND_LEFT_OUT / 2 * all_ns;
    while (sum_of(ns, 0, from + 1) <= nothing_ns)
        from++;
    while (sum_of(ns, to - 1, WHEN_PARTS) <= nothing_ns)
        to--;
    double from_ns = fmax(0, from * part_ns - cause->lead_ns);
    const char *begin = arena_strdup(arena, amount_duration(from_ns).text), *span = NULL;
    const char *times =
        cause->every > 1 ? arena_printf(arena, "every %u%s time", cause->every, ordinal(cause->every)) : NULL;
    /* Start-up and end, in which nobody computes, are no news; nor is a silence like those between two times. */
    const double margin = fmax((1 - MOST_SHARE) * WHEN_PARTS, longest_pause(ns, from, to, nothing_ns) + 1);
    bool is_late = from_ns > margin * part_ns, is_short = WHEN_PARTS - to > margin;
    if (is_hidden_outside(analysis, cause, from, to))
        span = NULL;
    else if (is_late && is_short)
        span = arena_printf(arena, "from %s to %s", begin, amount_duration(to * part_ns).text);
    else if (is_late)
        span = arena_printf(arena, "only after %s", begin);
    else if (is_short)
        span = arena_printf(arena, "only until %s", amount_duration(to * part_ns).text);
    const char *parts[] = {times, span, when_trend(arena, cause, from, to)}, *text = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            text = text ? arena_printf(arena, "%s, %s", text, parts[i]) : parts[i];
    return text;
}
