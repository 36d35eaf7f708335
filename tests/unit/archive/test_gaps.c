/* SPDX-License-Identifier: BSD-3-Clause */
/* Where switches were lost: how much of the time outside MPI is told as off the CPU. Where calls were: nothing is. */
#include "tests/unit/archive/conversion.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Barriers at 0 to 100, 1100 to 1200 and 1400 to 1500; a sample at 900; lost from 600 to 1300, of which 600 are outside
 * MPI. */
static struct trace *trace_with_gap(char *dir, uint64_t cpu_ns)
{
    struct spool_image events = image_events(0, 1, 0), samples = image_samples(0, 1, 0);
    const uint64_t stack[] = {0x100};
    image_world(&events);
    image_call(&events, CALL(Barrier, 0, 100));
    image_call(&events, CALL(Barrier, 1100, 1200));
    image_call(&events, CALL(Barrier, 1400, 1500));
    image_stack(&samples, 1, stack, 1);
    image_sample(&samples, (struct ww_sample){.time_ns = at(900), .weight_ns = 50, .stack = 1});
    struct ww_gap gap = {.flags = WW_SW_PREEMPTED, .from_ns = at(600), .until_ns = at(1300), .cpu_ns = cpu_ns};
    image_record(&samples, WW_GAP, &gap, sizeof gap, NULL, 0);
    image_switch(&samples, (struct ww_switch){.time_ns = at(1310), .flags = WW_SW_OUT});
    image_switch(&samples, (struct ww_switch){.time_ns = at(1320)});
    save(&events, dir);
    save(&samples, dir);
    return make_trace(dir);
}

/* The times of going off and on, in order. */
static unsigned switches_of(struct trace *trace, uint64_t times[20])
{
    unsigned n = 0;
    for (const struct event *event; (event = trace_next(trace));)
        if (event->kind == EV_OFF || event->kind == EV_ON) {
            assert_int_equal(event->kind, n % 2 ? EV_ON : EV_OFF);
            assert_true(n < 20);
            times[n++] = event->time_ns; /* from the first on */
        }
    return n;
}

/* On a CPU for a quarter of what it was outside MPI: three quarters of each part are not computing, and no sample lies
 * in them. */
static void test_bounded(void **state)
{
    (void)state;
    static const uint64_t expected[] = {601, 825, 901, 1050, 1201, 1275, 1310, 1320};
    uint64_t times[20] = {0};
    char *dir = run_dir_new();
    struct trace *trace = trace_with_gap(dir, 150);
    assert_int_equal(switches_of(trace, times), 8);
    assert_memory_equal(times, expected, sizeof expected);
    assert_int_equal(trace->n_notes, 1);
    /* The 150 of 700 on a CPU may have passed in the 100 of MPI but for 50. */
    assert_non_null(strstr(trace->notes[0], "lost for 40.0 % of the run"));
    assert_non_null(strstr(trace->notes[0], "leaves 6.7 % of the run open"));
    trace_close(trace);
    run_dir_remove(dir);
}

/* The same calls without a sample, and other gaps. */
static struct trace *trace_with_gaps(char *dir, const struct ww_gap *gaps, size_t n)
{
    struct spool_image events = image_events(0, 1, 0), samples = image_samples(0, 1, 0);
    image_world(&events);
    image_call(&events, CALL(Barrier, 0, 100));
    image_call(&events, CALL(Barrier, 1100, 1200));
    image_call(&events, CALL(Barrier, 1400, 1500));
    for (size_t i = 0; i < n; i++)
        image_record(&samples, WW_GAP, &gaps[i], sizeof gaps[i], NULL, 0);
    save(&events, dir);
    save(&samples, dir);
    return make_trace(dir);
}

/* Cut where calls begin and end, nothing is left open, and time on a CPU inside MPI does not hide a sleep outside. */
static void test_cut_at_calls(void **state)
{
    (void)state;
    static const uint64_t expected[] = {601, 1050, 1201, 1300};
    const struct ww_gap gaps[] = {{.from_ns = at(600), .until_ns = at(1100), .cpu_ns = 50},
                                  {.from_ns = at(1100), .until_ns = at(1200), .cpu_ns = 100},
                                  {.from_ns = at(1200), .until_ns = at(1300), .cpu_ns = 0}};
    uint64_t times[20] = {0};
    char *dir = run_dir_new();
    struct trace *trace = trace_with_gaps(dir, gaps, sizeof gaps / sizeof *gaps);
    assert_int_equal(switches_of(trace, times), 4);
    assert_memory_equal(times, expected, sizeof expected);
    assert_non_null(strstr(trace->notes[0], "leaves 0.0 % of the run open"));
    trace_close(trace);
    run_dir_remove(dir);
}

/* Switches are not recorded at all: none were lost. In a call, who had no CPU had none until its end. */
static void test_unrecorded(void **state)
{
    (void)state;
    static const uint64_t expected[] = {601, 1050, 1131, 1199};
    const uint32_t in_call = WW_SW_UNRECORDED | WW_SW_IN_CALL | WW_SW_PREEMPTED;
    const struct ww_gap gaps[] = {
        {.flags = WW_SW_UNRECORDED, .from_ns = at(600), .until_ns = at(1100), .cpu_ns = 50},
        {.flags = in_call, .from_ns = at(1100), .until_ns = at(1200), .cpu_ns = 30},
        {.flags = in_call, .from_ns = at(1400), .until_ns = at(1500), .cpu_ns = 100},
    };
    uint64_t times[20] = {0};
    char *dir = run_dir_new();
    struct trace *trace = trace_with_gaps(dir, gaps, sizeof gaps / sizeof *gaps);
    assert_int_equal(switches_of(trace, times), 4);
    assert_memory_equal(times, expected, sizeof expected);
    assert_int_equal(trace->n_notes, 0);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Time on a CPU inside MPI counts as well, so it says nothing when there is enough of it. */
static void test_not_bounded(void **state)
{
    (void)state;
    uint64_t times[20] = {0};
    char *dir = run_dir_new();
    struct trace *trace = trace_with_gap(dir, 600);
    assert_int_equal(switches_of(trace, times), 2);
    assert_int_equal(times[0], 1310);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Gaps that make no sense are none. */
static void test_damaged(void **state)
{
    (void)state;
    struct spool_image events = image_events(0, 1, 0), samples = image_samples(0, 1, 0);
    const struct ww_gap gaps[] = {{.from_ns = at(100), .until_ns = at(50)},
                                  {.from_ns = at(200), .until_ns = UINT64_MAX},
                                  {.from_ns = at(300), .until_ns = at(400), .cpu_ns = UINT64_MAX},
                                  {.from_ns = at(350), .until_ns = at(450)}};
    uint64_t times[20] = {0};
    char *dir = run_dir_new();
    image_world(&events);
    image_call(&events, CALL(Barrier, 0, 10));
    image_call(&events, CALL(Barrier, 900, 910));
    for (unsigned i = 0; i < sizeof gaps / sizeof *gaps; i++)
        image_record(&samples, WW_GAP, &gaps[i], sizeof gaps[i], NULL, 0);
    save(&events, dir);
    save(&samples, dir);
    struct trace *trace = make_trace(dir);
    assert_int_equal(switches_of(trace, times), 0);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Two calls of three found no room: samples and switches of that time do not make it time outside MPI. */
static void test_calls_lost(void **state)
{
    (void)state;
    static const uint64_t expected[] = {301, 401};
    const uint64_t stack[] = {0x100};
    uint64_t times[20] = {0};
    char *dir = run_dir_new();
    struct spool_image events = image_events(0, 1, 0), samples = image_samples(0, 1, 0);
    image_world(&events);
    image_call(&events, CALL(Barrier, 0, 100));
    image_call(&events, CALL(Barrier, 1100, 1200));
    image_header(&events)->n_dropped = 2;
    image_header(&events)->n_nested = 3;
    image_stack(&samples, 1, stack, 1);
    image_switch(&samples, (struct ww_switch){.time_ns = at(301), .flags = WW_SW_OUT});
    image_switch(&samples, (struct ww_switch){.time_ns = at(401)});
    image_switch(&samples, (struct ww_switch){.time_ns = at(1310), .flags = WW_SW_OUT});
    image_switch(&samples, (struct ww_switch){.time_ns = at(1320)});
    image_sample(&samples, (struct ww_sample){.time_ns = at(9000), .weight_ns = 50, .stack = 1});
    save(&events, dir);
    save(&samples, dir);
    struct trace *trace = make_trace(dir);
    assert_int_equal(switches_of(trace, times), 2);
    assert_memory_equal(times, expected, sizeof expected);
    assert_int_equal(trace->end_ns - trace->start_ns, 1201); /* the first that is not of it */
    assert_int_equal(trace->locations[0].n_dropped, 5);
    assert_int_equal(trace->locations[0].n_nested, 3);
    trace_close(trace);
    run_dir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounded),     cmocka_unit_test(test_cut_at_calls), cmocka_unit_test(test_unrecorded),
        cmocka_unit_test(test_not_bounded), cmocka_unit_test(test_damaged),      cmocka_unit_test(test_calls_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
