/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kinds a cause's time is of, by what both sides executed. */
#include "analyze/verdict/balance.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* One late rank and one other, each execution three times as dear on the first. */
static struct cause settled(double late_executions, double other_executions)
{
    struct doing late = {.rank = 1,
                         .executions = late_executions,
                         .time_ns = 3 * late_executions,
                         .computing_ns = 3 * late_executions,
                         .cost_ns = 3,
                         .cost_error = 0.01};
    struct doing other = {.executions = other_executions,
                          .time_ns = other_executions,
                          .computing_ns = other_executions,
                          .cost_ns = other_executions > 0 ? 1 : NAN,
                          .cost_error = 0.01};
    const struct sides sides = {.late = {.n = 1, .each = &late, .mean = late},
                                .others = {.n = 1, .each = &other, .mean = other}};
    struct cause cause = {.kind = KIND_SLOWER, .waiting_ns = 100};
    cause.kind_ns[KIND_SLOWER] = 60;
    cause.kind_ns[KIND_MORE_WORK] = 40;
    balance_settle_kinds(&cause, &sides);
    return cause;
}

/* Nothing shows what it should cost there. */
static void what_others_hardly_run_is_not_slower(void **state)
{
    (void)state;
    static const struct {
        double others;
        enum cause_kind kind;
    } cases[] = {{0, KIND_MORE_WORK}, {4e6, KIND_MORE_WORK}, {6e6, KIND_SLOWER}, {5e7, KIND_SLOWER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cause cause = settled(1e8, cases[i].others);
        assert_int_equal(cause.kind, cases[i].kind);
        assert_true(cause.kind_ns[cause.kind] == (cause.kind == KIND_SLOWER ? 60 : 100));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_others_hardly_run_is_not_slower)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
