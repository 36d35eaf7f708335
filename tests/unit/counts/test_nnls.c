/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of steps from interval lengths: exact data, noise, steps that always run together, and optimality at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/counts/nnls.h"
#include <math.h>
#include <stdlib.h>

enum { MOST = 12 };

static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

static void near(double value, double expected, double relative)
{
    if (fabs(value - expected) > relative * fabs(expected) + 1e-12)
        fail_msg("%g instead of %g", value, expected);
}

/* Two loops in intervals of some 40 us: 3.5 ns and 11 ns an iteration. */
static void test_two_loops(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct nnls problem;
    struct nnls_cost costs[2];
    static const uint32_t steps[] = {0, 1};
    nnls_init(&problem, &arena, 2);
    state = 1;
    for (int row = 0; row < 400; row++) {
        double executions[] = {4000 + 4000 * uniform(), 1000 + 2000 * uniform()};
        double length = 3.5 * executions[0] + 11 * executions[1] + 2000 * (uniform() - 0.5);
        nnls_add(&problem, steps, executions, 2, length, 1);
    }
    assert_true(nnls_solve(&problem, &arena, costs));
    near(costs[0].cost_ns, 3.5, 0.01);
    near(costs[1].cost_ns, 11, 0.01);
    for (int i = 0; i < 2; i++)
        assert_true(costs[i].error_ns > 0 && costs[i].error_ns < 0.1);
    arena_release(&arena);
}

/* A step that costs nothing does not get a negative cost from noise. */
static void test_not_negative(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct nnls problem;
    struct nnls_cost costs[2];
    static const uint32_t steps[] = {0, 1};
    nnls_init(&problem, &arena, 2);
    for (int row = 0; row < 50; row++) {
        double executions[] = {100 + row, 50};
        nnls_add(&problem, steps, executions, 2, 5.0 * executions[0] - 100, 1);
    }
    assert_true(nnls_solve(&problem, &arena, costs));
    assert_true(costs[1].cost_ns == 0);
    assert_true(costs[0].cost_ns > 0);
    arena_release(&arena);
}

/* Two steps that run equally often: only the sum is known, and the prior tells them apart. */
static void test_collinear(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct nnls problem;
    struct nnls_cost costs[2];
    static const uint32_t steps[] = {0, 1};
    for (int with_prior = 0; with_prior < 2; with_prior++) {
        nnls_init(&problem, &arena, 2);
        for (int row = 1; row < 50; row++) {
            double executions[] = {row, row};
            nnls_add(&problem, steps, executions, 2, 10.0 * row, 1);
        }
        if (with_prior) {
            nnls_prefer(&problem, 0, 7, 50);
            nnls_prefer(&problem, 1, 3, 50);
        }
        assert_true(nnls_solve(&problem, &arena, costs));
        near(costs[0].cost_ns + costs[1].cost_ns, 10, 1e-6);
        if (with_prior)
            near(costs[0].cost_ns, 7, 1e-6);
        else
            assert_true(isinf(costs[0].error_ns) && isinf(costs[1].error_ns));
    }
    arena_release(&arena);
}

/* Two problems joined, one of them widened on the way, are the one with all rows. */
static void test_join(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct nnls whole, parts[2] = {{0}};
    struct nnls_cost costs[16], expected[16];
    nnls_init(&whole, &arena, 16);
    nnls_widen(&parts[0], &arena, 1);
    nnls_widen(&parts[1], &arena, 16);
    assert_true(parts[0].n >= 1);
    state = 3;
    for (int row = 0; row < 200; row++) {
        uint32_t steps[] = {0, row < 50 ? 1 : (uint32_t)(1 + row % 15)};
        double executions[] = {100 * uniform(), 100 * uniform()}, length = 2 * executions[0] + 5 * executions[1];
        struct nnls *part = &parts[row % 2];
        nnls_widen(part, &arena, steps[1] + 1);
        nnls_add(part, steps, executions, 2, length, 1);
        nnls_add(&whole, steps, executions, 2, length, 1);
    }
    nnls_widen(&parts[0], &arena, 16);
    nnls_join(&parts[1], &parts[0]);
    assert_true(nnls_solve(&parts[1], &arena, costs) && nnls_solve(&whole, &arena, expected));
    assert_int_equal(parts[1].n_rows, 200);
    for (int i = 0; i < 16; i++)
        near(costs[i].cost_ns, expected[i].cost_ns, 1e-6);
    near(costs[0].cost_ns, 2, 1e-6);
    arena_release(&arena);
}

/* Without one step the rows and its prior say of the others what they said with it. What runs with a step that nobody
 * else tells of is forgotten too. */
static void test_forget(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct nnls whole, rest;
    struct nnls_cost costs[4], left[4];
    nnls_init(&whole, &arena, 4);
    state = 5;
    for (int row = 0; row < 50; row++) {
        uint32_t steps[] = {0, 1, 2};
        double executions[] = {100 * uniform(), 100 * uniform(), 100 * uniform()};
        double length = 2 * executions[0] + 5 * executions[1] + 7 * executions[2] + uniform();
        nnls_add(&whole, steps, executions, 3, length, 1);
    }
    uint32_t alone = 3;
    double once = 1;
    nnls_add(&whole, &alone, &once, 1, 9, 1);
    nnls_prefer(&whole, 1, 4, 1000);
    rest = nnls_copy(&whole, &arena);
    nnls_forget(&rest, 1);
    assert_true(nnls_solve(&whole, &arena, costs) && nnls_solve(&rest, &arena, left));
    for (int i = 0; i < 4; i++)
        near(left[i].cost_ns, i == 1 ? 0 : costs[i].cost_ns, 1e-9);
    near(left[0].error_ns, costs[0].error_ns, 1e-6);
    nnls_forget(&rest, 1);
    assert_int_equal(rest.n_rows, whole.n_rows - 1);

    nnls_init(&rest, &arena, 2);
    for (double n = 1; n < 5; n++)
        nnls_add(&rest, (uint32_t[]){0, 1}, (double[]){n, 2 * n}, 2, 10 * n, 1);
    nnls_forget(&rest, 0);
    assert_true(nnls_solve(&rest, &arena, left));
    assert_true(left[1].cost_ns == 0 && isinf(left[1].error_ns));
    arena_release(&arena);
}

/* A step that never ran has no cost and no certainty. */
static void test_never_run(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct nnls problem;
    struct nnls_cost costs[2];
    uint32_t step = 1;
    double executions = 4;
    nnls_init(&problem, &arena, 2);
    nnls_add(&problem, &step, &executions, 1, 12, 1);
    assert_true(nnls_solve(&problem, &arena, costs));
    assert_true(costs[0].cost_ns == 0 && isinf(costs[0].error_ns));
    near(costs[1].cost_ns, 3, 1e-9);
    arena_release(&arena);
}

/* The conditions of Karush, Kuhn and Tucker: no cost wants to grow, none that is positive wants to shrink. */
static void check_optimal(const struct nnls *problem, const struct nnls_cost *costs)
{
    for (uint32_t i = 0; i < problem->n; i++) {
        double force = problem->right[i], size = fabs(problem->right[i]) + 1e-9;
        assert_true(costs[i].cost_ns >= 0);
        for (uint32_t j = 0; j < problem->n; j++) {
            force -= problem->gram[i * problem->n + j] * costs[j].cost_ns;
            size += fabs(problem->gram[i * problem->n + j] * costs[j].cost_ns);
        }
        if (force > 1e-6 * size || (costs[i].cost_ns > 0 && force < -1e-6 * size))
            fail_msg("step %u of %u: force %g of %g at cost %g", i, problem->n, force, size, costs[i].cost_ns);
    }
}

static void test_random_problems(void **unused)
{
    (void)unused;
    state = 99;
    for (int round = 0; round < 3000; round++) {
        struct arena arena = {0};
        struct nnls problem;
        struct nnls_cost costs[MOST];
        uint32_t n = 1 + (uint32_t)(uniform() * (MOST - 1)), steps[MOST];
        double size[MOST], executions[MOST];
        for (uint32_t i = 0; i < n; i++) {
            steps[i] = i;
            size[i] = pow(10, 6 * uniform());
        }
        nnls_init(&problem, &arena, n);
        for (uint32_t row = 0; row < 3 * n; row++) {
            for (uint32_t i = 0; i < n; i++)
                executions[i] = floor(size[i] * uniform());
            nnls_add(&problem, steps, executions, n, 1e6 * (uniform() - 0.2), uniform());
        }
        assert_true(nnls_solve(&problem, &arena, costs));
        check_optimal(&problem, costs);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_loops),       cmocka_unit_test(test_not_negative),
        cmocka_unit_test(test_collinear),       cmocka_unit_test(test_join),
        cmocka_unit_test(test_forget),          cmocka_unit_test(test_never_run),
        cmocka_unit_test(test_random_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
