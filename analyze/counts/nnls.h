/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of one execution of a step, from intervals: non-negative least squares of interval lengths on execution
 * counts,
 *
 *     minimise  sum over rows of weight (length - sum of count_j cost_j)^2  +  sum of strength_j (cost_j - prior_j)^2,
 *     cost >= 0.
 *
 * Rows are added one at a time and not kept: memory is n^2 numbers for n steps. Counts that always change together
 * leave their costs open. There the prior (a cost from samples) decides, and where there is none, they share.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdint.h>

struct nnls {
    uint32_t n;
    double *gram;    /* n x n: sum of weight count_i count_j, plus strengths */
    double *right;   /* sum of weight count_i length, plus strengths x priors */
    double square;   /* sum of weight length^2, plus strengths x squares of priors */
    uint64_t n_rows; /* and priors */
    double variance; /* of what has weight 1, for errors; 0 = as far as rows and priors scatter */
};

struct nnls_cost {
    double cost_ns;
    double error_ns; /* standard error; INFINITY when rows and prior do not determine it */
};

/* All memory is in the arena. */
void nnls_init(struct nnls *problem, struct arena *arena, uint32_t n);
/* Makes room for at least n steps, and more: those in which nothing is added have no cost and an infinite error. A
 * zeroed problem is empty. */
void nnls_widen(struct nnls *problem, struct arena *arena, uint32_t n);
/* Adds all that was added to a problem of the same n. */
void nnls_join(struct nnls *problem, const struct nnls *other);
/* Adds all that was added to another problem, whose steps are those from `at` on here. Its weights are multiplied. */
void nnls_join_at(struct nnls *problem, uint32_t at, const struct nnls *other, double weight);
/* One interval: n_entries steps with their executions (each step at most once), and its length without time off the
 * CPU. weight: 1 / variance of the length, up to a common factor. */
void nnls_add(struct nnls *problem, const uint32_t *steps, const double *executions, uint32_t n_entries,
              double length_ns, double weight);
/* Prior knowledge of a step; strength: 1 / variance of cost_ns, on the scale of the weights. */
void nnls_prefer(struct nnls *problem, uint32_t step, double cost_ns, double strength);
/* Takes a step out, whatever it may cost: what rows and priors tell of the others is left, and it has no cost. A step
 * that always ran along with it goes too. */
void nnls_forget(struct nnls *problem, uint32_t step);
struct nnls nnls_copy(const struct nnls *problem, struct arena *arena);
/* Sum over what was added of weight (length - sum of count_j cost_j)^2, for these costs. */
double nnls_scatter(const struct nnls *problem, const struct nnls_cost *costs);
/* Fills in costs[n] (active sets after Lawson and Hanson, on the normal equations). Returns false when it ran out of
 * rounds. The costs are then non-negative, but not the best. */
bool nnls_solve(const struct nnls *problem, struct arena *scratch, struct nnls_cost *costs);
