/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/words/amount.h"
#include "analyze/constants/readers.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The rounding of whole numbers, wherever that is done again (html/view/format.js): `digits` significant ones, but
 * never fewer than the integer part has; halves away from zero. In integers, as fractions of two and of ten do not
 * agree.
 */
static struct amount amount_rounded(double whole, uint64_t unit, const char *name, int digits)
{
    struct amount amount;
    const double most = 1e18; /* sums of damaged times */
    if (!(fabs(whole) < most)) {
        snprintf(amount.text, sizeof amount.text, "%.0f %s", whole / (double)unit, name);
        return amount;
    }
    uint64_t size = (uint64_t)fabs(whole), step = unit, room = 10; /* step: what the last digit stands for */
    int after = 0;
    for (int i = 1; i < digits; i++, room *= 10)
        if (step >= 10) {
            step /= 10;
            after++;
        }
    for (; after && (size + step / 2) / step >= room; after--)
        step *= 10;
    uint64_t rounded = (size + step / 2) / step, one = unit / step;
    snprintf(amount.text, sizeof amount.text, "%s%" PRIu64, whole < 0 ? "-" : "", rounded / one);
    size_t n = strlen(amount.text);
    if (after)
        n += (size_t)snprintf(amount.text + n, sizeof amount.text - n, ".%0*" PRIu64, after, rounded % one);
    snprintf(amount.text + n, sizeof amount.text - n, " %s", name);
    return amount;
}

/* Whole nanoseconds, which are what JSON has: from either the same text. */
static struct amount amount_scaled(double ns, int digits)
{
    ns = round(ns);
    double size = fabs(ns);
    if (size < 1)
        return (struct amount){"0 s"};
    if (size < 1e3)
        return amount_rounded(ns, 1, "ns", digits);
    if (size < 999.5e3)
        return amount_rounded(ns, 1000, "us", digits);
    if (size < 999.5e6)
        return amount_rounded(ns, 1000000, "ms", digits);
    return amount_rounded(ns, 1000000000, "s", digits);
}

struct amount amount_duration(double ns)
{
    return amount_scaled(ns, 3);
}

struct amount amount_cost(double ns)
{
    struct amount amount;
    int after = fabs(ns) < 9.995 ? 2 : fabs(ns) < 99.95 ? 1 : 0;
    if (ns >= 999.5)
        return amount_duration(ns);
    snprintf(amount.text, sizeof amount.text, "%.*f ns", after, ns);
    return amount;
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

const char *amount_gains(struct arena *arena, double least_ns, double most_ns)
{
    struct amount least = amount_gain(least_ns), most = amount_gain(most_ns);
    return strcmp(least.text, most.text) ? arena_printf(arena, "%s to %s", least.text, most.text)
                                         : arena_strdup(arena, most.text);
}

struct amount amount_bytes(double bytes)
{
    static const char *const names[] = {"bytes", "kB", "MB", "GB", "TB"};
    size_t i = 0;
    uint64_t unit = 1;
    for (bytes = round(bytes); i + 1 < sizeof names / sizeof *names && bytes >= 999.5 * (double)unit; unit *= 1000)
        i++;
    return amount_rounded(bytes, unit, names[i], 3);
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

static struct amount amount_number(double number, int digits)
{
    const int most_after = 9;
    uint64_t unit = 1;
    int after = 0;
    for (double least = pow(10, digits - 1); number * (double)unit < least && after < most_after; unit *= 10)
        after++;
    uint64_t rounded = (uint64_t)(number * (double)unit + 0.5), part = rounded % unit;
    struct amount amount = amount_count(rounded / unit);
    for (; after && part % 10 == 0; part /= 10)
        after--;
    size_t n = strlen(amount.text);
    if (after)
        snprintf(amount.text + n, sizeof amount.text - n, ".%0*" PRIu64, after, part);
    return amount;
}

void amount_apart(const double numbers[2], struct amount texts[2])
{
    for (int digits = 3; digits < 16; digits++) {
        for (int i = 0; i < 2; i++)
            texts[i] = amount_number(numbers[i], digits);
        if (numbers[0] == numbers[1] || strcmp(texts[0].text, texts[1].text))
            return;
    }
}

const char *amount_calls(struct arena *arena, uint64_t n, uint64_t n_with_waits)
{
    if (n_with_waits == 1)
        return "the only call with waits";
    const char *all = arena_strdup(arena, amount_count(n_with_waits).text);
    return n == 2 && n == n_with_waits ? "both calls with waits"
           : n == n_with_waits         ? arena_printf(arena, "all %s calls with waits", all)
                                       : arena_printf(arena, "%s of %s calls with waits", amount_count(n).text, all);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* "3", "3-5", or "1,3,5 ... 63"; returns how many. */
static uint32_t next_ranks(struct arena *arena, const uint32_t *sorted, uint32_t n, const char **text)
{
    enum { MANY = 5 };
    uint32_t length = n < 2 ? n : 2, distance = n > 1 ? sorted[1] - sorted[0] : 0;
    while (length < n && sorted[length] - sorted[length - 1] == distance)
        length++;
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

/* In so many groups at most; returns how many ranks are left out. */
static uint32_t name_ranks(struct arena *arena, const uint32_t *ranks, uint32_t n, unsigned n_groups, const char **text)
{
    uint32_t *sorted = arena_copy(arena, ranks, n * sizeof *ranks), i = 0;
    qsort(sorted, n, sizeof *sorted, by_number);
    *text = n == 1 ? "rank " : "ranks ";
    const char *next;
    for (unsigned group = 0; i < n && group < n_groups; group++) {
        i += next_ranks(arena, sorted + i, n - i, &next);
        *text = arena_printf(arena, "%s%s%s", *text, group ? "," : "", next);
    }
    return n - i;
}

const char *amount_ranks(struct arena *arena, const uint32_t *ranks, uint32_t n)
{
    enum { GROUPS = 10 };
    const char *text = "no rank";
    uint32_t n_left = n ? name_ranks(arena, ranks, n, GROUPS, &text) : 0;
    return n_left ? arena_printf(arena, "%s and %u more", text, n_left) : text;
}

const char *amount_other_ranks(struct arena *arena, const uint32_t *ranks, uint32_t n)
{
    enum { GROUPS = 5 };
    const char *text = "no other rank";
    uint32_t n_left = n ? name_ranks(arena, ranks, n, GROUPS, &text) : 0;
    return n_left ? arena_printf(arena, "%u other ranks", n) : text;
}
