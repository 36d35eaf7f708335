/* SPDX-License-Identifier: BSD-3-Clause */
/* Which callers stacks get that were recorded in part. Frames lie in the first routines of a real program. */
#include "analyze/steps/cut_stacks.h"
#include "tests/unit/scene/trace_memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define CALLS_MPI SHAPES_BIN "/calls-mpi"
enum { OUTER, MIDDLE, INNER };

struct stacks {
    struct trace *trace;
    struct code *code;
    uint32_t module;
};

static struct stacks stacks_new(void)
{
    struct stacks stacks = {.trace = trace_memory(1), .code = code_open()};
    stacks.module = trace_memory_module(stacks.trace, CALLS_MPI);
    assert_int_equal(code_add_module(stacks.code, CALLS_MPI, NULL, 0), stacks.module);
    assert_true(code_n_routines(stacks.code, stacks.module) > INNER);
    return stacks;
}

/* A frame `at` bytes into that routine. */
static uint32_t add(struct stacks *stacks, uint32_t parent, uint32_t routine, unsigned at, bool is_cut)
{
    return trace_memory_frame(
        stacks->trace, (struct trace_frame){.parent = parent,
                                            .module = stacks->module,
                                            .address = code_routine_address(stacks->code, stacks->module, routine) + at,
                                            .region = TRACE_NONE,
                                            .is_return = true,
                                            .is_cut = is_cut});
}

/* The caller of a frame after joining. */
static uint32_t joined(struct stacks *stacks, uint32_t frame)
{
    cut_stacks_join(stacks->trace, stacks->code);
    return stacks->trace->frames[frame].parent;
}

static void stacks_free(struct stacks *stacks)
{
    code_close(stacks->code);
    trace_close(stacks->trace);
}

/* Also when the whole stack comes later, and returns to another call in the routine. */
static void test_one_way(void **state)
{
    (void)state;
    struct stacks stacks = stacks_new();
    uint32_t cut = add(&stacks, TRACE_NONE, INNER, 2, true);
    uint32_t outer = add(&stacks, TRACE_NONE, OUTER, 1, false);
    add(&stacks, outer, INNER, 1, false);
    assert_int_equal(joined(&stacks, cut), outer);
    stacks_free(&stacks);
}

/* The same code twice, as where each thread has frames of its own, is one way; two calls are two. */
static void test_several_ways(void **state)
{
    (void)state;
    for (unsigned at = 1; at <= 2; at++) {
        struct stacks stacks = stacks_new();
        uint32_t first = add(&stacks, TRACE_NONE, OUTER, 1, false), second = add(&stacks, TRACE_NONE, OUTER, at, false);
        add(&stacks, first, INNER, 1, false);
        add(&stacks, second, INNER, 1, false);
        uint32_t cut = add(&stacks, TRACE_NONE, INNER, 1, true);
        assert_int_equal(joined(&stacks, cut), at == 1 ? first : TRACE_NONE);
        stacks_free(&stacks);
    }
}

/* A stack that MPI called is cut off at the function that it called, and leads there like a whole one. */
static void test_called_back(void **state)
{
    (void)state;
    struct stacks stacks = stacks_new();
    uint32_t callback = add(&stacks, TRACE_NONE, OUTER, 1, true);
    add(&stacks, callback, INNER, 1, false);
    uint32_t cut = add(&stacks, TRACE_NONE, INNER, 2, true);
    assert_int_equal(joined(&stacks, cut), callback);
    assert_int_equal(stacks.trace->frames[callback].parent, TRACE_NONE);
    stacks_free(&stacks);
}

/* Two routines that call each other, each seen once below the other in a stack that is cut off: no circle. */
static void test_circle(void **state)
{
    (void)state;
    struct stacks stacks = stacks_new();
    uint32_t middle = add(&stacks, TRACE_NONE, MIDDLE, 1, true), inner = add(&stacks, TRACE_NONE, INNER, 1, true);
    add(&stacks, middle, INNER, 1, false);
    uint32_t last = add(&stacks, inner, MIDDLE, 1, false);
    cut_stacks_join(stacks.trace, stacks.code);
    unsigned depth = 0;
    trace_walk (stacks.trace, at, last)
        assert_true(++depth <= stacks.trace->n_frames);
    stacks_free(&stacks);
}

/* Two routines that call each other were recorded whole in stacks of several depths, and deeper ones were cut off. All
 * ways lead into them by one call. With another call from elsewhere nothing is known. */
static void test_deep_recursion(void **state)
{
    (void)state;
    for (unsigned other = 0; other < 2; other++) {
        struct stacks stacks = stacks_new();
        uint32_t outer = add(&stacks, TRACE_NONE, OUTER, 1, false), at = outer;
        for (unsigned depth = 0; depth < 4; depth++) {
            at = add(&stacks, at, MIDDLE, 1, false);
            at = add(&stacks, at, INNER, 1, false);
        }
        if (other)
            add(&stacks, add(&stacks, TRACE_NONE, OUTER, 2, false), INNER, 1, false);
        uint32_t middle = add(&stacks, TRACE_NONE, MIDDLE, 1, true), inner = add(&stacks, TRACE_NONE, INNER, 1, true);
        assert_int_equal(joined(&stacks, inner), other ? TRACE_NONE : outer);
        assert_int_equal(stacks.trace->frames[middle].parent, outer);
        stacks_free(&stacks);
    }
}

/* A whole stack is left alone. */
static void test_whole(void **state)
{
    (void)state;
    struct stacks stacks = stacks_new();
    uint32_t outer = add(&stacks, TRACE_NONE, OUTER, 1, false), whole = add(&stacks, TRACE_NONE, INNER, 1, false);
    add(&stacks, outer, INNER, 1, false);
    add(&stacks, TRACE_NONE, MIDDLE, 1, true);
    assert_int_equal(joined(&stacks, whole), TRACE_NONE);
    stacks_free(&stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_way), cmocka_unit_test(test_several_ways),   cmocka_unit_test(test_called_back),
        cmocka_unit_test(test_circle),  cmocka_unit_test(test_deep_recursion), cmocka_unit_test(test_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
