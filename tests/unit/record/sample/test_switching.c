/* SPDX-License-Identifier: BSD-3-Clause */
/* When a thread that leaves the CPU often is sampled less, for times and counts that are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/sample/sampler.h"

enum { MS = 1000000 };

/* Asked every 20 ms, with so many switches in between; how often it changed. */
static int ask(struct sampler_switching *switching, uint64_t *now_ns, int times, uint64_t n_switches)
{
    int changes = 0;
    for (int i = 0; i < times; i++) {
        *now_ns += 20 * MS;
        switching->n_switches += n_switches;
        changes += sampler_switching_changed(switching, *now_ns);
    }
    return changes;
}

static void test_begins_and_ends(void **state)
{
    (void)state;
    uint64_t now_ns = 5000000000;
    struct sampler_switching switching = {.since_ns = now_ns};
    assert_int_equal(ask(&switching, &now_ns, 50, 100), 0);
    assert_false(switching.is_frequent);
    assert_int_equal(ask(&switching, &now_ns, 50, 20000), 1);
    assert_true(switching.is_frequent);
    assert_int_equal(ask(&switching, &now_ns, 50, 0), 1);
    assert_false(switching.is_frequent);
}

/* Around the limit nothing goes to and fro. */
static void test_is_steady(void **state)
{
    (void)state;
    uint64_t now_ns = 5000000000;
    struct sampler_switching switching = {.since_ns = now_ns};
    int changes = 0;
    for (int i = 0; i < 100; i++)
        changes += ask(&switching, &now_ns, 3, i % 2 ? 220 : 180);
    assert_int_equal(changes, 1);
    assert_true(switching.is_frequent);
}

/* A burst, once, is none. */
static void test_burst(void **state)
{
    (void)state;
    uint64_t now_ns = 5000000000;
    struct sampler_switching switching = {.since_ns = now_ns};
    assert_int_equal(ask(&switching, &now_ns, 1, 400) + ask(&switching, &now_ns, 50, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_begins_and_ends), cmocka_unit_test(test_is_steady),
                                       cmocka_unit_test(test_burst)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
