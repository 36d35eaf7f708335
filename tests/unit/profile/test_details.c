/* SPDX-License-Identifier: BSD-3-Clause */
/* What is added to causes: how many threads share them at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/profile/details.h"

static void test_threads_at_a_time(void **state)
{
    (void)state;
    assert_true(threads_at_a_time(150, 100, 2) == 1.5);
    /* Samples err: two threads may look like a few more. */
    assert_true(threads_at_a_time(210, 100, 2) == 2);
    /* A helper works for 60 ms while the main thread spins elsewhere, but for one look. */
    assert_true(threads_at_a_time(61e6, 0.3e6, 2) == 0);
    assert_true(threads_at_a_time(5, 0, 2) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
