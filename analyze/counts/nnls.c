/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lawson and Hanson's active sets on the normal equations. Columns are scaled to unit length first, since one step may
 * run a billion times and another once. A step enters the passive set when its cost wants to grow. The passive set is
 * solved by Cholesky's factorisation. A step whose cost would turn negative leaves. A column that depends on those
 * already in (a pivot near zero) stays out of the factorisation: its cost is then carried by the others.
 */
#include "analyze/counts/nnls.h"
#include <math.h>
#include <string.h>

enum { LEAST_ROOM = 16 };
static const double TINY_PIVOT = 1e-10, TOLERANCE = 1e-10;

/* The scaled problem while it is solved. */
struct fit {
    uint32_t n, n_passive;
    double *gram, *right, *scale;
    double *cost, *wish; /* the current point; the passive set's own minimum */
    double *factor;      /* lower triangle, n_passive x n_passive with row length n */
    uint32_t *passive;
    bool *is_passive, *is_dependent;
};

void nnls_init(struct nnls *problem, struct arena *arena, uint32_t n)
{
    *problem =
        (struct nnls){.n = n, .gram = arena_array(arena, double, (size_t)n *n), .right = arena_array(arena, double, n)};
}

void nnls_widen(struct nnls *problem, struct arena *arena, uint32_t n)
{
    if (n <= problem->n)
        return;
    struct nnls wide;
    uint32_t room = problem->n ? problem->n : LEAST_ROOM;
    while (room < n)
        room *= 2;
    nnls_init(&wide, arena, room);
    for (uint32_t i = 0; i < problem->n; i++) {
        memcpy(wide.gram + (size_t)i * room, problem->gram + (size_t)i * problem->n, sizeof(double) * problem->n);
        wide.right[i] = problem->right[i];
    }
    wide.square = problem->square;
    wide.n_rows = problem->n_rows;
    wide.variance = problem->variance;
    *problem = wide;
}

void nnls_join_at(struct nnls *problem, uint32_t at, const struct nnls *other, double weight)
{
    for (uint32_t i = 0; i < other->n; i++) {
        double *row = problem->gram + (size_t)(at + i) * problem->n + at;
        for (uint32_t j = 0; j < other->n; j++)
            row[j] += weight * other->gram[(size_t)i * other->n + j];
        problem->right[at + i] += weight * other->right[i];
    }
    problem->square += weight * other->square;
    problem->n_rows += other->n_rows;
}

void nnls_join(struct nnls *problem, const struct nnls *other)
{
    nnls_join_at(problem, 0, other, 1);
}

void nnls_add(struct nnls *problem, const uint32_t *steps, const double *executions, uint32_t n_entries,
              double length_ns, double weight)
{
    for (uint32_t i = 0; i < n_entries; i++) {
        double *row = problem->gram + (size_t)steps[i] * problem->n;
        for (uint32_t j = 0; j < n_entries; j++)
            row[steps[j]] += weight * executions[i] * executions[j];
        problem->right[steps[i]] += weight * executions[i] * length_ns;
    }
    problem->square += weight * length_ns * length_ns;
    problem->n_rows++;
}

void nnls_prefer(struct nnls *problem, uint32_t step, double cost_ns, double strength)
{
    problem->gram[(size_t)step * problem->n + step] += strength;
    problem->right[step] += strength * cost_ns;
    problem->square += strength * cost_ns * cost_ns;
    problem->n_rows++;
}

static void step_clear(struct nnls *problem, uint32_t step)
{
    for (uint32_t i = 0; i < problem->n; i++)
        problem->gram[(size_t)step * problem->n + i] = problem->gram[(size_t)i * problem->n + step] = 0;
    problem->right[step] = 0;
}

void nnls_forget(struct nnls *problem, uint32_t step)
{
    uint32_t n = problem->n;
    double *taken = problem->gram + (size_t)step * n, pivot = taken[step], right = problem->right[step];
    if (!(pivot > 0))
        return;
    for (uint32_t i = 0; i < n; i++) {
        double *row = problem->gram + (size_t)i * n, part = row[step] / pivot, before = row[i];
        if (i == step || !(row[step] != 0))
            continue;
        for (uint32_t j = 0; j < n; j++)
            row[j] -= j == step ? 0 : part * taken[j];
        problem->right[i] -= part * right;
        /* Columns that always ran together with it get no value any more. */
        if (row[i] <= TINY_PIVOT * before)
            step_clear(problem, i);
    }
    problem->square -= right * right / pivot;
    problem->n_rows -= problem->n_rows > 0;
    step_clear(problem, step);
}

struct nnls nnls_copy(const struct nnls *problem, struct arena *arena)
{
    struct nnls copy = *problem;
    copy.gram = arena_copy(arena, problem->gram, sizeof(double) * problem->n * problem->n);
    copy.right = arena_copy(arena, problem->right, sizeof(double) * problem->n);
    return copy;
}

double nnls_scatter(const struct nnls *problem, const struct nnls_cost *costs)
{
    double sum = problem->square;
    for (uint32_t i = 0; i < problem->n; i++) {
        const double *row = problem->gram + (size_t)i * problem->n;
        double fitted = 0;
        for (uint32_t j = 0; j < problem->n; j++)
            fitted += row[j] * costs[j].cost_ns;
        sum += costs[i].cost_ns * (fitted - 2 * problem->right[i]);
    }
    return sum > 0 ? sum : 0;
}

static struct fit fit_new(const struct nnls *problem, struct arena *arena)
{
    uint32_t n = problem->n;
    struct fit w = {.n = n,
                    .gram = arena_copy(arena, problem->gram, sizeof(double) * n * n),
                    .right = arena_copy(arena, problem->right, sizeof(double) * n),
                    .scale = arena_array(arena, double, n),
                    .cost = arena_array(arena, double, n),
                    .wish = arena_array(arena, double, n),
                    .factor = arena_array(arena, double, (size_t)n *n),
                    .passive = arena_array(arena, uint32_t, n),
                    .is_passive = arena_array(arena, bool, n),
                    .is_dependent = arena_array(arena, bool, n)};
    for (uint32_t i = 0; i < n; i++)
        w.scale[i] = w.gram[(size_t)i * n + i] > 0 ? 1 / sqrt(w.gram[(size_t)i * n + i]) : 0;
    for (uint32_t i = 0; i < n; i++) {
        w.right[i] *= w.scale[i];
        for (uint32_t j = 0; j < n; j++)
            w.gram[(size_t)i * n + j] *= w.scale[i] * w.scale[j];
    }
    return w;
}

/* Adds row k of the factor, for the passive step k. False when the column depends on those before it. */
static bool factor_row(struct fit *w, uint32_t k)
{
    double *row = w->factor + (size_t)k * w->n;
    const double *gram = w->gram + (size_t)w->passive[k] * w->n;
    double pivot = gram[w->passive[k]];
    for (uint32_t i = 0; i < k; i++) {
        const double *above = w->factor + (size_t)i * w->n;
        double sum = gram[w->passive[i]];
        for (uint32_t j = 0; j < i; j++)
            sum -= row[j] * above[j];
        row[i] = sum / above[i];
        pivot -= row[i] * row[i];
    }
    if (pivot < TINY_PIVOT)
        return false;
    row[k] = sqrt(pivot);
    return true;
}

/* The minimum over the passive steps, into wish. */
static void solve_passive(struct fit *w)
{
    for (uint32_t i = 0; i < w->n_passive; i++) {
        const double *row = w->factor + (size_t)i * w->n;
        double sum = w->right[w->passive[i]];
        for (uint32_t j = 0; j < i; j++)
            sum -= row[j] * w->wish[w->passive[j]];
        w->wish[w->passive[i]] = sum / row[i];
    }
    for (uint32_t i = w->n_passive; i-- > 0;) {
        double sum = w->wish[w->passive[i]];
        for (uint32_t j = i + 1; j < w->n_passive; j++)
            sum -= w->factor[(size_t)j * w->n + i] * w->wish[w->passive[j]];
        w->wish[w->passive[i]] = sum / w->factor[(size_t)i * w->n + i];
    }
}

/* The fall of the sum of squares when the cost grows. */
static double pull(const struct fit *w, uint32_t step)
{
    const double *row = w->gram + (size_t)step * w->n;
    double sum = w->right[step];
    for (uint32_t i = 0; i < w->n_passive; i++)
        sum -= row[w->passive[i]] * w->cost[w->passive[i]];
    return sum;
}

static uint32_t strongest_pull(const struct fit *w)
{
    uint32_t best = UINT32_MAX;
    double most = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->is_passive[i] || w->is_dependent[i] || w->scale[i] == 0)
            continue;
        double force = pull(w, i);
        if (force > TOLERANCE * fabs(w->right[i]) && force > most) {
            most = force;
            best = i;
        }
    }
    return best;
}

static void refactor(struct fit *w)
{
    uint32_t n = w->n_passive;
    w->n_passive = 0;
    for (uint32_t i = 0; i < n; i++) {
        w->passive[w->n_passive] = w->passive[i];
        if (factor_row(w, w->n_passive))
            w->n_passive++;
        else
            w->is_passive[w->passive[i]] = false;
    }
}

static bool wish_is_feasible(const struct fit *w)
{
    for (uint32_t i = 0; i < w->n_passive; i++)
        if (w->wish[w->passive[i]] <= 0)
            return false;
    return true;
}

/* Goes towards the wish until the first cost is zero, and takes the steps at zero out. */
static void step_back(struct fit *w)
{
    double way = 1;
    for (uint32_t i = 0; i < w->n_passive; i++) {
        uint32_t step = w->passive[i];
        if (w->wish[step] <= 0)
            way = fmin(way, w->cost[step] / (w->cost[step] - w->wish[step]));
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_passive; i++) {
        uint32_t step = w->passive[i];
        w->cost[step] += way * (w->wish[step] - w->cost[step]);
        if (w->wish[step] <= 0 && w->cost[step] <= 1e-14) {
            w->cost[step] = 0;
            w->is_passive[step] = false;
        } else {
            w->passive[n++] = step;
        }
    }
    w->n_passive = n;
    refactor(w);
}

static void take_in(struct fit *w, uint32_t step)
{
    w->passive[w->n_passive] = step;
    w->is_dependent[step] = !factor_row(w, w->n_passive);
    if (w->is_dependent[step])
        return;
    w->is_passive[step] = true;
    w->n_passive++;
    solve_passive(w);
    for (uint32_t i = 0; i <= w->n && w->n_passive && !wish_is_feasible(w); i++) {
        step_back(w);
        solve_passive(w);
    }
    for (uint32_t i = 0; i < w->n_passive; i++)
        w->cost[w->passive[i]] = w->wish[w->passive[i]];
    memset(w->is_dependent, 0, w->n * sizeof *w->is_dependent);
}

/* The k-th diagonal element of the inverse of the passive Gram matrix. */
static double inverse_diagonal(struct fit *w, uint32_t k)
{
    double sum = 0;
    for (uint32_t i = k; i < w->n_passive; i++) {
        const double *row = w->factor + (size_t)i * w->n;
        double value = i == k ? 1 : 0;
        for (uint32_t j = k; j < i; j++)
            value -= row[j] * w->wish[j];
        w->wish[i] = value / row[i]; /* scratch by position */
        sum += w->wish[i] * w->wish[i];
    }
    return sum;
}

bool nnls_solve(const struct nnls *problem, struct arena *scratch, struct nnls_cost *costs)
{
    struct fit w = fit_new(problem, scratch);
    uint32_t next = 0, rounds = 0;
    for (; rounds < 3 * w.n + 10 && (next = strongest_pull(&w)) != UINT32_MAX; rounds++)
        take_in(&w, next);
    /* Variance of a length about its fit, in units of 1 / weight. */
    double explained = 0;
    for (uint32_t i = 0; i < w.n_passive; i++)
        explained += w.cost[w.passive[i]] * w.right[w.passive[i]];
    double left = problem->square - explained;
    double freedom = (double)problem->n_rows - w.n_passive;
    double variance = problem->variance > 0 ? problem->variance : left > 0 && freedom > 0 ? left / freedom : 0;
    for (uint32_t i = 0; i < w.n; i++)
        costs[i] = (struct nnls_cost){w.cost[i] * w.scale[i], w.scale[i] == 0 ? INFINITY : 0};
    for (uint32_t k = 0; k < w.n_passive; k++) {
        uint32_t step = w.passive[k];
        costs[step].error_ns = w.scale[step] * sqrt(variance * inverse_diagonal(&w, k));
    }
    /* Columns like one that is in, and of no prior, are not determined: their sum is. */
    for (uint32_t i = 0; i < w.n; i++)
        for (uint32_t j = 0; j < w.n && w.scale[i] > 0; j++)
            if (j != i && w.gram[(size_t)i * w.n + j] > 1 - TINY_PIVOT)
                costs[i].error_ns = INFINITY;
    return next == UINT32_MAX || w.n == 0;
}
