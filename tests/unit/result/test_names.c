/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths of sites: what is left out of them must not be what tells two sites apart. */
#include "analyze/result/names.h"
#include "tests/unit/scene/trace_memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { FRAMES_MOST = 16, SITES_MOST = 8 };
static const char app[] = "/nowhere/app", other_app[] = "/elsewhere/app";

/* Sites of one MPI call, with what they are called. */
struct named {
    struct trace *trace;
    struct code *code;
    struct steps steps;
    struct sites sites;
    struct analysis analysis;
    uint32_t barrier, n, of[SITES_MOST];
};

static void named_begin(struct named *named, bool has_code)
{
    *named = (struct named){.trace = trace_memory(1), .code = has_code ? code_open() : NULL};
    named->barrier = trace_memory_region(named->trace, "MPI_Barrier", true, WW_COLLECTIVE, WW_COLL_BARRIER);
    const char *const paths[] = {app, other_app};
    for (size_t i = 0; has_code && i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(code_add_module(named->code, paths[i], NULL, 0), trace_memory_module(named->trace, paths[i]));
}

/* The innermost address first, up to a zero. Those from 0x100 on are in the other module, at what is left. */
static uint32_t add_stack(struct named *named, const uint64_t *addresses)
{
    uint32_t n = 0, frame = TRACE_NONE;
    while (addresses[n])
        n++;
    while (n--)
        frame = trace_memory_frame(named->trace, (struct trace_frame){.parent = frame,
                                                                      .module = addresses[n] >= 0x100,
                                                                      .address = addresses[n] & 0xff,
                                                                      .region = TRACE_NONE,
                                                                      .is_return = true});
    return frame;
}

static void name_all(struct named *named, const uint32_t *contexts, uint32_t n)
{
    struct arena *arena = &named->analysis.arena;
    named->analysis.n_sites = n;
    named->analysis.sites = arena_array(arena, struct wait_site, n);
    for (uint32_t i = 0; i < n; i++)
        named->of[i] = sites_put(&named->sites, contexts[i], named->barrier);
    names_sites(&named->sites, &named->analysis, named->of);
}

/* No code is known of these addresses. */
static void name_stacks(struct named *named, const uint64_t (*stacks)[FRAMES_MOST], uint32_t n)
{
    uint32_t frames[SITES_MOST], contexts[SITES_MOST];
    named_begin(named, true);
    for (uint32_t i = 0; i < n; i++)
        frames[i] = add_stack(named, stacks[i]);
    sites_begin(&named->sites, named->trace, named->code, &named->steps);
    for (uint32_t i = 0; i < n; i++)
        contexts[i] = sites_context(&named->sites, frames[i]);
    name_all(named, contexts, n);
}

/* Paths of regions, the outermost first, up to a NULL. */
static void name_regions(struct named *named, const uint32_t (*paths)[FRAMES_MOST], const char *const *names,
                         uint32_t n)
{
    uint32_t contexts[SITES_MOST], first;
    named_begin(named, false);
    first = named->trace->n_regions;
    for (uint32_t i = 0; names[i]; i++)
        trace_memory_region(named->trace, names[i], false, WW_LOCAL, WW_COLL_NONE);
    sites_begin(&named->sites, named->trace, NULL, &named->steps);
    for (uint32_t i = 0; i < n; i++) {
        contexts[i] = TRACE_NONE;
        for (uint32_t k = 0; paths[i][k]; k++)
            contexts[i] = sites_enter(&named->sites, contexts[i], first + paths[i][k] - 1);
    }
    name_all(named, contexts, n);
}

static const char *path_of(const struct named *named, uint32_t site)
{
    return named->analysis.sites[site].path;
}

static void named_end(struct named *named)
{
    arena_release(&named->analysis.arena);
    sites_release(&named->sites);
    steps_release(&named->steps);
    code_close(named->code);
    trace_close(named->trace);
}

static void a_path_of_its_own_is_cut(void **state)
{
    (void)state;
    struct named named;
    const uint64_t stacks[][FRAMES_MOST] = {{0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80},
                                            {0x10, 0x20, 0x30, 0x40, 0x50, 0x61, 0x70, 0x81}};
    name_stacks(&named, stacks, 2);
    assert_string_equal(path_of(&named, 0), "app+0x10 <- +0x20 <- +0x30 <- +0x40 <- +0x50 <- +0x60");
    assert_string_equal(path_of(&named, 1), "app+0x10 <- +0x20 <- +0x30 <- +0x40 <- +0x50 <- +0x61");
    named_end(&named);
}

/* Only there: before it and behind it they say nothing more. */
static void paths_that_read_the_same_are_told_where_they_part(void **state)
{
    (void)state;
    struct named named;
    const uint64_t stacks[][FRAMES_MOST] = {
        {0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0},
        {0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x81, 0x90, 0xa0, 0xb0, 0xc0},
        {0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x81, 0x90, 0xa1, 0xb0, 0xc0},
        {0x11, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x82, 0x90, 0xa0, 0xb0, 0xc0},
    };
    name_stacks(&named, stacks, 4);
#define SIX "app+0x10 <- +0x20 <- +0x30 <- +0x40 <- +0x50 <- +0x60"
    assert_string_equal(path_of(&named, 0), SIX " <- (1 more) <- +0x80");
    assert_string_equal(path_of(&named, 1), SIX " <- (1 more) <- +0x81 <- (1 more) <- +0xa0");
    assert_string_equal(path_of(&named, 2), SIX " <- (1 more) <- +0x81 <- (1 more) <- +0xa1");
    assert_string_equal(path_of(&named, 3), "app+0x11 <- +0x20 <- +0x30 <- +0x40 <- +0x50 <- +0x60");
    named_end(&named);
}

static void a_path_that_ends_is_told_from_one_that_goes_on(void **state)
{
    (void)state;
    struct named named;
    const uint64_t stacks[][FRAMES_MOST] = {{0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70},
                                            {0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90}};
    name_stacks(&named, stacks, 2);
    assert_string_equal(path_of(&named, 0), SIX);
    assert_string_equal(path_of(&named, 1), SIX " <- (1 more) <- +0x80");
    named_end(&named);
}

/* A library without names is called by a program that has some. */
static void the_outer_end_is_told_where_it_has_names(void **state)
{
    (void)state;
    struct named named;
    named_begin(&named, true);
    uint32_t frame = TRACE_NONE;
    for (const char *const *name = (const char *const[]){"main", "step", "solve", NULL}; *name; name++) {
        uint32_t region = trace_memory_region(named.trace, *name, false, WW_LOCAL, WW_COLL_NONE);
        frame = trace_memory_frame(named.trace,
                                   (struct trace_frame){.parent = frame, .module = TRACE_NONE, .region = region});
    }
    for (uint64_t address = 0x80; address; address -= 0x10)
        frame = trace_memory_frame(
            named.trace,
            (struct trace_frame){.parent = frame, .address = address, .region = TRACE_NONE, .is_return = true});
    sites_begin(&named.sites, named.trace, named.code, &named.steps);
    uint32_t context = sites_context(&named.sites, frame);
    name_all(&named, &context, 1);
    assert_string_equal(path_of(&named, 0), SIX " <- (2 more) <- solve() <- step() <- main()");
    named_end(&named);
}

/* Two programs of one name in a run. */
static void what_has_the_same_name_is_told_by_where_it_is(void **state)
{
    (void)state;
    struct named named;
    const uint64_t stacks[][FRAMES_MOST] = {{0x10, 0x20}, {0x110, 0x120}};
    name_stacks(&named, stacks, 2);
    assert_string_equal(path_of(&named, 0), "app+0x10 at /nowhere/app+0xf <- +0x20");
    assert_string_equal(path_of(&named, 1), "app+0x10 at /elsewhere/app+0xf <- +0x20");
    named_end(&named);
}

static void one_place_in_two_kinds_of_waiting_is_one_text(void **state)
{
    (void)state;
    struct named named;
    const uint64_t stacks[][FRAMES_MOST] = {{0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70},
                                            {0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70}};
    name_stacks(&named, stacks, 2);
    assert_string_equal(path_of(&named, 0), SIX);
    assert_string_equal(path_of(&named, 1), SIX);
    named_end(&named);
}

/* Also with names, of which the middle is left out; and routines that share their name are not one. */
static void named_paths_are_told_apart_as_well(void **state)
{
    (void)state;
    static const char *const names[] = {"main", "a", "b", "step", "c", "d", "step", NULL};
    struct named named;
    const uint32_t left_out[][FRAMES_MOST] = {{1, 2, 2, 2, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                                              {1, 2, 2, 2, 2, 5, 2, 2, 2, 2, 2, 2, 2, 2, 2}};
    name_regions(&named, left_out, names, 2);
#define EIGHT "a() <- a() <- a() <- a() <- a() <- a() <- a() <- a()"
    assert_string_equal(path_of(&named, 0), EIGHT " <- (1 more) <- b() <- (2 more) <- a() <- a() <- main()");
    assert_string_equal(path_of(&named, 1), EIGHT " <- (1 more) <- c() <- (2 more) <- a() <- a() <- main()");
    named_end(&named);
    const uint32_t namesakes[][FRAMES_MOST] = {{1, 4, 6}, {1, 7, 6}};
    name_regions(&named, namesakes, names, 2);
    assert_string_equal(path_of(&named, 0), "d() <- step() (region 4) <- main()");
    assert_string_equal(path_of(&named, 1), "d() <- step() (region 7) <- main()");
    named_end(&named);
}

/* Programs without debug information call MPI as well. */
static void a_call_is_known_without_its_line(void **state)
{
    (void)state;
    struct named named;
    const uint64_t stack[][FRAMES_MOST] = {{0x10, 0x20}};
    name_stacks(&named, stack, 1);
    uint32_t step = steps_put(&named.steps, STEP_MPI, WHAT_SITE, named.of[0], TRACE_NONE);
    names_steps(&named.sites, &named.analysis);
    assert_null(named.analysis.steps[step].file);
    assert_string_equal(named.analysis.steps[step].call, "MPI_Barrier");
    named_end(&named);
}

static void modules_of_folders_are_named_with_their_folder(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        unsigned n;
        const char *tail;
    } cases[] = {{"/a/b/jacobi.c", 1, "jacobi.c"},
                 {"/a/b/jacobi.c", 2, "b/jacobi.c"},
                 {"/lib/python3/meep/__init__.py", 1, "meep/__init__.py"},
                 {"/lib/python3/meep/__init__.py", 2, "python3/meep/__init__.py"},
                 {"tool/__main__.py", 1, "tool/__main__.py"},
                 {"__init__.py", 1, "__init__.py"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(names_path_tail(cases[i].path, cases[i].n), cases[i].tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_path_of_its_own_is_cut),
                                       cmocka_unit_test(modules_of_folders_are_named_with_their_folder),
                                       cmocka_unit_test(a_call_is_known_without_its_line),
                                       cmocka_unit_test(paths_that_read_the_same_are_told_where_they_part),
                                       cmocka_unit_test(a_path_that_ends_is_told_from_one_that_goes_on),
                                       cmocka_unit_test(the_outer_end_is_told_where_it_has_names),
                                       cmocka_unit_test(what_has_the_same_name_is_told_by_where_it_is),
                                       cmocka_unit_test(one_place_in_two_kinds_of_waiting_is_one_text),
                                       cmocka_unit_test(named_paths_are_told_apart_as_well)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
