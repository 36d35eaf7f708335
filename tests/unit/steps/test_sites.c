/* SPDX-License-Identifier: BSD-3-Clause */
/* Which loop a sample belongs to, for stacks laid over a real routine whose loop calls MPI. */
#include "analyze/steps/calltree.h"
#include "analyze/steps/sites.h"
#include "tests/unit/scene/trace_memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define CALLS_MPI SHAPES_BIN "/calls-mpi"
enum { LINE_OF_STRAIGHT = 5, LINE_OF_CALL = 13 }; /* in shapes/calls_mpi.c */

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

struct found {
    char routine[32];
    uint32_t line;
    bool is_loop;
};

static struct found found_at(const struct code_place *place)
{
    struct found found = {.line = place->line_first, .is_loop = place->is_loop};
    snprintf(found.routine, sizeof found.routine, "%s", place->routine);
    return found;
}

enum how { STRAIGHT = 0, SAMPLE_IN_STUB = 1, IN_LIBRARY = 2 };

/* The place that a sample belongs to, in the straight routine or in a library that is called in its stead. */
static struct found place_of_sample(unsigned how)
{
    struct trace *trace = trace_memory(1);
    struct code *code = code_open();
    struct steps steps = {0};
    struct sites sites;
    uint32_t module = trace_memory_module(trace, CALLS_MPI);
    assert_int_equal(code_add_module(code, CALLS_MPI, NULL, 0), module);
    struct shape shape = shape_read(code, module);
    uint32_t call = add_frame(trace, TRACE_NONE, module, shape.after_mpi, true);
    uint32_t library = trace_memory_module(trace, "/lib/libc.so.6");
    assert_int_equal(code_add_module(code, "/lib/libc.so.6", NULL, 0), library);
    if (how & SAMPLE_IN_STUB)
        add_frame(trace, call, module, shape.stub, false);
    uint32_t caller = add_frame(trace, TRACE_NONE, module, shape.after_straight, true);
    bool is_library = how & IN_LIBRARY;
    uint32_t sampled = add_frame(trace, caller, is_library ? library : module, shape.straight, false);
    sites_begin(&sites, trace, code, &steps);
    uint32_t step = sites_sample_step(&sites, sampled);
    assert_int_not_equal(step, TRACE_NONE);
    struct found found = found_at(code_place(code, steps_key(&steps, step)->id));
    sites_release(&sites);
    steps_release(&steps);
    code_close(code);
    trace_close(trace);
    return found;
}

/* The loop goes on across its waits, so what it calls is named by itself, or by the line of the call; also where a
 * sample caught the call on its way, in the linkage table, which makes its return address look as if it led to
 * computing. */
static void a_loop_that_waits_is_no_loop_between_waits(void **state)
{
    (void)state;
    for (unsigned how = 0; how <= (SAMPLE_IN_STUB | IN_LIBRARY); how++) {
        struct found found = place_of_sample(how);
        assert_string_equal(found.routine, how & IN_LIBRARY ? "steps" : "straight");
        assert_int_equal(found.line, how & IN_LIBRARY ? LINE_OF_CALL : LINE_OF_STRAIGHT);
        assert_false(found.is_loop);
    }
}

/* Code of no module has called the loop, which is entered anew from the routine that it calls. */
static void a_loop_that_recurs_is_entered_once(void **state)
{
    (void)state;
    struct trace *trace = trace_memory(1);
    struct code *code = code_open();
    struct steps steps = {0};
    struct sites sites;
    struct survey survey = {0};
    struct placing placing;
    uint32_t module = trace_memory_module(trace, CALLS_MPI);
    assert_int_equal(code_add_module(code, CALLS_MPI, NULL, 0), module);
    struct shape shape = shape_read(code, module);
    uint32_t library = trace_memory_module(trace, "/lib/libc.so.6");
    assert_int_equal(code_add_module(code, "/lib/libc.so.6", NULL, 0), library);
    uint32_t region = trace_memory_region(trace, "generated", false, WW_LOCAL, WW_COLL_NONE);
    uint32_t root = add_frame(trace, TRACE_NONE, library, 4096, true);
    uint32_t generated =
        trace_memory_frame(trace, (struct trace_frame){.parent = root, .module = TRACE_NONE, .region = region});
    uint32_t first = add_frame(trace, generated, module, shape.after_straight, true);
    uint32_t within = add_frame(trace, first, module, shape.straight + 1, true);
    uint32_t again = add_frame(trace, within, module, shape.after_straight, true);
    *vec_push(&survey.entries) = (struct survey_entry){.frame = again, .region = TRACE_NONE, .n_samples = 1};
    sites_begin(&sites, trace, code, &steps);
    placing_begin(&placing, &sites, &survey);
    assert_int_not_equal(placing.tree.of_frame.at[within].node, placing.tree.of_frame.at[first].node);
    assert_int_equal(placing.tree.of_frame.at[again].node, placing.tree.of_frame.at[first].node);
    placing_release(&placing);
    survey_release(&survey);
    sites_release(&sites);
    steps_release(&steps);
    code_close(code);
    trace_close(trace);
}

#define MESSENGER "/x/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so"

/* Routines of a script and of a package: a line of each, in a stack. */
enum { AT_STEP, AT_SMOOTH, AT_EXCHANGE, N_FILES };
static const struct {
    const char *path, *routine;
    uint64_t address;
} files[N_FILES] = {{"/home/u/app.py", "step", (uint64_t)10 << 32 | 12},
                    {"/x/site-packages/mesh/smooth.py", "smooth", (uint64_t)3 << 32 | 7},
                    {"/x/site-packages/mesh/exchange.py", "exchange", (uint64_t)4 << 32 | 5}};

static uint32_t add_line(struct trace *trace, uint32_t parent, uint32_t file)
{
    return add_frame(trace, parent, file, files[file].address + 1, true);
}

/* A call of MPI: a line alone makes none. */
static void add_call(struct trace *trace, uint32_t parent, uint32_t file)
{
    add_frame(trace, add_line(trace, parent, file), N_FILES, 4096, true);
}

/* The routine that a sample in the package belongs to, when the stack of a call of MPI ends in these two. */
static void expect_routine(uint32_t outer, uint32_t inner, const char *expected)
{
    struct trace *trace = trace_memory(1);
    struct code *code = code_open();
    struct steps steps = {0};
    struct sites sites;
    for (uint32_t i = 0; i < N_FILES; i++) {
        assert_int_equal(trace_memory_module(trace, files[i].path), i);
        assert_int_equal(code_add_script(code, files[i].path, NULL), i);
        code_name_routine(code, i, files[i].address, files[i].routine);
    }
    uint32_t root = add_line(trace, TRACE_NONE, AT_STEP);
    uint32_t sampled = add_frame(trace, root, AT_SMOOTH, files[AT_SMOOTH].address, false);
    uint32_t messenger = trace_memory_module(trace, MESSENGER);
    assert_int_equal(code_add_module(code, MESSENGER, NULL, 0), messenger);
    add_line(trace, root, AT_SMOOTH);
    add_call(trace, outer == AT_STEP ? TRACE_NONE : add_line(trace, root, outer), inner);
    sites_begin(&sites, trace, code, &steps);
    uint32_t step = sites_sample_step(&sites, sampled);
    assert_int_not_equal(step, TRACE_NONE);
    assert_string_equal(code_place(code, steps_key(&steps, step)->id)->routine, expected);
    sites_release(&sites);
    steps_release(&steps);
    code_close(code);
    trace_close(trace);
}

/* It calls MPI itself: not only a function of the program that it calls. */
static void a_package_is_of_the_program_if_it_calls_mpi(void **state)
{
    (void)state;
    expect_routine(AT_STEP, AT_STEP, "step");
    expect_routine(AT_SMOOTH, AT_STEP, "step");
    expect_routine(AT_STEP, AT_EXCHANGE, "smooth");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_loop_that_waits_is_no_loop_between_waits),
                                       cmocka_unit_test(a_loop_that_recurs_is_entered_once),
                                       cmocka_unit_test(a_package_is_of_the_program_if_it_calls_mpi)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
