/* SPDX-License-Identifier: BSD-3-Clause */
/* What the threads of a process do at once: taking turns, competing for a CPU, and beginning unseen. */
#include "analyze/steps/team.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* Two threads take turns at a lock. The second one is ready for nearly all of the time; each time that it gets the CPU
 * it finds the lock taken and sleeps again. Nobody lacked a CPU. */
static void who_sleeps_again_lacked_nothing(void **state)
{
    (void)state;
    struct team team = {0};
    struct team_member holder = {0}, other = {0};
    team_move(&team, &holder, THREAD_RUNS, 0);
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t now_ns = 1000000 * i;
        team_move(&team, &other, THREAD_READY, now_ns);
        team_move(&team, &holder, THREAD_READY, now_ns + 990000);
        team_move(&team, &other, THREAD_RUNS, now_ns + 990000);
        team_move(&team, &other, THREAD_AWAY, now_ns + 995000);
        team_move(&team, &holder, THREAD_RUNS, now_ns + 995000);
    }
    team_move(&team, &holder, THREAD_AWAY, 10000000);
    struct team_sums sums = team_sums_at(&team, 10000000);
    assert_int_equal(sums.run_ns + sums.kept_ns, 10000000);
    assert_true(team.lacked_ns < 0.01 * 10000000);
}

/* Two threads share one CPU by slices until both have done their parts: the process is as slow as if it had none for
 * half of the time. */
static void who_works_on_lacked_a_cpu(void **state)
{
    (void)state;
    struct team team = {0};
    struct team_member threads[2] = {0};
    team_move(&team, &threads[1], THREAD_READY, 0);
    for (uint64_t i = 0; i < 10; i++) {
        team_move(&team, &threads[i % 2], THREAD_RUNS, 4000000 * i);
        if (i > 0)
            team_move(&team, &threads[!(i % 2)], THREAD_READY, 4000000 * i);
    }
    team_move(&team, &threads[0], THREAD_AWAY, 40000000);
    team_move(&team, &threads[1], THREAD_AWAY, 40000000);
    struct team_sums sums = team_sums_at(&team, 40000000);
    assert_int_equal(sums.run_ns, 40000000);
    assert_int_equal(sums.kept_ns, 0);
    assert_true(fabs(team.lacked_ns / 20e6 - 1) < 0.15);
}

/* A process that has a thread ready, and none that runs, is kept from going on. One inside MPI is no work. */
static void nobody_runs(void **state)
{
    (void)state;
    struct team team = {0};
    struct team_member threads[2] = {0};
    team_move(&team, &threads[0], THREAD_IN_MPI, 0);
    team_move(&team, &threads[1], THREAD_READY, 100);
    team_move(&team, &threads[1], THREAD_RUNS, 300);
    team_move(&team, &threads[1], THREAD_AWAY, 600);
    struct team_sums sums = team_sums_at(&team, 1000);
    assert_int_equal(sums.kept_ns, 200);
    assert_int_equal(sums.run_ns, 300);
    assert_int_equal(sums.mpi_ns, 500);
    assert_true(team.lacked_ns == 0);
}

/* A thread that is first seen at work has begun when the last one that ran did not any more, but not while it slept. */
static void a_thread_begins_unseen(void **state)
{
    (void)state;
    struct team team = {0};
    struct team_member main_thread = {0}, worker = {0};
    team_move(&team, &main_thread, THREAD_RUNS, 0);
    team_move(&team, &main_thread, THREAD_AWAY, 1000);
    team_found_running(&team, &worker, UINT64_MAX, 5000);
    team_move(&team, &worker, THREAD_AWAY, 6000);
    assert_int_equal(team_sums_at(&team, 6000).run_ns, 6000);
    team_move(&team, &main_thread, THREAD_RUNS, 6000);
    team_found_running(&team, &worker, UINT64_MAX, 7000);
    assert_int_equal(team_sums_at(&team, 8000).run_ns, 8000);
}

/* One that has slept all the time since it began, unseen, and then used a CPU for a moment, ran for that moment. */
static void a_thread_ran_no_longer_than_it_used_a_cpu(void **state)
{
    (void)state;
    struct team team = {0};
    struct team_member main_thread = {0}, worker = {0};
    team_move(&team, &main_thread, THREAD_RUNS, 0);
    team_move(&team, &main_thread, THREAD_AWAY, 1000);
    team_found_running(&team, &worker, 100, 5000);
    team_move(&team, &worker, THREAD_AWAY, 5200);
    assert_int_equal(team_sums_at(&team, 9000).run_ns, 1000 + 100 + 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_sleeps_again_lacked_nothing),
                                       cmocka_unit_test(who_works_on_lacked_a_cpu), cmocka_unit_test(nobody_runs),
                                       cmocka_unit_test(a_thread_begins_unseen),
                                       cmocka_unit_test(a_thread_ran_no_longer_than_it_used_a_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
