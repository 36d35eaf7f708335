/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sample costs, from readings of a clock that the test invents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/sample/trial.h"

enum { US = 1000, MS = 1000000, READING_NS = 40, INTERRUPT_NS = 1800, N_READINGS = 5000 };

struct loop {
    struct trial trial;
    uint64_t now_ns, n_switches;
};

static struct loop loop_begin(void)
{
    enum { BEGIN_NS = 7 * MS };
    return (struct loop){.trial.before_ns = BEGIN_NS, .now_ns = BEGIN_NS};
}

/* Readings without a sample, then a step in which one came and which took extra_ns longer than the interrupt. */
static void until_sample(struct loop *loop, uint64_t extra_ns, unsigned n_switches)
{
    for (int i = 0; i < N_READINGS; i++)
        trial_step(&loop->trial, loop->now_ns += READING_NS, false, 0);
    loop->n_switches += n_switches;
    trial_step(&loop->trial, loop->now_ns += READING_NS + INTERRUPT_NS + extra_ns, true, loop->n_switches);
}

static void test_shortest_counts(void **state)
{
    (void)state;
    struct loop loop = loop_begin();
    assert_int_equal(loop.trial.least_ns, 0);
    until_sample(&loop, 30 * US, 0);
    until_sample(&loop, 0, 0);
    until_sample(&loop, 9 * US, 0);
    assert_int_equal(loop.trial.least_ns, INTERRUPT_NS + READING_NS);
}

/* The ring is read before the clock, so the interrupt may lie in the step before. */
static void test_step_before(void **state)
{
    (void)state;
    struct loop loop = loop_begin();
    trial_step(&loop.trial, loop.now_ns += READING_NS + INTERRUPT_NS, false, 0);
    trial_step(&loop.trial, loop.now_ns += READING_NS, true, 0);
    assert_int_equal(loop.trial.least_ns, INTERRUPT_NS + READING_NS);
}

/* Ranks that share a CPU take it from each other for milliseconds, an interrupt takes microseconds. Were the one taken
 * for the other, such a rank would be sampled several times less often than the rest. */
static void test_preemption_is_no_interrupt(void **state)
{
    (void)state;
    struct loop loop = loop_begin();
    for (int i = 0; i < 10; i++)
        until_sample(&loop, 4 * MS, 1);
    assert_int_equal(loop.trial.least_ns, 0);
    until_sample(&loop, 0, 0);
    until_sample(&loop, 4 * MS, 1);
    assert_int_equal(loop.trial.least_ns, INTERRUPT_NS + READING_NS);
}

/* Time off the CPU is no time of the loop. */
static void test_gaps_are_left_out(void **state)
{
    (void)state;
    struct loop loop = loop_begin();
    trial_step(&loop.trial, loop.now_ns += 4 * MS, false, 0);
    assert_int_equal(loop.trial.looped_ns, 0);
    until_sample(&loop, 4 * MS, 1);
    assert_int_equal(loop.trial.looped_ns, N_READINGS * READING_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shortest_counts), cmocka_unit_test(test_step_before),
                                       cmocka_unit_test(test_preemption_is_no_interrupt),
                                       cmocka_unit_test(test_gaps_are_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
