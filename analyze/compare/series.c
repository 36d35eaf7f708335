/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/series.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number on a command line that is not the same in all runs; NAN where there is none, or more than one. */
static double varying_number(struct run *const *runs, size_t n_runs, size_t at)
{
    const char *words[2] = {runs[at]->command, NULL};
    double found = NAN;
    for (size_t other = 0; other < n_runs; other++) {
        const char *mine = words[0], *theirs = runs[other]->command;
        while (*mine && *theirs) {
            size_t n = strcspn(mine, " "), m = strcspn(theirs, " ");
            char *end;
            double value = strtod(mine, &end);
            bool is_number = isdigit((unsigned char)*mine) && end == mine + n;
            if ((n != m || memcmp(mine, theirs, n) != 0) && is_number) {
                if (!isnan(found) && found != value)
                    return NAN;
                found = value;
            }
            mine += n + strspn(mine + n, " ");
            theirs += m + strspn(theirs + m, " ");
        }
    }
    return found;
}

/* A run with what orders it. */
struct placed_run {
    struct run *run;
    double x;
    size_t at; /* as given */
};

static int by_x(const void *a, const void *b)
{
    const struct placed_run *p = a, *q = b;
    int order = order_of(p->x, q->x) ?: strcmp(p->run->command, q->run->command);
    return order ?: order_of(p->run->build, q->run->build) ?: order_of(p->at, q->at);
}

static int by_time(const void *a, const void *b)
{
    const struct placed_run *p = a, *q = b;
    return order_of(p->run->realtime_ns, q->run->realtime_ns) ?: order_of(p->at, q->at);
}

static enum series_by place_runs(struct placed_run *placed, struct run **runs, size_t n_runs, bool in_order)
{
    bool has_ranks = false, has_input = true, has_times = true;
    for (size_t i = 0; i < n_runs; i++) {
        placed[i] = (struct placed_run){.run = runs[i], .x = (double)runs[i]->n_ranks, .at = i};
        has_ranks |= runs[i]->n_ranks != runs[0]->n_ranks;
        has_times &= runs[i]->realtime_ns != 0;
        has_input &= !isnan(varying_number(runs, n_runs, i)) && varying_number(runs, n_runs, i) > 0;
    }
    if (in_order) {
        if (has_times)
            qsort(placed, n_runs, sizeof *placed, by_time);
        return SERIES_ORDER;
    }
    for (size_t i = 0; i < n_runs && !has_ranks; i++)
        placed[i].x = has_input ? varying_number(runs, n_runs, i) : 0;
    if (has_ranks || has_input)
        qsort(placed, n_runs, sizeof *placed, by_x);
    return has_ranks ? SERIES_RANKS : has_input ? SERIES_INPUT : SERIES_ORDER;
}

static bool is_one_point(const struct placed_run *a, const struct placed_run *b, enum series_by by)
{
    return a->x == b->x && a->run->build == b->run->build &&
           (by == SERIES_RANKS || !strcmp(a->run->command, b->run->command));
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return order_of(*x, *y);
}

/* They are sorted by that; NAN of none. */
static double median(double *values, size_t n)
{
    if (!n)
        return NAN;
    qsort(values, n, sizeof *values, by_size);
    return (values[n / 2] + values[(n - 1) / 2]) / 2;
}

/* y ~ x^k: the median of the slopes between any two runs (Theil and Sen), and the error from the distances to it. */
static void fit(struct series *series, const double *y, double *exponent, double *error)
{
    const struct comparison *comparison = &series->comparison;
    struct arena scratch = {0};
    size_t n = 0, n_slopes = 0;
    double *log_x = arena_array(&scratch, double, comparison->n_runs + 1),
           *log_y = arena_array(&scratch, double, comparison->n_runs + 1), mean_x = 0, xx = 0, squares = 0;
    *exponent = *error = NAN;
    for (size_t run = 0; run < comparison->n_runs; run++)
        if (y[run] > 0) {
            log_x[n] = log(series->x[comparison->side_of[run]]);
            log_y[n++] = log(y[run]);
        }
    double *slopes = arena_array(&scratch, double, n *n / 2 + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (log_x[i] != log_x[k])
                slopes[n_slopes++] = (log_y[k] - log_y[i]) / (log_x[k] - log_x[i]);
    if (n >= 3 && n_slopes) {
        *exponent = median(slopes, n_slopes);
        for (size_t i = 0; i < n; i++) {
            log_y[i] -= *exponent * log_x[i];
            mean_x += log_x[i] / (double)n;
            xx += log_x[i] * log_x[i];
        }
        double height = median(log_y, n);
        for (size_t i = 0; i < n; i++)
            squares += (log_y[i] - height) * (log_y[i] - height);
        *error = sqrt(squares / (double)(n - 2) / (xx - (double)n * mean_x * mean_x));
    }
    arena_release(&scratch);
}

/* The place before `end` that divides a row's runs best: its chance, by the number of places. */
static double best_split(const struct compare_row *row, uint32_t end, double scale, double level, uint32_t *at)
{
    const double *ns = row->ns, *others = row->others_ns;
    double best = 1;
    for (uint32_t split = SERIES_SIDE_RUNS; split + SERIES_SIDE_RUNS <= end; split++) {
        struct noise_side first = {split, ns, others},
                          second = {end - split, ns + split, others ? others + split : NULL};
        double chance = noise_compare(first, second, scale, level).chance * (end + 1 - 2 * SERIES_SIDE_RUNS);
        if (chance < best) {
            best = chance;
            *at = split;
        }
    }
    return best;
}

static bool find_change(const struct series *series, struct series_row *row, double scale, double level)
{
    const struct compare_row *values = &series->comparison.rows.at[row->row];
    const double *ns = values->ns;
    uint32_t end = (uint32_t)series->comparison.n_runs, at = 0;
    double most = 0;
    for (uint32_t run = 0; run < end; run++)
        most = fmax(most, ns[run]);
    row->changed_at = SERIES_NEVER;
    while (most > scale && best_split(values, end, scale, level, &at) <= level) {
        row->changed_at = at;
        row->is_more = noise_mean(ns + at, end - at) > noise_mean(ns, at);
        end = at;
    }
    return row->changed_at != SERIES_NEVER;
}

/* Groups first; of a group that has changed, or whose causes say so at half of its level, the causes. */
static void find_changes(struct series *series)
{
    const struct comparison *comparison = &series->comparison;
    bool has_changed = false;
    double n_causes = 0, level = 0, scale = 1;
    for (size_t i = 0; i < series->rows.n; i++) {
        struct series_row *at = &series->rows.at[i];
        const struct compare_row *row = &comparison->rows.at[at->row];
        if (!row->depth) {
            level = compare_level(row->group);
            scale = compare_scale(comparison, row->group);
            n_causes = 0;
            for (size_t k = i + 1; k < series->rows.n && comparison->rows.at[series->rows.at[k].row].depth; k++)
                n_causes++;
            has_changed = find_change(series, at, scale, n_causes > 0 ? level / 2 : level);
            continue;
        }
        /* By number alone: what a cause has in the runs must not choose its level here, where there are no two sides.
         */
        find_change(series, at, scale, level / n_causes / (has_changed ? 1 : 2));
    }
}

static void find_facts(struct series *series)
{
    const struct comparison *comparison = &series->comparison;
    struct arena scratch = {0};
    size_t n_runs = comparison->n_runs;
    uint32_t *side_of = arena_array(&scratch, uint32_t, n_runs + 1),
             **number = arena_array(&scratch, uint32_t *, n_runs + 1);
    bool is_comparable = true;
    for (size_t run = 0; run < n_runs; run++) {
        side_of[run] = (uint32_t)run;
        is_comparable &=
            comparison->runs[run]->n_ranks == comparison->runs[0]->n_ranks && comparison->runs[run]->is_whole;
    }
    uint32_t n = is_comparable ? match_facts(&scratch, comparison->runs, side_of, n_runs, (uint32_t)n_runs, number) : 0;
    const struct fact **at = arena_array(&scratch, const struct fact *, (size_t)n *n_runs + 1);
    for (size_t run = 0; run < n_runs && is_comparable; run++)
        for (uint32_t i = 0; i < comparison->runs[run]->n_facts; i++)
            at[number[run][i] * n_runs + run] = &comparison->runs[run]->facts[i];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t n_changes = 0, changed_at = 0;
        bool is_everywhere = at[i * n_runs] != NULL;
        for (size_t run = 1; run < n_runs && is_everywhere; run++) {
            is_everywhere &= at[i * n_runs + run] != NULL;
            if (is_everywhere && !compare_counts_are_equal(at[i * n_runs + run - 1], at[i * n_runs + run])) {
                n_changes++;
                changed_at = (uint32_t)run;
            }
        }
        if (is_everywhere && n_changes == 1 &&
            compare_difference(at[i * n_runs], at[i * n_runs + changed_at], true) > 0)
            *vec_push(&series->facts) = (struct series_fact){at[i * n_runs], at[i * n_runs + changed_at], changed_at};
    }
    arena_release(&scratch);
}

/* Totals of each point, and which kind of scaling fits them. */
static void find_scaling(struct series *series)
{
    struct comparison *comparison = &series->comparison;
    struct arena *arena = &comparison->arena;
    uint32_t n = comparison->n_sides;
    double *all_ns = arena_array(arena, double, n + 1), by_total = 0, by_rank = 0;
    series->scaling = arena_array(arena, double, n + 1);
    series->compute_ns = arena_array(arena, double, n + 1);
    series->parallel = arena_array(arena, double, n + 1);
    for (size_t run = 0; run < comparison->n_runs; run++) {
        uint32_t point = comparison->side_of[run];
        series->compute_ns[point] += comparison->runs[run]->compute_ns / comparison->n_of_side[point];
        all_ns[point] += comparison->runs[run]->all_ns / comparison->n_of_side[point];
    }
    for (uint32_t point = 0; point < n; point++) {
        double ratio = series->compute_ns[point] / fmax(series->compute_ns[0], 1);
        by_total += fabs(log(fmax(ratio, 1e-9)));
        by_rank += fabs(log(fmax(ratio * series->x[0] / series->x[point], 1e-9)));
    }
    series->is_weak = series->by == SERIES_RANKS && by_rank < by_total;
    for (uint32_t point = 0; point < n; point++) {
        double expected_ns = series->compute_ns[0] * (series->is_weak ? series->x[point] / series->x[0] : 1);
        series->scaling[point] = expected_ns / fmax(series->compute_ns[point], 1);
        series->parallel[point] = series->compute_ns[point] / fmax(all_ns[point], 1);
    }
}

uint32_t series_make(struct series *series, struct run **runs, size_t n_runs, bool in_order)
{
    struct arena scratch = {0};
    struct placed_run *placed = arena_array(&scratch, struct placed_run, n_runs + 1);
    struct run **ordered = arena_array(&scratch, struct run *, n_runs + 1);
    uint32_t *side_of = arena_array(&scratch, uint32_t, n_runs + 1), n_points = 0;
    *series = (struct series){.by = place_runs(placed, runs, n_runs, in_order)};
    for (size_t i = 0; i < n_runs; i++) {
        ordered[i] = placed[i].run;
        n_points += in_order || !i || !is_one_point(&placed[i - 1], &placed[i], series->by);
        side_of[i] = n_points - 1;
    }
    compare_make(&series->comparison, ordered, side_of, n_runs, n_points);
    series->x = arena_array(&series->comparison.arena, double, n_points + 1);
    for (size_t i = 0; i < n_runs; i++)
        series->x[side_of[i]] = series->by == SERIES_ORDER ? side_of[i] + 1.0 : placed[i].x;
    find_scaling(series);
    for (uint32_t i = 0; i < series->comparison.rows.n; i++) {
        if (series->comparison.rows.at[i].depth > 1)
            continue;
        struct series_row *row = vec_push(&series->rows);
        *row = (struct series_row){.row = i, .exponent = NAN, .error = NAN, .changed_at = SERIES_NEVER};
        if (series->by != SERIES_ORDER)
            fit(series, series->comparison.rows.at[i].ns, &row->exponent, &row->error);
    }
    if (series->by == SERIES_ORDER) {
        find_changes(series);
        find_facts(series);
    }
    arena_release(&scratch);
    return n_points;
}

void series_release(struct series *series)
{
    vec_release(&series->rows);
    vec_release(&series->facts);
    compare_release(&series->comparison);
}
