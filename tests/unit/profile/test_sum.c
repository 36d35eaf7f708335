/* SPDX-License-Identifier: BSD-3-Clause */
/* Routine profiles of several runs added up: by name, file and line, and cycles as the sum has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/profile/sum.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <string.h>

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * (fabs(expected) + 1))
        fail_msg("%.12g instead of %.12g", value, expected);
}

static const struct routine_profile *routine_of(const struct profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->n_routines; i++)
        if (!strcmp(profile->routines[i].name, name))
            return &profile->routines[i];
    fail_msg("no routine %s", name);
    return NULL;
}

static const struct routine_arc *arc_of(const struct profile *profile, const char *from, const char *to)
{
    for (uint32_t i = 0; i < profile->n_arcs; i++)
        if (&profile->routines[profile->arcs[i].from] == routine_of(profile, from) &&
            &profile->routines[profile->arcs[i].to] == routine_of(profile, to))
            return &profile->arcs[i];
    fail_msg("no arc from %s to %s", from, to);
    return NULL;
}

/* main calls the first, which calls the second. */
static struct profile chain(struct arena *arena, const char *first, const char *second, double first_ns,
                            double second_ns)
{
    const struct routine_profile routines[] = {
        {.name = "main", .file = "x.c", .line = 30, .self_ns = 1, .total_ns = 1 + first_ns + second_ns},
        {.name = first, .file = "x.c", .line = 3, .self_ns = first_ns, .total_ns = first_ns + second_ns, .calls = 5},
        {.name = second, .file = "x.c", .line = 9, .self_ns = second_ns, .total_ns = second_ns, .calls = 7}};
    const struct routine_arc arcs[] = {{.from = 0, .to = 1, .calls = 5, .self_ns = first_ns, .below_ns = second_ns},
                                       {.from = 1, .to = 2, .calls = 7, .self_ns = second_ns}};
    return (struct profile){.routines = arena_copy(arena, routines, sizeof routines),
                            .arcs = arena_copy(arena, arcs, sizeof arcs),
                            .cycle_total_ns = arena_array(arena, double, 1),
                            .n_routines = 3,
                            .n_arcs = 2,
                            .time_ns = 1 + first_ns + second_ns};
}

static void test_same_code_adds_up(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct profile one = chain(&arena, "a", "b", 10, 100), two = chain(&arena, "a", "b", 20, 300);
    struct profile sum = profile_sum(&arena, (const struct profile *[]){&one, &two}, 2);
    assert_int_equal(sum.n_routines, 3);
    assert_int_equal(sum.n_arcs, 2);
    assert_int_equal(sum.n_cycles, 0);
    near(sum.time_ns, 432);
    near(routine_of(&sum, "main")->total_ns, 432);
    near(routine_of(&sum, "a")->total_ns, 430);
    near(routine_of(&sum, "a")->self_ns, 30);
    assert_int_equal(routine_of(&sum, "b")->calls, 14);
    assert_int_equal(arc_of(&sum, "a", "b")->calls, 14);
    near(arc_of(&sum, "main", "a")->self_ns + arc_of(&sum, "main", "a")->below_ns, 430);
    arena_release(&arena);
}

/* One run sees a call b, another b call a: only together do they call each other in a circle. */
static void test_circle_of_two_runs(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct profile one = chain(&arena, "a", "b", 10, 100), two = chain(&arena, "b", "a", 20, 300);
    for (int i = 0; i < 3; i++)
        one.routines[i].line = two.routines[i].line = 1;
    struct profile sum = profile_sum(&arena, (const struct profile *[]){&one, &two}, 2);
    assert_int_equal(sum.n_routines, 3);
    assert_int_equal(sum.n_cycles, 1);
    assert_int_equal(routine_of(&sum, "a")->cycle, 1);
    assert_int_equal(routine_of(&sum, "b")->cycle, 1);
    near(sum.cycle_total_ns[1], 430);
    near(routine_of(&sum, "main")->total_ns, 432);
    near(arc_of(&sum, "a", "b")->self_ns, 0);
    arena_release(&arena);
}

static void test_one_run_stays_as_it_is(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct profile one = chain(&arena, "a", "b", 10, 100);
    struct profile sum = profile_sum(&arena, (const struct profile *[]){&one}, 1);
    for (uint32_t i = 0; i < one.n_routines; i++)
        near(routine_of(&sum, one.routines[i].name)->total_ns, one.routines[i].total_ns);
    near(arc_of(&sum, "main", "a")->self_ns, 10);
    near(arc_of(&sum, "main", "a")->below_ns, 100);
    /* Two routines of one name stay two. */
    one.routines[2].name = "a";
    assert_int_equal(profile_sum(&arena, (const struct profile *[]){&one}, 1).n_routines, 3);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_code_adds_up),
        cmocka_unit_test(test_circle_of_two_runs),
        cmocka_unit_test(test_one_run_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
