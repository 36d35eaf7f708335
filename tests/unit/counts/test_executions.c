/* SPDX-License-Identifier: BSD-3-Clause */
/* More work or slower: what executions and times say together. */
#include "analyze/counts/executions.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void time_differs_by_work_or_by_cost(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct side late, others;
        double cost_error, share;
    } cases[] = {
        {"four times as often, same cost", {4000, 400}, {1000, 100}, 0, 1},
        {"same executions, three times the cost", {3000, 100}, {1000, 100}, 0, 0},
        {"twice as often and twice the cost", {4000, 200}, {1000, 100}, 0, 1. / 3},
        {"the others never run it", {4000, 200}, {0, 0}, 0, 1},
        {"more often, but cheaper", {2000, 400}, {1000, 100}, 0, 1},
        {"less often, but dearer", {2000, 50}, {1000, 100}, 0, 0},
        {"not counted", {2000, 0}, {1000, 0}, 0, -1},
        {"the costs differ by less than is known", {4400, 400}, {1000, 100}, 0.1, 33. / 34},
        {"the costs differ by more than is known", {8000, 400}, {1000, 100}, 0.5 * log(1.5), 4500. / 7000},
        {"16 times as often and twice the cost", {32000, 1600}, {1000, 100}, 0, 15. / 31},
        {"others hardly run it, and cheaply", {272e6, 600000}, {7.1e5, 6000}, 0, 1},
        {"same executions, cost hardly known: not more work", {1200, 100}, {1000, 100}, 0.5, 0},
        {"hardly more executions: no more work than that", {1200, 101}, {1000, 100}, 0.5, 1200. / 101 / 200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double share = executions_share_of_work(cases[i].late, cases[i].others, cases[i].cost_error);
        if (fabs(share - cases[i].share) > 1e-9)
            fail_msg("%s: %f", cases[i].what, share);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_differs_by_work_or_by_cost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
