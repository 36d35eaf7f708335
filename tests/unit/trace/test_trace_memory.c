/* SPDX-License-Identifier: BSD-3-Clause */
/* Events come out by time, then location, then as added; a second reading gives the same. */
#include "tests/unit/scene/trace_memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void add(struct trace *trace, uint64_t time_ns, uint32_t loc, int32_t tag)
{
    trace_memory_event(trace, (struct event){.time_ns = time_ns, .loc = loc, .kind = EV_SEND, .tag = tag});
}

static void check_order(struct trace *trace, const int32_t *tags, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct event *event = trace_next(trace);
        assert_non_null(event);
        assert_int_equal(event->tag, tags[i]);
    }
    assert_null(trace_next(trace));
}

static void test_order(void **state)
{
    (void)state;
    struct trace *trace = trace_memory(3);
    assert_int_equal(trace->comms[0].n, 3);
    add(trace, 20, 2, 4);
    add(trace, 20, 1, 2);
    add(trace, 10, 2, 1);
    add(trace, 20, 1, 3);
    const int32_t expected[] = {1, 2, 3, 4};
    check_order(trace, expected, 4);
    assert_int_equal(trace_rewind(trace), 0);
    check_order(trace, expected, 4);
    assert_int_equal(trace->start_ns, 10);
    assert_int_equal(trace->locations[1].end_ns, 20);
    trace_close(trace);
}

static void test_definitions(void **state)
{
    (void)state;
    struct trace *trace = trace_memory(1);
    uint32_t barrier = trace_memory_region(trace, "MPI_Barrier", true, WW_COLLECTIVE, WW_COLL_BARRIER);
    uint32_t module = trace_memory_module(trace, "/a.out");
    uint32_t root = trace_memory_frame(trace, (struct trace_frame){.parent = TRACE_NONE, .module = module});
    uint32_t leaf = trace_memory_frame(trace, (struct trace_frame){.parent = root, .module = module, .address = 16});
    assert_string_equal(trace->regions[barrier].name, "MPI_Barrier");
    assert_string_equal(trace->modules[module].path, "/a.out");
    assert_int_equal(trace->frames[leaf].parent, root);
    assert_null(trace_next(trace));
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
