/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests under way, against a plain list. */
#include "wrap/record/pending.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { HANDLES = 3000, STEPS = 200000 };

static int32_t tag_of[HANDLES + 1]; /* by handle; 0 = it is not pending */
static unsigned n_seen;

static void compare(const struct ww_call *call)
{
    assert_in_range(call->request, 1, HANDLES);
    assert_int_equal(call->tag, tag_of[call->request]);
    n_seen++;
}

static void are_those_that_were_not_removed(void **state)
{
    (void)state;
    unsigned n = 0;
    srand(1);
    for (int32_t step = 1; step <= STEPS; step++) {
        uint64_t request = 1 + (uint64_t)rand() % HANDLES;
        if (rand() % 2) {
            n += !tag_of[request];
            tag_of[request] = step;
            pending_add(&(struct ww_call){.request = request, .tag = step});
        } else {
            n -= tag_of[request] > 0;
            tag_of[request] = 0;
            pending_remove(request);
        }
        if (step % (STEPS / 20) == 0) {
            n_seen = 0;
            pending_each(compare);
            assert_int_equal(n_seen, n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_those_that_were_not_removed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
