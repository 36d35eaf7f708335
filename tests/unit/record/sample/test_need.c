/* SPDX-License-Identifier: BSD-3-Clause */
/* For how long threads need a CPU, by switches that are given: together so many of them at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/sample/need.h"

enum { MS = 1000000, US = 1000 };

static void test_a_sleeper_needs_none(void **state)
{
    (void)state;
    struct need need;
    need_begin(&need, false, 0);
    assert_int_equal(need_take_ns(&need, 50 * MS), 0);
    need_switch(&need, GAP_ON, 60 * MS);
    need_was_woken(&need, 2 * MS);
    need_switch(&need, GAP_ASLEEP, 65 * MS);
    assert_int_equal(need_take_ns(&need, 100 * MS), 7 * MS);
    assert_int_equal(need_take_ns(&need, 150 * MS), 0);
}

/* Ten threads compute on one CPU in turns of 3 ms that the kernel gives them. */
static void test_threads_that_share_a_cpu_need_one_each(void **state)
{
    (void)state;
    for (uint64_t first = 0; first < 10; first++) {
        struct need need;
        need_begin(&need, true, 0);
        for (uint64_t now_ns = 0; now_ns < 60 * MS; now_ns += 30 * MS) {
            need_switch(&need, GAP_READY, now_ns);
            need_switch(&need, GAP_ON, now_ns + first * 3 * MS);
            need_switch(&need, GAP_READY, now_ns + (first + 1) * 3 * MS);
        }
        uint64_t last_ready_ns = (10 - 1 - first) * 3 * MS;
        assert_int_equal(need_take_ns(&need, 60 * MS), 60 * MS - last_ready_ns);
        need_switch(&need, GAP_ON, 60 * MS);
        assert_int_equal(need_take_ns(&need, 63 * MS), 3 * MS + last_ready_ns);
    }
}

/* Two threads hand work to each other. Who wakes the other one loses its CPU to it, and is back only to sleep. */
static void test_threads_that_take_turns_need_one_together(void **state)
{
    (void)state;
    struct need needs[2];
    for (int i = 0; i < 2; i++)
        need_begin(&needs[i], !i, 0);
    for (uint64_t turn = 0; turn < 10; turn++) {
        struct need *waker = &needs[turn % 2], *woken = &needs[(turn + 1) % 2];
        uint64_t now_ns = (turn + 1) * 4 * MS;
        need_switch(waker, GAP_READY, now_ns);
        need_switch(woken, GAP_ON, now_ns);
        need_switch(woken, GAP_READY, now_ns + 3 * MS);
        need_switch(waker, GAP_ON, now_ns + 3 * MS);
        need_switch(waker, GAP_ASLEEP, now_ns + 3 * MS + 5 * US);
        need_switch(woken, GAP_ON, now_ns + 3 * MS + 5 * US);
    }
    uint64_t needed_ns = need_take_ns(&needs[0], 44 * MS) + need_take_ns(&needs[1], 44 * MS);
    assert_in_range(needed_ns, 43 * MS, 46 * MS);
}

/* What a thread would do that has no CPU is not known before it has one. */
static void test_who_is_ready_is_told_later(void **state)
{
    (void)state;
    struct need need;
    need_begin(&need, true, 0);
    need_switch(&need, GAP_READY, 10 * MS);
    assert_int_equal(need_take_ns(&need, 20 * MS), 10 * MS);
    assert_int_equal(need_take_ns(&need, 520 * MS), 0);
    need_switch(&need, GAP_ON, 530 * MS);
    need_switch(&need, GAP_ASLEEP, 540 * MS);
    assert_int_equal(need_take_ns(&need, 570 * MS), 530 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sleeper_needs_none),
        cmocka_unit_test(test_threads_that_share_a_cpu_need_one_each),
        cmocka_unit_test(test_threads_that_take_turns_need_one_together),
        cmocka_unit_test(test_who_is_ready_is_told_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
