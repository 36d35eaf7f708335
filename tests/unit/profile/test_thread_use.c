/* SPDX-License-Identifier: BSD-3-Clause */
/* How many threads share a place at a time, and what is summed up of each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/profile/thread_use.h"

static void threads_are_counted_at_a_time(void **state)
{
    (void)state;
    assert_true(threads_at_a_time(150, 100, 2) == 1.5);
    /* Samples err: two threads may look like a few more. */
    assert_true(threads_at_a_time(210, 100, 2) == 2);
    /* A helper works for 60 ms while the main thread spins elsewhere, but for one look. */
    assert_true(threads_at_a_time(61e6, 0.3e6, 2) == 0);
    assert_true(threads_at_a_time(5, 0, 2) == 0);
}

/* Ready and without a CPU is lacking one, asleep is not. Neither is losing it to a thread that was woken, right before
 * a sleep. A thread that was never seen to leave a CPU lacked nothing. */
static void time_without_a_cpu_is_summed_up(void **state)
{
    (void)state;
    static const struct event events[] = {
        {.kind = EV_ON, .loc = 2, .time_ns = 90},  {.kind = EV_OFF, .flags = WW_SW_PREEMPTED, .loc = 2, .time_ns = 100},
        {.kind = EV_ON, .loc = 2, .time_ns = 150}, {.kind = EV_OFF, .loc = 2, .time_ns = 200},
        {.kind = EV_ON, .loc = 2, .time_ns = 300}, {.kind = EV_OFF, .flags = WW_SW_PREEMPTED, .loc = 2, .time_ns = 310},
        {.kind = EV_ON, .loc = 2, .time_ns = 390}, {.kind = EV_OFF, .loc = 2, .time_ns = 392},
        {.kind = EV_ON, .loc = 2, .time_ns = 400}, {.kind = EV_OFF, .flags = WW_SW_PREEMPTED, .loc = 2, .time_ns = 410},
        {.kind = EV_ON, .loc = 2, .time_ns = 417}, {.kind = EV_OFF, .flags = WW_SW_PREEMPTED, .loc = 2, .time_ns = 430},
    };
    struct thread_use use = {0};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        thread_use_switch(&use, &events[i]);
    assert_int_equal(thread_life_lacked_ns(&use.lives.at[2]), 50 + 2 + 7);
    assert_int_equal(thread_life_lacked_ns(&use.lives.at[0]), 0);
    thread_use_release(&use);
}

/* Of a call's counts, those of young threads alone, and of these not what they lacked. */
static void young_threads_are_summed_up(void **state)
{
    (void)state;
    struct trace_point points[] = {{.number = 7}, {.is_young_time = true}, {.is_young_ready = true}};
    const struct trace trace = {.points = points, .n_points = 3};
    struct trace_bin bins[] = {{.point = 0, .value = 1000}, {.point = 1, .value = 30}, {.point = 2, .value = 5}};
    const struct event event = {.kind = EV_BINS, .loc = 1, .bins = bins, .n_bins = 3};
    struct thread_use use = {0};
    thread_use_young(&use, &trace, &event);
    thread_use_young(&use, &trace, &event);
    assert_true(use.lives.at[1].young_ns == 60);
    thread_use_release(&use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_counted_at_a_time),
        cmocka_unit_test(time_without_a_cpu_is_summed_up),
        cmocka_unit_test(young_threads_are_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
