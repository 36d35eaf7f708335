/* SPDX-License-Identifier: BSD-3-Clause */
/* When a thread that leaves the CPU often is sampled less, for times and counts that are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/sample/switching.h"

enum { MS = 1000000 };

/* Asked every 20 ms, with so many switches in between; how often it changed. */
static int ask(struct switching *switching, uint64_t *now_ns, int times, uint64_t n_switches)
{
    int changes = 0;
    for (int i = 0; i < times; i++) {
        *now_ns += 20 * MS;
        switching->n_switches += n_switches;
        changes += switching_changed(switching, *now_ns);
    }
    return changes;
}

static void test_begins_and_ends(void **state)
{
    (void)state;
    uint64_t now_ns = 5000000000;
    struct switching switching = {.since_ns = now_ns};
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
    struct switching switching = {.since_ns = now_ns};
    int changes = 0;
    for (int i = 0; i < 100; i++)
        changes += ask(&switching, &now_ns, 3, i % 2 ? 220 : 180);
    assert_int_equal(changes, 1);
    assert_true(switching.is_frequent);
}

/* Of a long wait the last switches alone make it longer. */
static void test_delays(void **state)
{
    (void)state;
    struct yielding yielding = {0};
    unsigned n_short = 0, n_long = 0, n_unknown = 0;
    for (uint64_t call = 1; call <= 100; call++)
        for (int i = 0; i < 2; i++)
            n_short += yielding_delays(&yielding, call * MS);
    for (int i = 0; i < 20000; i++)
        n_long += yielding_delays(&yielding, 5000000000);
    for (int i = 0; i < 100; i++)
        n_unknown += yielding_delays(&yielding, 0);
    assert_int_equal(n_short, 200);
    assert_in_range(n_long, 1, 20);
    assert_int_equal(n_unknown, 100);
}

/* A burst, once, is none. */
static void test_burst(void **state)
{
    (void)state;
    uint64_t now_ns = 5000000000;
    struct switching switching = {.since_ns = now_ns};
    assert_int_equal(ask(&switching, &now_ns, 1, 400) + ask(&switching, &now_ns, 50, 0), 0);
}

/* A call in which a thread is off the CPU for 4 us of each 10: what is told is nearly all, in few times. */
static void test_short_absences_are_told_together(void **state)
{
    (void)state;
    struct absence absence = {0};
    uint64_t enter_ns = 5000000000, told_ns = 0, n_told = 0, last_ns = enter_ns;
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t from_ns = enter_ns + 10000 * i, now_ns = from_ns + 4000;
        uint64_t off_ns = absence_add(&absence, enter_ns, from_ns, now_ns);
        if (off_ns == 0)
            continue;
        assert_true(now_ns - off_ns >= last_ns); /* they follow each other */
        told_ns += off_ns;
        last_ns = now_ns;
        n_told++;
    }
    assert_true(told_ns > 39 * MS && told_ns <= 40 * MS);
    assert_true(n_told < 120);
}

static void test_calls_are_apart(void **state)
{
    (void)state;
    struct absence absence = {0};
    assert_int_equal(absence_add(&absence, 100 * MS, 100 * MS, 100 * MS + 15000), 0);
    assert_int_equal(absence_add(&absence, 101 * MS, 101 * MS, 101 * MS + 15000), 0);
    assert_int_equal(absence_add(&absence, 101 * MS, 101 * MS + 20000, 101 * MS + 30000), 25000);
    /* A long one is told alone, also where nothing is known of the call. */
    assert_int_equal(absence_add(&absence, 0, 200 * MS, 200 * MS + 15000), 0);
    assert_int_equal(absence_add(&absence, 0, 201 * MS, 202 * MS), MS);
    assert_int_equal(absence_add(&absence, 1, 300 * MS, 301 * MS), MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_begins_and_ends),
                                       cmocka_unit_test(test_is_steady),
                                       cmocka_unit_test(test_delays),
                                       cmocka_unit_test(test_burst),
                                       cmocka_unit_test(test_short_absences_are_told_together),
                                       cmocka_unit_test(test_calls_are_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
