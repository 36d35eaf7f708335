/* SPDX-License-Identifier: BSD-3-Clause */
/* When a thread that leaves the CPU often is sampled less, for times and counts that are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/sample/storm.h"

enum { MS = 1000000 };

/* Asked every 20 ms, with so many switches in between; how often it changed. */
static int ask(struct storm *storm, uint64_t *now_ns, int times, uint64_t n_switches)
{
    int changes = 0;
    for (int i = 0; i < times; i++) {
        *now_ns += 20 * MS;
        storm->n_switches += n_switches;
        changes += storm_has_changed(storm, *now_ns);
    }
    return changes;
}

static void test_begins_and_ends(void **state)
{
    (void)state;
    uint64_t now_ns = 5000000000;
    struct storm storm = {.since_ns = now_ns};
    assert_int_equal(ask(&storm, &now_ns, 50, 100), 0);
    assert_false(storm.is_on);
    assert_int_equal(ask(&storm, &now_ns, 50, 20000), 1);
    assert_true(storm.is_on);
    assert_int_equal(ask(&storm, &now_ns, 50, 0), 1);
    assert_false(storm.is_on);
}

/* Around the limit nothing goes to and fro. */
static void test_is_steady(void **state)
{
    (void)state;
    uint64_t now_ns = 5000000000;
    struct storm storm = {.since_ns = now_ns};
    int changes = 0;
    for (int i = 0; i < 100; i++)
        changes += ask(&storm, &now_ns, 3, i % 2 ? 220 : 180);
    assert_int_equal(changes, 1);
    assert_true(storm.is_on);
}

/* A burst, once, is none. */
static void test_burst(void **state)
{
    (void)state;
    uint64_t now_ns = 5000000000;
    struct storm storm = {.since_ns = now_ns};
    assert_int_equal(ask(&storm, &now_ns, 1, 400) + ask(&storm, &now_ns, 50, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_begins_and_ends), cmocka_unit_test(test_is_steady),
                                       cmocka_unit_test(test_burst)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
