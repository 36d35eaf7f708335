/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of a trace: what is open when it begins, what ends with it, and which collectives all members have in it. */
#include "analyze/trace/part.h"
#include "analyze/trace/source.h"
#include "tests/unit/scene/trace_memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {
    [EV_ENTER] = "enter",      [EV_LEAVE] = "leave",    [EV_SEND] = "send",   [EV_RECV] = "recv",
    [EV_IRECV] = "post",       [EV_IRECV_DONE] = "got", [EV_ICOLL] = "start", [EV_ICOLL_DONE] = "done",
    [EV_COLL_BEGIN] = "begin", [EV_COLL_END] = "coll",  [EV_OFF] = "off",     [EV_ON] = "on",
    [EV_CONTROL] = "control",  [EV_BINS] = "bins",      [EV_END] = "end",
};

static void add(struct trace *trace, uint64_t time_ns, uint32_t loc, enum event_kind kind, uint64_t request)
{
    trace_memory_event(trace,
                       (struct event){.time_ns = time_ns, .loc = loc, .kind = (uint16_t)kind, .request = request});
}

/* "TIME:LOCATION KIND" each, with the request where there is one. */
static void expect(struct trace *trace, const char *expected)
{
    char text[2048] = "", *at = text;
    const struct event *event;
    assert_int_equal(trace_rewind(trace), 0);
    while ((event = trace_next(trace)) != NULL) {
        at += sprintf(at, "%s%d:%u %s", at > text ? ", " : "", (int)event->time_ns, event->loc, names[event->kind]);
        if (event->request)
            at += sprintf(at, " %d", (int)event->request);
    }
    assert_string_equal(text, expected);
}

static void test_open_things(void **state)
{
    (void)state;
    struct trace *trace = trace_memory(2);
    add(trace, 0, 0, EV_ENTER, 0);
    add(trace, 0, 0, EV_IRECV, 1);
    add(trace, 1, 0, EV_IRECV, 2);
    add(trace, 2, 0, EV_IRECV_DONE, 1);
    add(trace, 3, 0, EV_LEAVE, 0);
    add(trace, 4, 0, EV_OFF, 0);
    add(trace, 5, 1, EV_ENTER, 0);
    add(trace, 5, 1, EV_SEND, 0);
    add(trace, 12, 0, EV_ON, 0);
    add(trace, 13, 0, EV_ENTER, 0);
    add(trace, 14, 0, EV_IRECV_DONE, 2);
    add(trace, 14, 0, EV_LEAVE, 0);
    add(trace, 15, 1, EV_LEAVE, 0);
    add(trace, 30, 0, EV_END, 0);
    add(trace, 31, 1, EV_END, 0);
    assert_int_equal(trace_set_part(trace, 10, UINT64_MAX), 0);
    const char *expected = "10:0 off, 10:0 post 2, 10:1 enter, 10:1 send, 12:0 on, 13:0 enter, 14:0 got 2, 14:0 leave, "
                           "15:1 leave, 30:0 end, 31:1 end";
    expect(trace, expected);
    expect(trace, expected);
    assert_int_equal(trace->start_ns, 10);
    trace_close(trace);
}

static void test_end(void **state)
{
    (void)state;
    struct trace *trace = trace_memory(2);
    add(trace, 0, 0, EV_ENTER, 0);
    add(trace, 1, 1, EV_END, 0);
    add(trace, 20, 0, EV_LEAVE, 0);
    add(trace, 20, 0, EV_END, 0);
    assert_int_equal(trace_set_part(trace, 5, 10), 0);
    expect(trace, "5:0 enter, 5:1 end, 10:0 leave, 10:0 end");
    assert_int_equal(trace->end_ns, 10);
    trace_close(trace);
}

static void collective(struct trace *trace, uint32_t loc, uint64_t begin_ns, uint64_t end_ns)
{
    add(trace, begin_ns, loc, EV_COLL_BEGIN, 0);
    add(trace, end_ns, loc, EV_COLL_END, 0);
}

/* Rank 0 began the second one before the part, rank 1 in it: the third is the first that both have. */
static void test_collectives(void **state)
{
    (void)state;
    struct trace *trace = trace_memory(2);
    collective(trace, 0, 1, 2);
    collective(trace, 1, 1, 2);
    collective(trace, 0, 9, 13);
    collective(trace, 1, 12, 13);
    collective(trace, 0, 15, 16);
    collective(trace, 1, 15, 16);
    assert_int_equal(trace_set_part(trace, 10, UINT64_MAX), 0);
    expect(trace, "12:1 begin, 15:0 begin, 15:1 begin, 16:0 coll, 16:1 coll");
    trace_close(trace);
}

static void test_requests_of_collectives(void **state)
{
    (void)state;
    struct trace *trace = trace_memory(2);
    add(trace, 1, 0, EV_ICOLL, 7);
    add(trace, 11, 1, EV_ICOLL, 8);
    add(trace, 12, 0, EV_ICOLL_DONE, 7);
    add(trace, 12, 1, EV_ICOLL_DONE, 8);
    add(trace, 13, 0, EV_ICOLL, 7);
    add(trace, 13, 1, EV_ICOLL, 8);
    add(trace, 14, 0, EV_ICOLL_DONE, 7);
    add(trace, 14, 1, EV_ICOLL_DONE, 8);
    assert_int_equal(trace_set_part(trace, 10, UINT64_MAX), 0);
    expect(trace, "13:0 start 7, 13:1 start 8, 14:0 done 7, 14:1 done 8");
    trace_close(trace);
}

/* Counts belong to the time since the counts before them. */
static void test_counts(void **state)
{
    (void)state;
    struct trace *trace = trace_memory(1);
    add(trace, 5, 0, EV_BINS, 0);
    add(trace, 11, 0, EV_BINS, 0);
    add(trace, 12, 0, EV_BINS, 0);
    assert_int_equal(trace_set_part(trace, 10, UINT64_MAX), 0);
    expect(trace, "12:0 bins");
    trace_close(trace);
}

/* What is to be read is read once, as long as one begins behind the other. */
static uint32_t n_rewinds;
static int (*memory_rewind)(struct trace *trace);

static int count_rewinds(struct trace *trace)
{
    n_rewinds++;
    return memory_rewind(trace);
}

static void test_read_once(void **state)
{
    (void)state;
    static const char *const expected = "10:0 enter, 12:0 leave, 13:0 end";
    struct trace *trace = trace_memory(1);
    add(trace, 3, 0, EV_ENTER, 0);
    add(trace, 12, 0, EV_LEAVE, 0);
    add(trace, 20, 0, EV_END, 0);
    assert_int_equal(trace_set_part(trace, 10, 13), 0);
    memory_rewind = trace->source->rewind;
    trace->source->rewind = count_rewinds;
    n_rewinds = 0;
    expect(trace, expected);
    expect(trace, expected);
    assert_int_equal(n_rewinds, 1);
    trace_close(trace);
}

static struct trace *trace_of_windows(void)
{
    struct trace *trace = trace_memory(2);
    add(trace, 1, 0, EV_IRECV, 3);
    collective(trace, 0, 2, 4);
    add(trace, 4, 1, EV_OFF, 0);
    collective(trace, 0, 9, 13);
    add(trace, 11, 0, EV_IRECV, 4);
    add(trace, 11, 1, EV_ON, 0);
    add(trace, 12, 0, EV_IRECV_DONE, 3);
    add(trace, 12, 1, EV_ICOLL, 7);
    collective(trace, 1, 14, 15);
    collective(trace, 1, 16, 17);
    add(trace, 19, 1, EV_ENTER, 0);
    add(trace, 22, 1, EV_ICOLL_DONE, 7);
    add(trace, 25, 0, EV_IRECV_DONE, 4);
    add(trace, 25, 0, EV_ICOLL, 8);
    add(trace, 26, 0, EV_ICOLL_DONE, 8);
    add(trace, 27, 1, EV_LEAVE, 0);
    collective(trace, 0, 27, 28);
    collective(trace, 1, 27, 28);
    return trace;
}

static void test_one_after_the_other(void **state)
{
    (void)state;
    static const struct trace_window windows[] = {{0, 5}, {10, 20}, {22, UINT64_MAX}, {21, 27}};
    static const char *const expected[] = {
        "1:0 post 3, 2:0 begin, 4:0 coll, 4:1 off, 5:0 end, 5:1 end",
        "10:0 post 3, 10:1 off, 11:0 post 4, 11:1 on, 12:0 got 3, 12:1 start 7, 14:1 begin, 16:1 begin, 19:1 enter, "
        "20:0 end, 20:1 leave, 20:1 end",
        "22:0 post 4, 22:1 enter, 25:0 got 4, 27:0 begin, 27:1 leave, 27:1 begin, 28:0 coll, 28:1 coll",
        "21:0 post 4, 21:1 enter, 25:0 got 4, 27:0 begin, 27:1 leave, 27:1 begin, 27:0 end, 27:1 end",
    };
    struct trace *trace = trace_of_windows();
    assert_int_equal(trace_set_parts(trace, windows, 4), 0);
    memory_rewind = trace->source->rewind;
    trace->source->rewind = count_rewinds;
    n_rewinds = 0;
    for (size_t i = 0; i < 4; i++) {
        if (i)
            trace_next_part(trace);
        expect(trace, expected[i]);
        expect(trace, expected[i]);
        assert_int_equal(trace->start_ns, i ? windows[i].begin_ns : 1);
        assert_int_equal(n_rewinds, i < 3 ? 1 : 2);
        struct trace *alone = trace_of_windows();
        assert_int_equal(trace_set_part(alone, windows[i].begin_ns, windows[i].end_ns), 0);
        expect(alone, expected[i]);
        trace_close(alone);
    }
    trace_close(trace);
    trace = trace_of_windows();
    assert_int_equal(trace_set_parts(trace, &(struct trace_window){28, UINT64_MAX}, 1), -1);
    trace_close(trace);
}

/* The first window begins with the run; a number far beyond the last is damage, and no reason to make room for it. */
static void test_windows(void **state)
{
    (void)state;
    struct trace *trace = trace_memory(1);
    struct trace_window *windows;
    add(trace, 5, 0, EV_CONTROL, 1);
    add(trace, 6, 0, EV_CONTROL, UINT32_MAX >> 8);
    add(trace, 9, 0, EV_CONTROL, 2);
    add(trace, 10, 0, EV_END, 0);
    assert_int_equal(part_windows(trace, &windows), 2);
    assert_int_equal(windows[0].begin_ns, 0);
    assert_int_equal(windows[0].end_ns, 5);
    assert_int_equal(windows[1].end_ns, 9);
    free(windows);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_things), cmocka_unit_test(test_end),
        cmocka_unit_test(test_collectives), cmocka_unit_test(test_requests_of_collectives),
        cmocka_unit_test(test_counts),      cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_read_once),   cmocka_unit_test(test_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
