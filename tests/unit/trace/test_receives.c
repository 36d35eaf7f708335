/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives that are pending: in their order, and no memory for those that are complete. */
#include "analyze/trace/receives.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void follow(struct receives *receives, enum event_kind kind, uint64_t request)
{
    struct event event = event_plain(kind, 0, 0);
    event.request = request;
    receives_follow(receives, &event);
}

/* The requests that are pending. */
static size_t pending(const struct receives *receives, uint64_t *requests)
{
    size_t n = 0;
    for (size_t i = 0; i < receives->posted.n; i++)
        if (receives->posted.at[i].kind == EV_IRECV)
            requests[n++] = receives->posted.at[i].request;
    return n;
}

static void test_one_stays(void **state)
{
    (void)state;
    struct receives receives = {0}, copy = {0};
    uint64_t requests[8];
    follow(&receives, EV_IRECV, 7);
    for (uint64_t i = 0; i < 100000; i++) {
        follow(&receives, EV_IRECV, 100 + i);
        follow(&receives, i % 2 ? EV_IRECV_DONE : EV_CANCELLED, 100 + i);
    }
    assert_true(receives.posted.n < 200);
    follow(&receives, EV_IRECV, 5);
    follow(&receives, EV_IRECV_DONE, 6); /* that was never posted */
    receives_add(&copy, &receives);
    for (int i = 0; i < 2; i++) {
        const struct receives *of = i ? &copy : &receives;
        assert_int_equal(pending(of, requests), 2);
        assert_int_equal(requests[0], 7);
        assert_int_equal(requests[1], 5);
    }
    follow(&copy, EV_IRECV_DONE, 7);
    assert_int_equal(pending(&copy, requests), 1);
    receives_release(&receives);
    receives_release(&copy);
}

/* Somebody completed it unseen. */
static void test_posted_again(void **state)
{
    (void)state;
    struct receives receives = {0};
    uint64_t requests[8];
    follow(&receives, EV_IRECV, 1);
    follow(&receives, EV_IRECV, 2);
    follow(&receives, EV_IRECV, 1);
    assert_int_equal(pending(&receives, requests), 2);
    assert_int_equal(requests[0], 2);
    assert_int_equal(requests[1], 1);
    receives_release(&receives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_stays), cmocka_unit_test(test_posted_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
