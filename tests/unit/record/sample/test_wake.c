/* SPDX-License-Identifier: BSD-3-Clause */
/* How long threads that were woken waited for a CPU, from the kernel's counts and times off the CPU that are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/sample/wake.h"

enum { MS = 1000000 };

static struct wake begun(void)
{
    struct wake wake = {.ready_ns = 0};
    wake_take_count(&wake, 70 * MS, false); /* before it was looked at */
    assert_int_equal(wake_ready_ns(&wake, 5 * MS), 0);
    return wake;
}

/* It was preempted for 3 ms, and ready for 9: so 6 of the 10 ms of its sleep. */
static void test_one_sleep(void **state)
{
    (void)state;
    struct wake wake = begun();
    wake_take_absence(&wake, false, 3 * MS);
    wake_take_absence(&wake, true, 10 * MS);
    wake_take_count(&wake, 79 * MS, true);
    assert_int_equal(wake_ready_ns(&wake, 10 * MS), 6 * MS);
}

static void test_sleeps_share_by_length(void **state)
{
    (void)state;
    struct wake wake = begun();
    wake_take_absence(&wake, true, 30 * MS);
    wake_take_absence(&wake, true, 10 * MS);
    wake_take_count(&wake, 90 * MS, true);
    assert_int_equal(wake_ready_ns(&wake, 30 * MS), 15 * MS);
    assert_int_equal(wake_ready_ns(&wake, 10 * MS), 5 * MS);
    assert_int_equal(wake_ready_ns(&wake, 30000), 0); /* too short to tell */
    /* What was before is not asked again. */
    wake_take_absence(&wake, true, 10 * MS);
    wake_take_count(&wake, 90 * MS, true);
    assert_int_equal(wake_ready_ns(&wake, 10 * MS), 0);
}

/* The clocks differ a little, or a switch was lost: never more than the sleep, never less than nothing. */
static void test_bounds(void **state)
{
    (void)state;
    struct wake wake = begun();
    wake_take_absence(&wake, true, 10 * MS);
    wake_take_count(&wake, 90 * MS, true);
    assert_int_equal(wake_ready_ns(&wake, 10 * MS), 10 * MS);
    wake_take_absence(&wake, false, 10 * MS);
    wake_take_absence(&wake, true, 10 * MS);
    wake_take_count(&wake, 95 * MS, true);
    assert_int_equal(wake_ready_ns(&wake, 10 * MS), 0);
    wake_take_absence(&wake, true, 10 * MS);
    wake_take_count(&wake, 99 * MS, false); /* others ended unseen */
    assert_int_equal(wake_ready_ns(&wake, 10 * MS), 0);
    wake_take_absence(&wake, true, 10 * MS);
    wake_take_count(&wake, 0, true); /* the thread is gone */
    assert_int_equal(wake_ready_ns(&wake, 10 * MS), 0);
}

/* It was to sleep for 10 ms from 100 on, and is back at 500; for 40 ms of that it was ready. */
static void test_who_is_late_was_stopped(void **state)
{
    (void)state;
    struct stop stop = stop_between(100 * MS, 110 * MS, 500 * MS, 40 * MS);
    assert_int_equal(stop_within(&stop, 105 * MS, 455 * MS), 350 * MS);
    assert_int_equal(stop_within(&stop, 20 * MS, 800 * MS), 360 * MS); /* it slept before and behind */
    assert_int_equal(stop_within(&stop, 200 * MS, 300 * MS), 0);       /* somebody went on: not this one */
}

static void test_who_is_ready_was_not_stopped(void **state)
{
    (void)state;
    struct stop stop = stop_between(100 * MS, 110 * MS, 500 * MS, 390 * MS);
    assert_int_equal(stop_within(&stop, 0, 1000 * MS), 0);
    stop = stop_between(100 * MS, 110 * MS, 105 * MS, 0); /* woken early */
    assert_int_equal(stop_within(&stop, 0, 1000 * MS), 0);
    stop = stop_between(100 * MS, 110 * MS, 119 * MS, 0);
    assert_int_equal(stop_within(&stop, 0, 1000 * MS), 0);
    stop = stop_between(100 * MS, 104 * MS, 160 * MS, 0); /* a virtual CPU was away */
    assert_int_equal(stop_within(&stop, 0, 1000 * MS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_sleep),
        cmocka_unit_test(test_sleeps_share_by_length),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_who_is_late_was_stopped),
        cmocka_unit_test(test_who_is_ready_was_not_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
