/* SPDX-License-Identifier: BSD-3-Clause */
/* How often sleeping threads are looked at: the number of looks and the time that they take together are bounded,
 * however often the helper wakes up, whatever a look takes and whether it finds the thread asleep or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/sample/looks.h"

enum { MOST_THREADS = 200 };
static const uint64_t BEGIN_NS = 5000000000, SECOND_NS = 1000000000;

struct told {
    unsigned n, fewest, most; /* looks in all; at the thread that had fewest and most */
    uint64_t cost_ns;
};

/* The helper wakes so often. */
static struct told run_for(uint64_t run_ns, uint64_t wakes_ns, unsigned n_threads, uint64_t cost_ns)
{
    struct looks looks[MOST_THREADS] = {{0}};
    struct told told = {.fewest = UINT32_MAX};
    for (unsigned i = 0; i < n_threads; i++)
        looks[i].last_ns = BEGIN_NS;
    for (uint64_t now_ns = BEGIN_NS; now_ns < BEGIN_NS + run_ns; now_ns += wakes_ns)
        for (unsigned i = 0; i < n_threads; i++)
            if (looks_is_time(&looks[i], now_ns, n_threads)) {
                looks_take(&looks[i], now_ns, cost_ns);
                told.cost_ns += cost_ns;
                told.n++;
            }
    for (unsigned i = 0; i < n_threads; i++) {
        told.fewest = looks[i].n < told.fewest ? looks[i].n : told.fewest;
        told.most = looks[i].n > told.most ? looks[i].n : told.most;
    }
    return told;
}

static void test_number(void **state)
{
    (void)state;
    static const uint64_t wakes_ns[] = {10000, 1000000, 3000000, 7000000};
    for (unsigned i = 0; i < sizeof wakes_ns / sizeof *wakes_ns; i++) {
        struct told told = run_for(10 * SECOND_NS, wakes_ns[i], 1, 20000);
        assert_in_range(told.n, LOOKS_FIRST + 10 * 50, LOOKS_FIRST + 10 * 125);
    }
    assert_in_range(run_for(SECOND_NS / 10, 1000000, 1, 15000).n, 45, LOOKS_FIRST); /* a short run */
    assert_in_range(run_for(SECOND_NS, 20000000, 1, 20000).n, 45, 50);              /* never more than it wakes */
}

static void test_cost(void **state)
{
    (void)state;
    for (unsigned n_threads = 1; n_threads <= MOST_THREADS; n_threads *= 2)
        for (uint64_t cost_ns = 1000; cost_ns <= 10000000; cost_ns *= 10) {
            struct told told = run_for(20 * SECOND_NS, 1000000, n_threads, cost_ns);
            assert_in_range(told.cost_ns, 0, 20 * SECOND_NS / 100 + 2 * n_threads * cost_ns);
            assert_true(told.fewest > 0 && told.most - told.fewest <= 1); /* all have their turn */
        }
}

/* The first look at code reads its tables. */
static void test_slow_one(void **state)
{
    (void)state;
    struct looks looks = {.last_ns = BEGIN_NS};
    looks_take(&looks, BEGIN_NS, 50000000);
    assert_true(looks_is_time(&looks, BEGIN_NS + 10000000, 1));
    looks_take(&looks, BEGIN_NS + 10000000, 20000);
    assert_true(looks_is_time(&looks, BEGIN_NS + 20000000, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_number), cmocka_unit_test(test_cost),
                                       cmocka_unit_test(test_slow_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
