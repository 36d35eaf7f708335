/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes: which ranks carry the blame. */
#include "tests/unit/scene/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* All meet after each step, for which rank r works late_us[r] longer than the others. */
static void work_and_meet(struct scene *scene, uint32_t n, const uint64_t *late_us)
{
    uint64_t end_us = 0;
    for (uint32_t rank = 0; rank < n; rank++) {
        scene_work(scene, rank, "work", scene->now_us[rank] + 1000 + late_us[rank]);
        end_us = scene->now_us[rank] > end_us ? scene->now_us[rank] : end_us;
    }
    for (uint32_t rank = 0; rank < n; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, end_us + 5);
}

/* In every step all odd ranks take about twice as long, and each of them is the last of all at times. */
static void half_of_the_ranks_carry_the_blame_together(void **state)
{
    (void)state;
    enum { N = 64, STEPS = 32 };
    struct scene *scene = scene_make(N);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t late_us[N] = {0};
        for (uint32_t rank = 1; rank < N; rank += 2)
            late_us[rank] = 1000 + (rank / 2 * 13 + step * 7) % 32;
        work_and_meet(scene, N, late_us);
    }
    const struct cause *cause = &scene_analyse(scene)->causes[0];
    assert_int_equal(cause->n_late, N / 2);
    for (uint32_t i = 0; i < cause->n_late; i++)
        assert_int_equal(cause->ranks[i].rank % 2, 1);
    scene_free(scene);
}

static void who_carries_most_is_named_alone(void **state)
{
    (void)state;
    static const struct {
        uint64_t late_us[4];
        uint32_t n_late;
    } cases[] = {
        {{6, 5, 0, 89}, 1}, {{0, 50, 0, 50}, 2}, {{0, 40, 0, 60}, 2}, {{10, 20, 0, 70}, 1}, {{25, 25, 25, 25}, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *scene = scene_make(4);
        for (uint32_t rank = 0; rank < 4; rank++) {
            uint64_t late_us[4] = {0};
            late_us[rank] = 10 * cases[i].late_us[rank];
            work_and_meet(scene, 4, late_us);
        }
        const struct cause *cause = &scene_analyse(scene)->causes[0];
        assert_int_equal(cause->n_late, cases[i].n_late);
        assert_true(i != 0 || cause->ranks[0].rank == 3);
        scene_free(scene);
    }
}

/* Each letter is a step, in which that rank of two works longer. Where others wait a few times only, chance makes one
 * rank late more often than another. */
static void chance_does_not_make_one_rank_late(void **state)
{
    (void)state;
    static const struct {
        const char *late;
        uint32_t n_late;
    } cases[] = {{"abbbbabbbbabbabb", 2}, {"abbbbbbbbbbbbbbb", 1}, {"bbbb.bbbbabbbbbbbbbbbbbbabbbbbbbbbbbbbbbb", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *scene = scene_make(2);
        for (const char *late = cases[i].late; *late; late++)
            work_and_meet(scene, 2, (uint64_t[]){*late == 'a' ? 900 : 0, *late == 'b' ? 900 : 0});
        const struct cause *cause = &scene_analyse(scene)->causes[0];
        assert_int_equal(cause->n_late, cases[i].n_late);
        scene_free(scene);
    }
}

/* In each of ten steps rank r works for step_us[r] and hands on to the next rank. After each step all meet; or they do
 * not, and another rank takes a little longer in each. */
static struct scene *work_in_ring(uint32_t n, const uint64_t *step_us, bool meet)
{
    struct scene *scene = scene_make(n);
    for (uint32_t step = 0; step < 10; step++) {
        uint64_t sent_us[SCENE_RANKS_MAX], end_us = 0;
        for (uint32_t rank = 0; rank < n; rank++) {
            scene_work(scene, rank, "work", scene->now_us[rank] + step_us[rank] + 20 * (!meet && step % n == rank));
            sent_us[rank] = scene->now_us[rank] + 1;
            scene_send(scene, rank, (rank + 1) % n, (int)step, sent_us[rank]);
        }
        for (uint32_t rank = 0; rank < n; rank++) {
            uint64_t came_us = sent_us[(rank + n - 1) % n], here_us = scene->now_us[rank];
            scene_receive(scene, rank, (rank + n - 1) % n, (int)step, (came_us > here_us ? came_us : here_us) + 1);
            end_us = scene->now_us[rank] > end_us ? scene->now_us[rank] : end_us;
        }
        for (uint32_t rank = 0; rank < n && meet; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, end_us + 5);
    }
    return scene;
}

/* Who comes last by a hair carries all of the blame; who waits in a ring has not met all that are late. */
static void who_spends_as_long_is_named_with_the_late(void **state)
{
    (void)state;
    static const struct {
        uint64_t step_us[5];
        uint32_t n, n_late, late[4];
    } cases[] = {
        {{5000, 5010, 2000, 2000}, 4, 2, {0, 1}},
        {{2000, 5010, 2000, 5000}, 4, 2, {1, 3}},
        {{5000, 5010, 4990, 2000}, 4, 3, {0, 1, 2}},
        {{3000, 5010, 2000, 2000}, 4, 1, {1}},
        {{3500, 4000, 4500, 5000, 3000}, 5, 1, {3}},
        {{4990, 5010, 5000, 4995}, 4, 0, {0}},
        {{5010, 2000}, 2, 1, {0}},
    };
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        bool meet = i % 2;
        struct scene *scene = work_in_ring(cases[i / 2].n, cases[i / 2].step_us, meet);
        const struct cause *cause = &scene_analyse(scene)->causes[0];
        uint32_t n_late = cases[i / 2].n_late, n = cause->n_ranks + cause->n_others;
        for (uint32_t k = 0; k < n && n_late; k++) {
            const struct cause_rank *rank = k < cause->n_ranks ? &cause->ranks[k] : &cause->others[k - cause->n_ranks];
            bool is_late = false;
            for (uint32_t j = 0; j < n_late; j++)
                is_late |= cases[i / 2].late[j] == rank->rank;
            assert_int_equal(k < cause->n_late, is_late);
            assert_true(k >= cause->n_ranks || k < cause->n_late || rank->blame_ns > 0);
        }
        assert_true(!n_late || cause->n_late == n_late);
        scene_free(scene);
    }
}

/* Rank 1 has more in four steps of ten, as where it meets a lock that another thread takes now and then: most gaps are
 * of two steps, and some of four, but that is no pace. */
static void what_comes_now_and_then_has_no_pace(void **state)
{
    (void)state;
    enum { STEPS = 150, N = 2 };
    static const bool has_more[] = {true, false, true, false, true, false, false, false, true, false};
    struct scene *scene = scene_make(N);
    for (uint32_t step = 0; step < STEPS; step++) {
        bool is_late = has_more[step % (sizeof has_more / sizeof *has_more)];
        for (uint32_t rank = 0; rank < N; rank++)
            scene_work(scene, rank, "work", scene->now_us[rank] + 1000 + (is_late && rank == 1 ? 5000 : 0));
        uint64_t end_us = scene->now_us[0] > scene->now_us[1] ? scene->now_us[0] : scene->now_us[1];
        for (uint32_t rank = 0; rank < N; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, end_us + 5);
    }
    const struct cause *cause = &scene_analyse(scene)->causes[0];
    assert_int_equal(cause->ranks[0].rank, 1);
    assert_int_equal(cause->every, 0);
    scene_free(scene);
}

/* All work alike, and then for as long on rank 1 in each tenth step for the first half of the run, on rank 2 after; and
 * in one step of each half that is out of turn. */
static void it_is_known_when_each_rank_was_late(void **state)
{
    (void)state;
    enum { STEPS = 200, EVERY = 10, N = 3 };
    struct scene *scene = scene_make(N);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t end_us = 0, late = step < STEPS / 2 ? 1 : 2;
        bool has_more = step % EVERY == 0 || step == 33 || step == 147;
        for (uint32_t rank = 0; rank < N; rank++) {
            scene_work(scene, rank, "work", scene->now_us[rank] + 1000 + rank * 40 * !has_more);
            if (rank == late && has_more)
                scene_work(scene, rank, "extra", scene->now_us[rank] + 5000);
            end_us = scene->now_us[rank] > end_us ? scene->now_us[rank] : end_us;
        }
        for (uint32_t rank = 0; rank < N; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, end_us + 5);
    }
    const struct cause *cause = &scene_analyse(scene)->causes[0];
    assert_int_equal(cause->every, EVERY);
    assert_int_equal(cause->n_when_ranks, 2);
    for (int i = 0; i < 2; i++) {
        double early = 0, all = 0;
        for (int part = 0; part < WHEN_PARTS; part++) {
            all += (double)cause->when_ranks[i].ns[part];
            early += part < WHEN_PARTS / 2 ? (double)cause->when_ranks[i].ns[part] : 0;
        }
        assert_int_equal(cause->when_ranks[i].rank, i + 1);
        assert_true(i == 0 ? early > 0.95 * all : early < 0.05 * all);
    }
    const struct wait_site *site = scene_site(scene, WAIT_BARRIER);
    for (uint32_t i = 0; i < site->n_classes; i++) {
        assert_true(site->classes[i].nearest > 0 && site->classes[i].nearest != i + 1);
        assert_true(site->classes[i].distance > site->classes[i].distance_allowed);
    }
    scene_free(scene);
}

/* Rank 1 is late at the end, by as much as it was busy, with so many messages in between that nobody waits for. */
static void a_stall_is_done_in_one_go(void **state)
{
    (void)state;
    for (int n_messages = 0; n_messages <= 20; n_messages += 20) {
        struct scene *scene = scene_make(3);
        for (int i = 1; i <= n_messages; i++) {
            scene_work(scene, 1, "work", (uint64_t)i * 1000);
            scene_send(scene, 1, 2, 0, (uint64_t)i * 1000 + 5);
        }
        scene_work(scene, 1, "work", 22000);
        for (uint32_t rank = 0; rank < 3; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 22005);
        for (int i = 1; i <= n_messages; i++)
            scene_receive(scene, 2, 1, 0, 22005 + (uint64_t)i);
        const struct cause *cause = &scene_analyse(scene)->causes[0];
        assert_int_equal(cause->ranks[0].rank, 1);
        assert_int_equal(cause->stall_ns > 0, n_messages == 0);
        scene_free(scene);
    }
}

/* A message from each of four neighbours, received one after another in each step; one of them is late. The receiver
 * waits at each fourth call, and in every step, however long it is inside MPI meanwhile. */
static void a_loop_over_neighbours_is_no_rhythm(void **state)
{
    (void)state;
    enum { STEPS = 40, N = 5 };
    const struct {
        uint32_t late;
        uint64_t transfer_us;
    } cases[] = {{3, 5}, {1, 5}, {1, 400}, {1, 1000}, {4, 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *scene = scene_make(N);
        for (uint32_t step = 0; step < STEPS; step++) {
            uint64_t begin_us = scene->now_us[0], late_us = begin_us + 2005 + 3 * cases[i].transfer_us;
            for (uint32_t rank = 1; rank < N; rank++) {
                uint64_t until_us = rank == cases[i].late ? late_us : begin_us + 1005;
                scene_work(scene, rank, "work", until_us - 5);
                scene_send(scene, rank, 0, 0, until_us);
            }
            scene_work(scene, 0, "work", begin_us + 1010);
            for (uint32_t rank = 1; rank < N; rank++) {
                uint64_t now_us = rank == cases[i].late ? late_us : scene->now_us[0] + 2;
                scene_receive(scene, 0, rank, 0, now_us + cases[i].transfer_us);
            }
        }
        const struct cause *cause = &scene_analyse(scene)->causes[0];
        assert_int_equal(cause->ranks[0].rank, cases[i].late);
        assert_int_equal(cause->every, 0);
        scene_free(scene);
    }
}

static void wait_for(struct scene *scene, uint32_t rank, struct event done, uint64_t leave_us)
{
    scene_enter(scene, rank, WW_ID_Wait, scene->now_us[rank]);
    done.loc = rank;
    done.time_ns = leave_us * 1000;
    scene_event(scene, done);
    scene_leave(scene, rank, WW_ID_Wait, leave_us);
}

/* Rank 0 waits for a message of rank 1, and then for both to have begun a reduction, by one call of MPI_Wait. Each of
 * them is every second call, and both are in every step. */
static void two_waits_of_one_call_are_no_rhythm(void **state)
{
    (void)state;
    enum { STEPS = 40, STEP_US = 5000 };
    struct scene *scene = scene_make(2);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t begin_us = step * STEP_US, request[2], message = scene_irecv(scene, 0, begin_us + 2);
        scene_work(scene, 0, "work", begin_us + 800);
        scene_work(scene, 1, "late", begin_us + 1800);
        scene_send(scene, 1, 0, 1, begin_us + 1805);
        wait_for(scene, 0, (struct event){.kind = EV_IRECV_DONE, .peer = 1, .tag = 1, .request = message},
                 begin_us + 1810);
        scene_work(scene, 0, "work", begin_us + 2400);
        scene_work(scene, 1, "late", begin_us + 4000);
        for (uint32_t rank = 0; rank < 2; rank++)
            request[rank] = scene_icollective(scene, rank, WW_ID_Iallreduce, begin_us + (rank ? 4002 : 2402));
        for (uint32_t rank = 0; rank < 2; rank++)
            wait_for(
                scene, rank,
                (struct event){
                    .kind = EV_ICOLL_DONE, .coll = WW_COLL_ALLREDUCE, .peer = TRACE_NONE, .request = request[rank]},
                begin_us + 4010);
        scene_work(scene, 1, "late", begin_us + STEP_US);
        scene_work(scene, 0, "work", begin_us + STEP_US);
    }
    const struct cause *cause = &scene_analyse(scene)->causes[0];
    assert_int_equal(cause->ranks[0].rank, 1);
    assert_int_equal(cause->n_sites, 2);
    assert_int_equal(scene_site(scene, WAIT_ICOLL)->classes[0].when.every, 2);
    assert_int_equal(cause->every, 0);
    double n_calls = 0;
    for (int part = 0; part < WHEN_PARTS; part++)
        n_calls += cause->when_n[part];
    assert_float_equal(n_calls, cause->sites[0].n_calls + cause->sites[1].n_calls, 1e-6);
    scene_free(scene);
}

/* The same code makes rank 0 late at a barrier and rank 1 late at a reduction, in each step. */
static void each_call_tells_who_is_late_there(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    for (int step = 0; step < 20; step++)
        for (uint32_t late = 0; late < 2; late++) {
            uint64_t begin_us = scene->now_us[0];
            for (uint32_t rank = 0; rank < 3; rank++)
                scene_work(scene, rank, "shared", begin_us + (rank == late ? 3000 : 1000));
            for (uint32_t rank = 0; rank < 3; rank++)
                scene_collective(scene, rank, late ? WW_ID_Allreduce : WW_ID_Barrier, TRACE_NONE, begin_us + 3005);
        }
    const struct analysis *analysis = scene_analyse(scene);
    const struct cause *cause = &analysis->causes[0];
    assert_int_equal(cause->n_late, 2);
    assert_int_equal(cause->n_sites, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(cause->sites[i].n_late, 1);
        assert_int_equal(cause->sites[i].late[0], analysis->sites[cause->sites[i].site].kind != WAIT_BARRIER);
    }
    scene_free(scene);
}

/* Rank 1 has much more to do in each fifth step, and a little more of the same in all: the little is felt more often,
 * but it is not what ranks wait for. */
static void short_waits_in_between_hide_no_rhythm(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    for (int step = 1; step <= 60; step++) {
        uint64_t begin_us = scene->now_us[0];
        scene_work(scene, 0, "work", begin_us + 1000);
        scene_work(scene, 1, "work", begin_us + 1000);
        uint64_t end_us = begin_us + (step % 5 == 0 ? 9000 : 1180);
        scene_work(scene, 1, "grid", end_us);
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, end_us + 5);
    }
    const struct cause *cause = &scene_analyse(scene)->causes[0];
    assert_int_equal(scene_site(scene, WAIT_BARRIER)->n_classes, 2);
    assert_int_equal(cause->sites[0].n_calls, 60 / 5);
    assert_int_equal(cause->every, 5);
    scene_free(scene);
}

/* Of three ranks one works all through the run, one from the middle on: waits of many parts count in each of them. */
static void a_wait_counts_in_every_part_that_it_reaches_into(void **state)
{
    (void)state;
    enum { PART_US = 1000, RUN_US = WHEN_PARTS * PART_US };
    struct scene *scene = scene_make(3);
    scene_work(scene, 0, "work", RUN_US - 10);
    scene_work(scene, 1, "work", PART_US / 2);
    scene_work(scene, 2, "work", RUN_US / 2);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, RUN_US);
    const struct cause *cause = &scene_analyse(scene)->causes[0];
    double sum_ns = 0;
    for (int part = 0; part < WHEN_PARTS; part++) {
        double waiting_us = part == 0 ? PART_US / 2 : part < WHEN_PARTS / 2 ? PART_US : 2 * PART_US;
        assert_float_equal(cause->when_ns[part], 1e3 * waiting_us, 25e3);
        sum_ns += cause->when_ns[part];
    }
    assert_true(sum_ns == cause->waiting_ns);
    assert_true(cause->waiting_ns == 1e3 * (2 * (RUN_US - 10) - PART_US / 2 - RUN_US / 2));
    scene_free(scene);
}

/* Rank 1 works for long once; in other steps ranks are late by a little, each at times. */
static void waiting_that_comes_once_is_a_stall(void **state)
{
    (void)state;
    enum { STEPS = 40, N = 3 };
    for (int n_long = 1; n_long <= 2; n_long++) {
        struct scene *scene = scene_make(N);
        uint64_t began_us = 0;
        for (uint32_t step = 0; step < STEPS; step++) {
            uint64_t late_us[N] = {0};
            late_us[step % N] = 3;
            if (step == 10 || (step == 20 && n_long == 2)) {
                began_us = step == 10 ? scene->now_us[0] + 1000 : began_us;
                late_us[1] = 200000;
            }
            work_and_meet(scene, N, late_us);
        }
        const struct cause *cause = &scene_analyse(scene)->causes[0];
        if (n_long == 1) {
            assert_float_equal(cause->stall_ns, 200e6, 1e6);
            assert_float_equal(cause->stall_after_ns, 1e3 * (double)began_us, 20e3);
        } else
            assert_true(cause->stall_ns == 0);
        scene_free(scene);
    }
}

/* In the first half rank 1 takes 1000 us longer, in the second rank 0 has no CPU for 3000 us of each step. */
static void it_is_known_when_the_machine_held_up_ranks(void **state)
{
    (void)state;
    enum { STEPS = 64, STEP_US = 5000 };
    struct scene *scene = scene_make(2);
    for (uint64_t step = 0; step < STEPS; step++) {
        bool is_off = step >= STEPS / 2;
        uint64_t begin_us = step * STEP_US, late_us = begin_us + STEP_US - 10;
        if (is_off)
            scene_event(scene,
                        (struct event){.kind = EV_OFF, .time_ns = (late_us - 3000) * 1000, .flags = WW_SW_PREEMPTED});
        if (is_off)
            scene_event(scene, (struct event){.kind = EV_ON, .time_ns = late_us * 1000});
        scene->now_us[0] = is_off ? late_us : late_us - 1000;
        scene->now_us[1] = is_off ? late_us - 3000 : late_us;
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, begin_us + STEP_US);
    }
    const struct machine *machine = &scene_analyse(scene)->machine;
    double halves_ns[2] = {0};
    for (int part = 0; part < WHEN_PARTS; part++)
        halves_ns[2 * part / WHEN_PARTS] += machine->when_ns[part];
    assert_float_equal(halves_ns[0] + halves_ns[1], machine->waiting_ns, 1);
    assert_true(machine->waiting_ns > 90e6 && halves_ns[1] > 0.95 * machine->waiting_ns);
    scene_free(scene);
}

/* Each rank works behind a call of its own, rank 0 for a tenth longer; and it has no CPU for half as long. */
static void the_machine_is_not_blamed_on_other_work(void **state)
{
    (void)state;
    enum { STEPS = 64, STEP_US = 5000 };
    struct scene *scene = scene_make(2);
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t begin_us = step * STEP_US;
        for (uint32_t rank = 0; rank < 2; rank++) {
            enum ww_call_id call = rank ? WW_ID_Comm_size : WW_ID_Comm_rank;
            scene_enter(scene, rank, call, begin_us);
            scene_leave(scene, rank, call, begin_us + 1);
            scene->now_us[rank] = begin_us + (rank ? 2001 : 3201);
        }
        scene_event(scene,
                    (struct event){.kind = EV_OFF, .time_ns = (begin_us + 1000) * 1000, .flags = WW_SW_PREEMPTED});
        scene_event(scene, (struct event){.kind = EV_ON, .time_ns = (begin_us + 2000) * 1000});
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, begin_us + STEP_US);
    }
    const struct analysis *analysis = scene_analyse(scene);
    assert_float_equal(analysis->machine.waiting_ns, STEPS * 1e6, 0.02 * STEPS * 1e6);
    assert_float_equal(analysis->waiting_ns, STEPS * 1.2e6, 0.02 * STEPS * 1e6);
    scene_free(scene);
}

/* Rank 0 sends for 100 us, and rank 1 receives for as long: that is on both sides of the wait that follows, for what
 * rank 0 does then. */
static void a_message_takes_as_long_on_both_its_ends(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    for (int step = 0; step < 10; step++) {
        uint64_t begin_us = scene->now_us[0];
        scene_send(scene, 0, 1, 7, begin_us + 100);
        scene_receive(scene, 1, 0, 7, begin_us + 100);
        scene_work(scene, 0, "work", begin_us + 150);
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, begin_us + 151);
    }
    scene_analyse(scene);
    assert_true(scene_waiting(scene, WAIT_BARRIER, 1) > 499);
    assert_true(scene_blame(scene, "work", 0) > 499);
    assert_true(scene_blame(scene, "MPI_Send", 0) < 1);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_ranks_carry_the_blame_together),
        cmocka_unit_test(chance_does_not_make_one_rank_late),
        cmocka_unit_test(who_carries_most_is_named_alone),
        cmocka_unit_test(who_spends_as_long_is_named_with_the_late),
        cmocka_unit_test(it_is_known_when_each_rank_was_late),
        cmocka_unit_test(what_comes_now_and_then_has_no_pace),
        cmocka_unit_test(a_stall_is_done_in_one_go),
        cmocka_unit_test(a_loop_over_neighbours_is_no_rhythm),
        cmocka_unit_test(two_waits_of_one_call_are_no_rhythm),
        cmocka_unit_test(each_call_tells_who_is_late_there),
        cmocka_unit_test(short_waits_in_between_hide_no_rhythm),
        cmocka_unit_test(a_wait_counts_in_every_part_that_it_reaches_into),
        cmocka_unit_test(waiting_that_comes_once_is_a_stall),
        cmocka_unit_test(it_is_known_when_the_machine_held_up_ranks),
        cmocka_unit_test(the_machine_is_not_blamed_on_other_work),
        cmocka_unit_test(a_message_takes_as_long_on_both_its_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
