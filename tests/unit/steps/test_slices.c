/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples by the slice of their stretch: in step with the program for a while, by chance, and all by turns. */
#include "analyze/steps/slices.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { FIRST = 7, SECOND = 8 };

static double share_of(struct sparse *on, uint32_t step)
{
    sparse_pack(on);
    return sparse_get(on, step) / sparse_sum(on);
}

static void release(struct slices *slices, struct sparse *on)
{
    sparse_release(&slices->weights);
    sparse_release(on);
}

/* The first loop has the first quarter. Twenty samples in a row hit the same moment of it, and ten are spread out. */
static void samples_in_step_weigh_no_more(void **state)
{
    (void)state;
    struct slices slices = {0};
    struct sparse on = {0};
    for (int i = 0; i < 30; i++) {
        double part = i < 20 ? 0.13 : 0.05 + 0.1 * (i - 20);
        uint32_t step = part < 0.25 ? FIRST : SECOND;
        slices_add(&slices, part, step, 4e6);
        sparse_add(&on, step, 4e6);
    }
    assert_true(share_of(&on, FIRST) > 0.7);
    slices_even_out(&slices, &on);
    assert_true(fabs(share_of(&on, FIRST) - 0.25) < 0.07);
    assert_true(fabs(sparse_sum(&on) - 30 * 4e6) < 1);
    release(&slices, &on);
}

/* Every third sample is in the first loop, wherever it was taken. */
static void what_runs_by_turns_stays(void **state)
{
    (void)state;
    struct slices slices = {0};
    struct sparse on = {0};
    for (int i = 0; i < 3000; i++) {
        uint32_t step = i % 3 ? SECOND : FIRST;
        slices_add(&slices, fmod(i * 0.6180339887, 1), step, 4e6);
        sparse_add(&on, step, 4e6);
    }
    slices_even_out(&slices, &on);
    assert_true(fabs(share_of(&on, FIRST) - 1. / 3) < 0.02);
    release(&slices, &on);
}

/* Of samples whose time is not known nothing can be told. */
static void others_are_left_alone(void **state)
{
    (void)state;
    struct slices slices = {0};
    struct sparse on = {0};
    slices_add(&slices, 0.1, FIRST, 4e6);
    sparse_add(&on, FIRST, 4e6);
    sparse_add(&on, SECOND, 8e6);
    slices_even_out(&slices, &on);
    assert_true(fabs(share_of(&on, FIRST) - 1. / 3) < 1e-9);
    release(&slices, &on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_in_step_weigh_no_more),
        cmocka_unit_test(what_runs_by_turns_stays),
        cmocka_unit_test(others_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
