/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/pass/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* The same code but for where it stands. */
static bool is_alike(const struct compare_row *a, const struct compare_row *b)
{
    bool is_named = a->file || a->routine;
    return a->state == b->state && a->is_loop == b->is_loop && same_text(a->file, b->file) &&
           same_text(a->routine, b->routine) && (is_named || same_text(a->name, b->name));
}

static bool is_same(const struct compare_row *a, const struct compare_row *b)
{
    return is_alike(a, b) && a->line_first == b->line_first && a->line_last == b->line_last &&
           (a->line_first || same_text(a->name, b->name));
}

static void row_add(struct comparison *comparison, struct compare_row *row, double ns)
{
    size_t run = comparison->is_after.n - 1;
    if (row->ns.n <= run)
        vec_resize(&row->ns, run + 1);
    row->ns.at[run] += ns;
    row->is_in[comparison->is_after.at[run]] = true;
}

static struct compare_row *row_of(struct comparison *comparison, const struct compare_row *wanted)
{
    for (size_t i = COMPARE_FIRST_CAUSE; i < comparison->rows.n; i++)
        if (is_same(&comparison->rows.at[i], wanted))
            return &comparison->rows.at[i];
    struct compare_row *row = vec_push(&comparison->rows);
    *row = *wanted;
    row->name = arena_strdup(&comparison->arena, wanted->name);
    row->file = wanted->file ? arena_strdup(&comparison->arena, wanted->file) : NULL;
    row->routine = wanted->routine ? arena_strdup(&comparison->arena, wanted->routine) : NULL;
    return row;
}

void compare_add(struct comparison *comparison, const struct analysis *analysis, bool is_after,
                 const char *const *names)
{
    if (!comparison->rows.n) {
        vec_push(&comparison->rows)->name = "run time";
        vec_push(&comparison->rows)->name = "all waiting";
    }
    *vec_push(&comparison->is_after) = is_after;
    row_add(comparison, &comparison->rows.at[COMPARE_RUN_TIME], analysis->efficiency.wall_ns);
    row_add(comparison, &comparison->rows.at[COMPARE_WAITING], analysis->waiting_ns);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct step *step = &analysis->steps[analysis->causes[i].step];
        struct compare_row wanted = {.name = names[i],
                                     .file = base_name(step->file),
                                     .routine = step->routine,
                                     .state = step->state,
                                     .is_loop = step->is_loop,
                                     .line_first = step->line_first,
                                     .line_last = step->line_last};
        row_add(comparison, row_of(comparison, &wanted), analysis->causes[i].waiting_ns);
    }
}

/* The first like it, in the order of lines, that only the later side has; NULL when there is none. */
static struct compare_row *later_like(struct comparison *comparison, const struct compare_row *row)
{
    struct compare_row *found = NULL;
    for (size_t i = COMPARE_FIRST_CAUSE; i < comparison->rows.n; i++) {
        struct compare_row *other = &comparison->rows.at[i];
        bool fits = other->is_in[true] && !other->is_in[false] && other->file && is_alike(row, other);
        if (fits && (!found || other->line_first < found->line_first))
            found = other;
    }
    return found;
}

static int by_line(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;
    if (x->line_first != y->line_first)
        return x->line_first < y->line_first ? -1 : 1;
    if (x->line_last != y->line_last)
        return x->line_last < y->line_last ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* What has moved is one row. */
static void join_moved(struct comparison *comparison)
{
    struct compare_row *causes = comparison->rows.at + COMPARE_FIRST_CAUSE;
    size_t n = comparison->rows.n - COMPARE_FIRST_CAUSE, n_left = 0;
    qsort(causes, n, sizeof *causes, by_line);
    for (size_t i = 0; i < n; i++) {
        struct compare_row *row = &causes[i], *other = row->is_in[true] ? NULL : later_like(comparison, row);
        if (!other)
            continue;
        for (size_t run = 0; run < row->ns.n && run < other->ns.n; run++)
            other->ns.at[run] += row->ns.at[run];
        other->is_in[false] = true;
        vec_release(&row->ns);
        row->is_in[false] = false;
    }
    for (size_t i = 0; i < n; i++)
        if (causes[i].is_in[false] || causes[i].is_in[true])
            causes[n_left++] = causes[i];
    comparison->rows.n = COMPARE_FIRST_CAUSE + n_left;
}

struct moments {
    double mean, variance_of_mean;
};

static struct moments moments_of(const double *values, size_t n)
{
    struct moments moments = {0};
    double square = 0;
    for (size_t i = 0; i < n; i++)
        moments.mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (values[i] - moments.mean) * (values[i] - moments.mean);
    moments.variance_of_mean = n > 1 ? square / (double)(n - 1) / (double)n : INFINITY;
    return moments;
}

/* Student's t for 95 %, two-sided. */
static double student(double freedom)
{
    static const double table[] = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    enum { N = sizeof table / sizeof *table };
    size_t whole = freedom < 1 ? 1 : freedom > 1e6 ? (size_t)1e6 : (size_t)freedom;
    return whole <= N ? table[whole - 1] : 1.96 + 2.7 / (double)whole;
}

double compare_noise(const double *before, size_t n_before, const double *after, size_t n_after)
{
    if (n_before < 2 || n_after < 2)
        return INFINITY;
    double x = moments_of(before, n_before).variance_of_mean, y = moments_of(after, n_after).variance_of_mean;
    if (x + y <= 0)
        return 0;
    double freedom = (x + y) * (x + y) / (x * x / (double)(n_before - 1) + y * y / (double)(n_after - 1));
    return student(freedom) * sqrt(x + y);
}

static void row_judge(struct comparison *comparison, struct compare_row *row)
{
    struct arena scratch = {0};
    size_t n_runs = comparison->is_after.n, n[2] = {0};
    double *values[2] = {arena_array(&scratch, double, n_runs), arena_array(&scratch, double, n_runs)};
    vec_resize(&row->ns, n_runs);
    for (size_t run = 0; run < n_runs; run++) {
        bool is_after = comparison->is_after.at[run];
        values[is_after][n[is_after]++] = row->ns.at[run];
    }
    for (int side = 0; side < 2; side++)
        row->mean_ns[side] = moments_of(values[side], n[side]).mean;
    row->noise_ns = compare_noise(values[0], n[0], values[1], n[1]);
    double change_ns = row->mean_ns[1] - row->mean_ns[0];
    row->verdict = isinf(row->noise_ns)               ? COMPARE_UNKNOWN
                   : fabs(change_ns) <= row->noise_ns ? COMPARE_NOISE
                   : change_ns < 0                    ? COMPARE_LESS
                                                      : COMPARE_MORE;
    arena_release(&scratch);
}

static int by_falling_change(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;
    double left = fabs(x->mean_ns[1] - x->mean_ns[0]), right = fabs(y->mean_ns[1] - y->mean_ns[0]);
    if (left != right)
        return left < right ? 1 : -1;
    return strcmp(x->name, y->name);
}

void compare_finish(struct comparison *comparison)
{
    join_moved(comparison);
    for (size_t i = 0; i < comparison->rows.n; i++)
        row_judge(comparison, &comparison->rows.at[i]);
    qsort(comparison->rows.at + COMPARE_FIRST_CAUSE, comparison->rows.n - COMPARE_FIRST_CAUSE,
          sizeof *comparison->rows.at, by_falling_change);
}

void compare_release(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->rows.n; i++)
        vec_release(&comparison->rows.at[i].ns);
    vec_release(&comparison->rows);
    vec_release(&comparison->is_after);
    arena_release(&comparison->arena);
}
