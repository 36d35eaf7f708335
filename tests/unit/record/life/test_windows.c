/* SPDX-License-Identifier: BSD-3-Clause */
/* The plans for windows: when recording is switched, and how often ranks look at a plan, in made-up time. */
#include "wrap/record/life/windows.h"
#include "wrap/record/pmpi/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t MS = 1000000, S = 1000000000;

/* Nothing here speaks with other ranks. */
bool world_send(void *data, size_t size_bytes)
{
    return data && size_bytes;
}
bool world_await(uint64_t patience_ns)
{
    return patience_ns > 0;
}
bool world_has_threads(void)
{
    return false;
}
bool world_broadcast(void *data, size_t size_bytes)
{
    return data && size_bytes;
}
bool world_sum(uint64_t *values, unsigned n)
{
    return values && n;
}

struct run {
    uint64_t each_ns;       /* from call to call */
    uint64_t later_each_ns; /* from later_ns on */
    uint64_t later_ns, end_ns;
    uint64_t n_calls, n_plans, n_turns;
    uint64_t turn_ns[100];
};

static void simulate(struct run *run, uint64_t window_ns, uint64_t every_ns)
{
    struct windows_clock clock = {.window_ns = window_ns,
                                  .every_ns = every_ns,
                                  .begin_ns = S,
                                  .due_ns = S + window_ns,
                                  .seen_ns = S,
                                  .is_on = true};
    struct windows_plan under_way = {.n_next = 1};
    uint64_t at = 1, n_last = 1;
    for (uint64_t now_ns = S; now_ns < S + run->end_ns;) {
        now_ns += now_ns < S + run->later_ns ? run->each_ns : run->later_each_ns;
        if (++run->n_calls < at)
            continue;
        struct windows_plan taken = under_way;
        run->n_plans++;
        if (taken.turns && run->n_turns < 100)
            run->turn_ns[run->n_turns++] = now_ns - S;
        under_way = windows_decide(&clock, now_ns, taken, n_last);
        assert_in_range(under_way.n_next, 1, 256);
        n_last = taken.n_next;
        at += taken.n_next;
    }
}

static void near(uint64_t is_ns, uint64_t wanted_ns, uint64_t by_ns)
{
    assert_in_range(is_ns, wanted_ns - by_ns, wanted_ns + by_ns);
}

static void windows_are_as_long_as_they_shall_be(void **state)
{
    (void)state;
    struct run run = {.each_ns = MS, .later_each_ns = MS, .end_ns = 65 * S};
    simulate(&run, S, 10 * S);
    assert_int_equal(run.n_turns, 13);
    for (unsigned i = 0; i < run.n_turns; i++)
        near(run.turn_ns[i], (i + 1) / 2 * 10 * S + (i % 2 ? 0 : S), 20 * MS);
    assert_in_range(run.n_plans, 1, run.n_calls / 20);
}

/* Where calls are rare, recording is switched at the nearest. */
static void calls_may_be_rare(void **state)
{
    (void)state;
    struct run run = {.each_ns = 3 * S, .later_each_ns = 3 * S, .end_ns = 300 * S};
    simulate(&run, 10 * S, 60 * S);
    assert_in_range(run.n_turns, 9, 10);
    for (unsigned i = 0; i < run.n_turns; i++)
        near(run.turn_ns[i], (i + 1) / 2 * 60 * S + (i % 2 ? 0 : 10 * S), 3 * S);
}

/* They come at once in thousands, then seldom: no plan is so far off that windows are missed. */
static void calls_may_become_rare(void **state)
{
    (void)state;
    struct run run = {.each_ns = MS / 100, .later_each_ns = 50 * MS, .later_ns = 5 * S, .end_ns = 100 * S};
    simulate(&run, 2 * S, 20 * S);
    assert_int_equal(run.n_turns, 10);
    for (unsigned i = 1; i < run.n_turns; i++)
        near(run.turn_ns[i], (i + 1) / 2 * 20 * S + (i % 2 ? 0 : 2 * S), 15 * S);
    near(run.turn_ns[9] - run.turn_ns[7], 20 * S, 200 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_are_as_long_as_they_shall_be),
                                       cmocka_unit_test(calls_may_be_rare), cmocka_unit_test(calls_may_become_rare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
