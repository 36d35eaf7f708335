/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/amount.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* `digits` significant ones, but never fewer than the integer part has. */
static struct amount amount_in_unit(double value, const char *unit, int digits)
{
    struct amount amount;
    double size = fabs(value);
    int before = size < 9.995 ? 1 : size < 99.95 ? 2 : 3;
    int after = digits > before ? digits - before : 0;
    snprintf(amount.text, sizeof amount.text, "%.*f %s", after, value, unit);
    return amount;
}

static struct amount amount_scaled(double ns, int digits)
{
    double size = fabs(ns);
    if (size < 0.5)
        return (struct amount){"0 s"};
    if (size < 999.5)
        return amount_in_unit(ns, "ns", 1);
    if (size < 999.5e3)
        return amount_in_unit(ns / 1e3, "us", digits);
    if (size < 999.5e6)
        return amount_in_unit(ns / 1e6, "ms", digits);
    return amount_in_unit(ns / 1e9, "s", digits);
}

struct amount amount_duration(double ns)
{
    return amount_scaled(ns, 3);
}

struct amount amount_cost(double ns)
{
    return ns < 999.5 ? amount_in_unit(ns, "ns", 3) : amount_duration(ns);
}

struct amount amount_change(double ns)
{
    struct amount plain = amount_scaled(ns, 3), amount;
    snprintf(amount.text, sizeof amount.text, "%s%.30s", ns >= 0.5 ? "+" : "", plain.text);
    return amount;
}

struct amount amount_gain(double ns)
{
    if (ns < 1)
        return (struct amount){"nothing"};
    return amount_scaled(-ns, 2);
}

struct amount amount_bytes(double bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    if (bytes < 1000)
        return amount_in_unit(bytes, "bytes", 1);
    size_t unit = 0;
    for (bytes /= 1e3; bytes >= 999.5 && unit + 1 < sizeof units / sizeof *units; bytes /= 1e3)
        unit++;
    return amount_in_unit(bytes, units[unit], 3);
}

struct amount amount_share(double share)
{
    struct amount amount;
    double percent = 100 * share;
    if (!(percent > 0))
        return (struct amount){"0 %"};
    if (percent < 0.05)
        return (struct amount){"<0.1 %"};
    snprintf(amount.text, sizeof amount.text, "%.*f %%", percent < 9.95 ? 1 : 0, percent);
    return amount;
}

struct amount amount_date(uint64_t realtime_ns)
{
    struct amount amount = {""};
    time_t seconds = (time_t)(realtime_ns / 1000000000u);
    struct tm date;
    if (realtime_ns && localtime_r(&seconds, &date))
        strftime(amount.text, sizeof amount.text, "%e %b %Y %H:%M", &date);
    return amount;
}

struct amount amount_brief(double count)
{
    static const char units[] = {'\0', 'k', 'M', 'G', 'T', 'P', 'E'};
    struct amount amount = {""};
    size_t unit = 0;
    for (; count >= 999.5 && unit + 1 < sizeof units; count /= 1000)
        unit++;
    int digits = count >= 99.95 || (!unit && count == floor(count)) ? 0 : count >= 9.995 ? 1 : 2;
    snprintf(amount.text, sizeof amount.text, "%.*f%c", digits, count, units[unit]);
    return amount;
}

struct amount amount_count(uint64_t count)
{
    char digits[24];
    struct amount amount = {""};
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *to = amount.text;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    return amount;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* How many from the first on are each as far from the one before. */
static uint32_t row_length(const uint32_t *sorted, uint32_t n)
{
    uint32_t length = n < 2 ? n : 2;
    while (length < n && sorted[length] - sorted[length - 1] == sorted[1] - sorted[0])
        length++;
    return length;
}

/* "3", "3-5", or "1,3,5 ... 63"; returns how many. */
static uint32_t next_ranks(struct arena *arena, const uint32_t *sorted, uint32_t n, const char **text)
{
    enum { MANY = 5 };
    uint32_t length = row_length(sorted, n), distance = length > 1 ? sorted[1] - sorted[0] : 0;
    if (distance == 1 && length > 2)
        *text = arena_printf(arena, "%u-%u", sorted[0], sorted[length - 1]);
    else if (length >= MANY)
        *text = arena_printf(arena, "%u,%u,%u ... %u", sorted[0], sorted[1], sorted[2], sorted[length - 1]);
    else {
        *text = arena_printf(arena, "%u", sorted[0]);
        length = 1;
    }
    return length;
}

const char *amount_ranks(struct arena *arena, const uint32_t *ranks, uint32_t n)
{
    enum { GROUPS = 10 };
    if (!n)
        return "no rank";
    uint32_t *sorted = arena_copy(arena, ranks, n * sizeof *ranks);
    qsort(sorted, n, sizeof *sorted, by_number);
    const char *text = n == 1 ? "rank " : "ranks ", *next;
    uint32_t i = 0;
    for (unsigned group = 0; i < n && group < GROUPS; group++) {
        i += next_ranks(arena, sorted + i, n - i, &next);
        text = arena_printf(arena, "%s%s%s", text, group ? "," : "", next);
    }
    return i < n ? arena_printf(arena, "%s and %u more", text, n - i) : text;
}

struct remainder {
    double part;
    uint32_t index;
};

static int by_falling_part(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

void amount_apportion(const double *values, uint32_t n, int64_t total, int64_t *integers)
{
    struct arena scratch = {0};
    struct remainder *remainders = arena_array(&scratch, struct remainder, n);
    /* Sums of damaged times may be beyond any integer. */
    const int64_t largest_total = INT64_MAX / 2;
    const double largest = (double)largest_total / ((double)n + 1);
    int64_t left = total < 0 || total > largest_total ? largest_total : total;
    for (uint32_t i = 0; i < n; i++) {
        double value = fmin(fmax(values[i], 0), largest);
        integers[i] = (int64_t)floor(value);
        remainders[i] = (struct remainder){value - floor(value), i};
        left -= integers[i];
    }
    qsort(remainders, n, sizeof *remainders, by_falling_part);
    for (uint32_t i = 0; i < n && left > 0; i++, left--)
        integers[remainders[i].index]++;
    for (uint32_t i = n; i-- > 0 && left < 0;)
        if (integers[i] > 0) {
            integers[i]--;
            left++;
        }
    arena_release(&scratch);
}

/* Of all: in one part of the run; left out at both ends together; how much more in the second half. */
static const double ONE_STALL = 0.9, LEFT_OUT = 0.02, GROWN = 2;

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

/* "growing from 40.0 ms to 210 ms of waiting a second": the ends of a straight line through the parts. NULL where it
 * neither grows nor shrinks by much. */
static const char *when_trend(struct arena *arena, const double *ns, int from, int to, double part_ns)
{
    int middle = (from + to) / 2;
    double first_ns = sum_of(ns, from, middle) / (middle - from), second_ns = sum_of(ns, middle, to) / (to - middle);
    const char *trend = second_ns > GROWN * first_ns ? "growing" : first_ns > GROWN * second_ns ? "shrinking" : NULL;
    double centre = (from + to - 1) / 2.0, mean_ns = sum_of(ns, from, to) / (to - from), above = 0, square = 0;
    for (int i = from; i < to; i++) {
        above += (i - centre) * (ns[i] - mean_ns);
        square += (i - centre) * (i - centre);
    }
    if (!trend || !(square > 0))
        return NULL;
    double slope_ns = above / square * (to - from) / 2, a_second = 1e9 / part_ns;
    const char *begin = arena_strdup(arena, amount_duration(fmax(0, mean_ns - slope_ns) * a_second).text);
    return arena_printf(arena, "%s from %s to %s of waiting a second", trend, begin,
                        amount_duration(fmax(0, mean_ns + slope_ns) * a_second).text);
}

const char *when_sentence(struct arena *arena, const struct analysis *analysis, const double *ns, uint32_t every)
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
    const char *begin = arena_strdup(arena, amount_duration(from * part_ns).text), *span = NULL;
    const char *times = every > 1 ? arena_printf(arena, "every %u%s time", every, ordinal(every)) : NULL;
    bool is_late = from > 1, is_short = to < WHEN_PARTS - 1;
    if (is_late && is_short)
        span = arena_printf(arena, "from %s to %s", begin, amount_duration(to * part_ns).text);
    else if (is_late)
        span = arena_printf(arena, "only after %s", begin);
    else if (is_short)
        span = arena_printf(arena, "only until %s", amount_duration(to * part_ns).text);
    const char *parts[] = {times, span, when_trend(arena, ns, from, to, part_ns)}, *text = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            text = text ? arena_printf(arena, "%s, %s", text, parts[i]) : parts[i];
    return text;
}
