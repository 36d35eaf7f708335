/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a thread was on a CPU while its switches were lost, from accounts and switches that are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/sample/gap.h"

static struct gap begun(void)
{
    struct gap gap;
    gap_begin(&gap, &(struct gap_account){.time_ns = 1000, .cpu_ns = 500, .has_ready = true}, true);
    return gap;
}

static void expect(struct gap *gap, unsigned at, uint64_t from_ns, uint64_t until_ns, uint64_t cpu_ns, uint32_t flags)
{
    assert_true(at < gap->n_told);
    assert_int_equal(gap->told[at].from_ns, from_ns);
    assert_int_equal(gap->told[at].until_ns, until_ns);
    assert_int_equal(gap->told[at].cpu_ns, cpu_ns);
    assert_int_equal(gap->told[at].flags, flags);
}

/* On at 1000, off at 1100, on at 1300, off at 1400, then lost until 2400, when it is put on a CPU, and off it at 2500.
 * Of 380 ns since the account 300 are known. It was ready for 700 of the other 920. */
static void test_between_accounts(void **state)
{
    (void)state;
    struct gap gap = begun();
    gap_switch(&gap, GAP_ASLEEP, 1100);
    gap_switch(&gap, GAP_ON, 1300);
    gap_switch(&gap, GAP_ASLEEP, 1400);
    gap_take_account(&gap, &(struct gap_account){.time_ns = 2600, .cpu_ns = 880, .ready_ns = 700, .has_ready = true});
    gap_lost(&gap, 2400);
    gap_switch(&gap, GAP_ON, 2400);
    gap_switch(&gap, GAP_ASLEEP, 2500);
    assert_int_equal(gap.n_told, 0);
    gap_switch(&gap, GAP_ON, 2700);
    assert_int_equal(gap.n_told, 2);
    expect(&gap, 0, 1400, 1639, 19, 0);
    expect(&gap, 1, 1639, 2400, 61, WW_SW_PREEMPTED);
}

/* The account is read before the ring is emptied, and the thread goes on switching meanwhile: only what lies before it
 * is its own. It slept in the gap, as far as the kernel can tell. */
static void test_account_in_the_middle(void **state)
{
    (void)state;
    struct gap gap = begun();
    gap_take_account(&gap, &(struct gap_account){.time_ns = 3000, .cpu_ns = 1200, .has_ready = true});
    gap_switch(&gap, GAP_ASLEEP, 1200);
    gap_lost(&gap, 2200);
    gap_switch(&gap, GAP_ASLEEP, 2200);
    gap_switch(&gap, GAP_ON, 2800); /* 200 ns until the account */
    gap_switch(&gap, GAP_ASLEEP, 3500);
    expect(&gap, 0, 1200, 2200, 1200 - 500 - 200 - 200, 0);
    assert_int_equal(gap.in_state_ns[GAP_ON], 500);
}

/* Each ring is found full, and so each account lies in a gap: 600 ns on a CPU between two of them, of which 100 are
 * known, go to the 200 and 800 ns of the gaps that lie between. */
static void test_account_in_a_gap(void **state)
{
    (void)state;
    struct gap gap = begun();
    gap_take_account(&gap, &(struct gap_account){.time_ns = 2000, .cpu_ns = 1000, .has_ready = true});
    gap_switch(&gap, GAP_ASLEEP, 1500);
    gap_lost(&gap, 2200);
    expect(&gap, 0, 1500, 2000, 0, 0); /* all 500 ns are known */
    gap.n_told = 0;
    gap_switch(&gap, GAP_ON, 2200);
    gap_take_account(&gap, &(struct gap_account){.time_ns = 3100, .cpu_ns = 1600, .has_ready = true});
    gap_switch(&gap, GAP_ASLEEP, 2300);
    gap_lost(&gap, 3200);
    assert_int_equal(gap.n_told, 2);
    expect(&gap, 0, 2000, 2200, 100, 0);
    expect(&gap, 1, 2300, 3100, 400, 0);
    assert_int_equal(gap.n_parts, 1);
}

/* A thread whose beginning was not seen: nothing is said of a gap before its first account. */
static void test_without_an_account(void **state)
{
    (void)state;
    struct gap gap = {0};
    gap_switch(&gap, GAP_ON, 100);
    gap_take_account(&gap, &(struct gap_account){.time_ns = 900, .cpu_ns = 10, .has_ready = true});
    gap_lost(&gap, 500);
    gap_switch(&gap, GAP_ASLEEP, 500);
    gap_switch(&gap, GAP_ON, 1000);
    assert_int_equal(gap.n_told, 0);
    gap_take_account(&gap, &(struct gap_account){.time_ns = 2000, .cpu_ns = 30, .has_ready = true});
    gap_lost(&gap, 1500);
    gap_switch(&gap, GAP_ON, 1500);
    gap_switch(&gap, GAP_ASLEEP, 1510);
    gap_switch(&gap, GAP_ON, 2100);
    expect(&gap, 0, 1000, 1500, 30 - 10 - 10, 0);
}

/* Polls until 2000, naps outside MPI until 4000, and polls again while the helper looks at 4600. What was on a CPU
 * while it polled does not cover its naps, and it was ready to run for the 800 ns that it was off the CPU in MPI. */
static void test_cut_where_calls_begin_and_end(void **state)
{
    (void)state;
    struct gap gap = begun();
    gap_switch(&gap, GAP_READY, 1100);
    gap_take_account(&gap, &(struct gap_account){.time_ns = 900, .cpu_ns = 450}); /* too late to be of use */
    gap_take_account(&gap, &(struct gap_account){.time_ns = 2000, .cpu_ns = 1000, .in_call = true});
    gap_take_account(&gap, &(struct gap_account){.time_ns = 4000, .cpu_ns = 1100});
    gap_take_account(&gap, &(struct gap_account){
                               .time_ns = 4600, .cpu_ns = 1400, .ready_ns = 800, .has_ready = true, .in_call = true});
    gap_lost(&gap, 5000);
    assert_int_equal(gap.n_told, 3);
    expect(&gap, 0, 1100, 2000, 400, WW_SW_PREEMPTED | WW_SW_IN_CALL);
    expect(&gap, 1, 2000, 4000, 100, 0);
    expect(&gap, 2, 4000, 4600, 300, WW_SW_PREEMPTED | WW_SW_IN_CALL);
    assert_int_equal(gap.n_parts, 1);
}

/* More gaps than are kept apart. */
static void test_many_gaps(void **state)
{
    (void)state;
    struct gap gap = begun();
    gap_switch(&gap, GAP_ASLEEP, 1001);
    for (uint64_t i = 1; i <= 100; i++) {
        gap_lost(&gap, 1000 * (i + 1));
        gap_switch(&gap, GAP_ASLEEP, 1000 * (i + 1));
        gap_switch(&gap, GAP_ASLEEP, 1000 * (i + 1) + 1);
    }
    gap_take_account(&gap, &(struct gap_account){.time_ns = 200000, .cpu_ns = 1501, .has_ready = true});
    gap_switch(&gap, GAP_ON, 300000);
    assert_int_equal(gap.n_told, GAP_PARTS);
    assert_int_equal(gap.told[GAP_PARTS - 1].until_ns, 101000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between_accounts),
        cmocka_unit_test(test_account_in_the_middle),
        cmocka_unit_test(test_account_in_a_gap),
        cmocka_unit_test(test_without_an_account),
        cmocka_unit_test(test_cut_where_calls_begin_and_end),
        cmocka_unit_test(test_many_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
