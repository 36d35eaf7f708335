/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/when.h"
#include "analyze/constants/constants.h"
#include <math.h>
#include <stdlib.h>

static double sum_of(const double *ns, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += ns[i];
    return sum;
}

/* Parts of the run, without the last one. */
struct span {
    int from, to;
};

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
    double room_ns = FAR_DEVIATIONS * MEDIAN_TO_DEVIATION * weighted_median(values, n);
    for (int i = 0; i < n; i++) {
        double line_ns = height + slope * parts[i].at;
        parts[i].ns = fmin(fmax(parts[i].ns, line_ns - room_ns), line_ns + room_ns);
    }
}

/* Those of its parts in which it has instances; returns how many. `more_ns`: other waiting in each part of the run;
 * NULL. */
static int parts_of(const struct cause *cause, struct span span, const double *more_ns, struct part parts[WHEN_PARTS])
{
    double n_calls = 0;
    int n = 0;
    for (int i = span.from; i < span.to; i++) {
        double here = cause->when_n[i], ns = cause->when_ns[i] + (more_ns ? more_ns[i] : 0);
        if (!(here > 0))
            continue;
        parts[n++] = (struct part){n_calls + here / 2, ns / here, here};
        n_calls += here;
    }
    return n;
}

/* Of all pairs of parts, how many more rise than fall: in standard deviations of what chance makes of it. */
static double rank_trend(const struct part *parts, int n)
{
    int rises = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            rises += (parts[i].ns > parts[k].ns) - (parts[i].ns < parts[k].ns);
    return n > 1 ? rises / sqrt(n * (n - 1) * (2 * n + 5) / 18.) : 0;
}

struct line {
    double first_ns, last_ns; /* alike where there is no trend */
};

/* The ends of a straight line through the parts, over the calls made rather than over time, as what grows makes its
 * steps longer. None where they do not differ by much, or by chance; or where two levels, one after the other, are
 * nearer to the parts. */
static struct line line_through(struct part *parts, int n)
{
    double ranks = rank_trend(parts, n), n_calls = 0, centre = 0, mean_ns = 0;
    if (fabs(ranks) < FAR_DEVIATIONS)
        return (struct line){0};
    draw_outliers_in(parts, n);
    for (int i = 0; i < n; i++) {
        n_calls += parts[i].n_calls;
        centre += parts[i].n_calls * parts[i].at;
        mean_ns += parts[i].n_calls * parts[i].ns;
    }
    centre /= n_calls;
    mean_ns /= n_calls;
    double above = 0, square = 0, before = 0, so_far_ns = 0, of_levels = 0;
    for (int i = 0; i < n; i++) {
        double weight = parts[i].n_calls, at = parts[i].at - centre, off_ns = parts[i].ns - mean_ns;
        above += weight * at * off_ns;
        square += weight * at * at;
        before += weight;
        so_far_ns += weight * off_ns;
        if (i + 1 < n)
            of_levels = fmax(of_levels, so_far_ns * so_far_ns * (1 / before + 1 / (n_calls - before)));
    }
    double slope = above / square;
    struct line line = {fmax(0, mean_ns - slope * centre), fmax(0, mean_ns + slope * (n_calls - centre))};
    bool is_trend = slope * ranks > 0 && above * slope >= of_levels &&
                    fmax(line.first_ns, line.last_ns) > TREND_GROWN * fmin(line.first_ns, line.last_ns);
    return is_trend ? line : (struct line){0};
}

/* Where ranks lack a CPU more and more often, less and less of their waits is the program's. So a trend has to show in
 * both together as well. */
static void find_trend(const struct analysis *analysis, const struct cause *cause, struct span span,
                       struct acting *acting)
{
    struct part parts[WHEN_PARTS];
    int n = parts_of(cause, span, NULL, parts);
    struct line own = line_through(parts, n);
    parts_of(cause, span, analysis->machine.when_ns, parts);
    struct line both = line_through(parts, n);
    double times = cause->every > 1 ? cause->every : 1; /* others are not told */
    acting->is_trend = (own.last_ns - own.first_ns) * (both.last_ns - both.first_ns) > 0;
    if (!acting->is_trend)
        return;
    acting->first_ns = times * own.first_ns;
    acting->last_ns = times * own.last_ns;
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

/* So many parts at either end are no news. */
#define SPAN_MARGIN ((1 - MOST_SHARE) * WHEN_PARTS)

/* Without the ends at which it does next to nothing. */
static struct span span_of_all(const double *ns, double nothing_ns)
{
    struct span span = {0, WHEN_PARTS};
    while (sum_of(ns, 0, span.from + 1) <= nothing_ns)
        span.from++;
    while (sum_of(ns, span.to - 1, WHEN_PARTS) <= nothing_ns)
        span.to--;
    return span;
}

/* The span whose level stands out best, where most of the waiting lies in it; else `all`. */
static struct span span_of_most(const double *ns, double all_ns, struct span all)
{
    struct span best = all;
    double best_between = 0;
    for (int from = 0; from < WHEN_PARTS; from++)
        for (int to = from + 1; to <= WHEN_PARTS; to++) {
            double n = to - from, above_ns = sum_of(ns, from, to) - all_ns * n / WHEN_PARTS;
            double between = n < WHEN_PARTS ? above_ns * above_ns * (1 / n + 1 / (WHEN_PARTS - n)) : 0;
            if (above_ns > 0 && between > best_between) {
                best_between = between;
                best = (struct span){from, to};
            }
        }
    return sum_of(ns, best.from, best.to) >= MOST_SHARE * all_ns ? best : all;
}

static bool has_far_less(const double *ns, double all_ns, int from, int to)
{
    return TREND_GROWN * sum_of(ns, from, to) < all_ns * (to - from) / WHEN_PARTS;
}

/* True when no quarter of the run has far less of it than the others. */
static bool is_everywhere(const double *ns, double all_ns)
{
    enum { QUARTERS = 4, LENGTH = WHEN_PARTS / QUARTERS };
    for (int i = 0; i < QUARTERS; i++)
        if (has_far_less(ns, all_ns, i * LENGTH, (i + 1) * LENGTH))
            return false;
    return true;
}

/* Nor has an eighth at an end, where it may begin or stop. Before anybody waits, and behind, is no news. */
static bool is_throughout(const double *ns, double all_ns)
{
    enum { LENGTH = WHEN_PARTS / 8 };
    struct span any = span_of_all(ns, 0);
    return !has_far_less(ns, all_ns, any.from, any.from + LENGTH) && !has_far_less(ns, all_ns, any.to - LENGTH, any.to);
}

/* Start-up and end, in which nobody computes, are no news; nor is a silence like those between two times. */
static bool find_span(const struct analysis *analysis, const struct cause *cause, struct span span, double nothing_ns,
                      struct acting *acting)
{
    double part_ns = analysis->efficiency.wall_ns / WHEN_PARTS, from_ns = span.from * part_ns - cause->lead_ns;
    double margin = fmax(SPAN_MARGIN, longest_pause(cause->when_ns, span.from, span.to, nothing_ns) + 1);
    if (is_hidden_outside(analysis, cause, span.from, span.to))
        return false;
    acting->from_ns = from_ns > margin * part_ns ? from_ns : 0;
    acting->to_ns = WHEN_PARTS - span.to > margin ? span.to * part_ns : 0;
    return acting->from_ns > 0 || acting->to_ns > 0;
}

static bool is_felt_in_one_call(const struct cause *cause)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < cause->n_sites; i++)
        n += cause->sites[i].n_calls;
    return n <= 1;
}

/* Of the waiting for a rank over the run. */
struct course {
    uint32_t rank;
    double middle;                     /* its mean part */
    double shares[WHEN_PARTS + 1];     /* its shares in all waiting of each part before this one, */
    double waiting_ns[WHEN_PARTS + 1]; /* and the waiting */
};

static struct course course_of(const struct cause *cause, uint32_t number)
{
    const struct when_rank *rank = &cause->when_ranks[number];
    struct course course = {.rank = rank->rank};
    for (int part = 0; part < WHEN_PARTS; part++) {
        double all_ns = 0, ns = (double)rank->ns[part];
        for (uint32_t i = 0; i < cause->n_when_ranks; i++)
            all_ns += (double)cause->when_ranks[i].ns[part];
        double share = all_ns > 0 ? ns / all_ns : 0;
        course.shares[part + 1] = course.shares[part] + share;
        course.waiting_ns[part + 1] = course.waiting_ns[part] + ns;
        course.middle += part * share;
    }
    course.middle /= fmax(course.shares[WHEN_PARTS], NEXT_TO_NOTHING);
    return course;
}

static int by_middle(const void *a, const void *b)
{
    const struct course *left = a, *right = b;
    return (left->middle > right->middle) - (left->middle < right->middle);
}

/* Spans behind each other, one for each rank so far, up to a part: what of the shares and the waiting lies in them, and
 * where the first one ends. */
struct spans {
    double shares, waiting_ns;
    int first_to;
};

/* Those with most of the shares. Each part counts alike in them, since what the machine does comes in few of them. */
static struct spans spans_of(const struct course *courses, int n)
{
    struct spans best[WHEN_PARTS + 1];
    int shortest = WHEN_PARTS / (4 * n) + 1;
    for (int to = 0; to <= WHEN_PARTS; to++) {
        bool is_long = to >= shortest;
        best[to] = (struct spans){is_long ? courses[0].shares[to] : -WHEN_PARTS, courses[0].waiting_ns[to], to};
    }
    for (int i = 1; i < n; i++)
        for (int to = WHEN_PARTS; to >= 0; to--) {
            struct spans most = {.shares = -WHEN_PARTS};
            for (int from = 0; from + shortest <= to; from++) {
                double shares = best[from].shares + courses[i].shares[to] - courses[i].shares[from];
                double waiting_ns = best[from].waiting_ns + courses[i].waiting_ns[to] - courses[i].waiting_ns[from];
                if (shares > most.shares)
                    most = (struct spans){shares, waiting_ns, best[from].first_to};
            }
            best[to] = most;
        }
    return best[WHEN_PARTS];
}

/* One of its ranks is late after the other, but for what the machine, or the step in which the work moves on, mixes in.
 */
static void find_moves(const struct cause *cause, double part_ns, struct acting *acting)
{
    struct course courses[WHEN_PARTS];
    uint32_t n = cause->n_when_ranks;
    double shares = 0, waiting_ns = 0;
    if (n < 2 || n != cause->n_late || n > WHEN_PARTS / 2)
        return;
    for (uint32_t i = 0; i < n; i++) {
        courses[i] = course_of(cause, i);
        shares += courses[i].shares[WHEN_PARTS];
        waiting_ns += courses[i].waiting_ns[WHEN_PARTS];
    }
    qsort(courses, n, sizeof *courses, by_middle);
    struct spans spans = spans_of(courses, (int)n);
    acting->moves = spans.shares >= MOST_SHARE * shares && spans.waiting_ns >= MOST_SHARE * waiting_ns;
    if (!acting->moves)
        return;
    acting->moves_ns = spans.first_to * part_ns;
    acting->first_rank = courses[0].rank;
    acting->last_rank = courses[n - 1].rank;
}

struct acting when_acts(const struct analysis *analysis, const struct cause *cause)
{
    const double *ns = cause->when_ns;
    double all_ns = sum_of(ns, 0, WHEN_PARTS), part_ns = analysis->efficiency.wall_ns / WHEN_PARTS;
    struct acting acting = {.kind = ACTS_SOMEHOW};
    if (!(all_ns > 0) || !(part_ns > 0))
        return acting;
    if (cause->stall_ns > 0)
        return (struct acting){.kind = ACTS_IN_A_STALL,
                               .from_ns = (double)cause->stall_after_ns,
                               .is_in_one_call = is_felt_in_one_call(cause)};
    for (int i = 0; i < WHEN_PARTS && cause->lead_ns <= part_ns; i++)
        if (ns[i] >= MOST_SHARE * all_ns)
            return (struct acting){.kind = ACTS_AT_ONCE, .from_ns = (i + 0.5) * part_ns};
    double nothing_ns = TREND_LEFT_OUT / 2 * all_ns;
    struct span all = span_of_all(ns, nothing_ns);
    find_trend(analysis, cause, all, &acting);
    find_moves(cause, part_ns, &acting);
    struct span most = span_of_most(ns, all_ns, all);
    /* A little before or after may be what the machine did once. */
    bool is_all = most.from - all.from <= SPAN_MARGIN && all.to - most.to <= SPAN_MARGIN;
    if (is_all && find_span(analysis, cause, all, nothing_ns, &acting)) {
        acting.kind = ACTS_IN_PART_ONLY;
    } else if (!acting.is_trend && is_everywhere(ns, all_ns)) {
        acting.kind = is_throughout(ns, all_ns) ? ACTS_THROUGHOUT : ACTS_SOMEHOW;
    } else if (!acting.is_trend && find_span(analysis, cause, most, nothing_ns, &acting)) {
        acting.kind = ACTS_IN_PART_MOSTLY;
    }
    return acting;
}
