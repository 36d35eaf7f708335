/* SPDX-License-Identifier: BSD-3-Clause */
/* Which loop a sample belongs to, for stacks laid over a real routine whose loop calls MPI. */
#include "analyze/pass/sites.h"
#include "analyze/trace/trace_memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define CALLS_MPI SHAPES_BIN "/calls-mpi"

/* Where the loop's two calls return to, and what they enter. */
struct shape {
    uint64_t after_mpi, after_straight, straight, stub;
};

static int32_t read_distance(uint64_t address)
{
    int32_t distance = 0;
    FILE *file = fopen(CALLS_MPI, "rb"); /* its code lies in it at its address */
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)address, SEEK_SET), 0);
    assert_int_equal(fread(&distance, sizeof distance, 1, file), 1);
    fclose(file);
    return distance;
}

static struct shape shape_read(struct code *code, uint32_t module)
{
    struct shape shape = {0};
    for (uint32_t r = 0; r + 1 < code_n_routines(code, module); r++)
        for (uint64_t at = code_routine_address(code, module, r); at < code_routine_address(code, module, r + 1);
             at++) {
            struct code_callee callee;
            if (!code_callee_at(code, module, at, &callee) || !callee.name)
                continue;
            if (!strcmp(callee.name, "MPI_Barrier"))
                shape.after_mpi = at;
            if (!strcmp(callee.name, "straight")) {
                shape.after_straight = at;
                shape.straight = callee.address;
            }
        }
    assert_true(shape.after_mpi && shape.after_straight && shape.straight);
    shape.stub = shape.after_mpi + (uint64_t)(int64_t)read_distance(shape.after_mpi - sizeof(int32_t));
    assert_int_equal(code_place_at(code, module, shape.stub), CODE_NONE);
    return shape;
}

static uint32_t add_frame(struct trace *trace, uint32_t parent, uint32_t module, uint64_t address, bool is_return)
{
    return trace_memory_frame(
        trace,
        (struct trace_frame){
            .parent = parent, .module = module, .address = address, .region = TRACE_NONE, .is_return = is_return});
}

/* The name of the place that a sample in the straight routine belongs to. */
static const char *place_of_straight(bool has_sample_in_stub, bool *is_loop)
{
    struct trace *trace = trace_memory(1);
    struct code *code = code_open();
    struct steps steps = {0};
    struct sites sites;
    uint32_t module = trace_memory_module(trace, CALLS_MPI);
    assert_int_equal(code_add_module(code, CALLS_MPI, NULL, 0), module);
    struct shape shape = shape_read(code, module);
    uint32_t call = add_frame(trace, TRACE_NONE, module, shape.after_mpi, true);
    if (has_sample_in_stub)
        add_frame(trace, call, module, shape.stub, false);
    uint32_t caller = add_frame(trace, TRACE_NONE, module, shape.after_straight, true);
    uint32_t sampled = add_frame(trace, caller, module, shape.straight, false);
    sites_begin(&sites, trace, code, &steps);
    uint32_t step = sites_sample_step(&sites, sampled);
    assert_int_not_equal(step, TRACE_NONE);
    const struct code_place *place = code_place(code, steps_key(&steps, step)->id);
    static char name[32];
    snprintf(name, sizeof name, "%s", place->routine);
    *is_loop = place->is_loop;
    sites_release(&sites);
    steps_release(&steps);
    code_close(code);
    trace_close(trace);
    return name;
}

/* The loop goes on across its waits, so what it calls is named by itself; also where a sample caught the call on its
 * way, in the linkage table, which makes its return address look as if it led to computing. */
static void a_loop_that_waits_is_no_loop_between_waits(void **state)
{
    (void)state;
    for (int has_sample = 0; has_sample < 2; has_sample++) {
        bool is_loop = true;
        assert_string_equal(place_of_straight(has_sample, &is_loop), "straight");
        assert_false(is_loop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_loop_that_waits_is_no_loop_between_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
