/* SPDX-License-Identifier: BSD-3-Clause */
/* Polling: what was waiting in it, and what of it was the poller's own doing. */
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_us(value, expected) assert_true(fabs((value) - (expected)) < 1e-3)

/* Failing polls from now on; n_polls 0: they go on with those before. */
static void poll(struct scene *scene, uint32_t rank, enum ww_call_id call, uint64_t n_polls, uint64_t leave_us)
{
    scene_enter(scene, rank, call, scene->now_us[rank]);
    scene_event(scene, (struct event){.kind = EV_POLLS, .loc = rank, .time_ns = leave_us * 1000, .bytes = n_polls});
    scene_leave(scene, rank, call, leave_us);
}

static void receive_by_test(struct scene *scene, uint32_t rank, uint64_t request, bool is_after_nap, uint64_t leave_us)
{
    scene_enter(scene, rank, WW_ID_Test, scene->now_us[rank]);
    if (is_after_nap)
        scene_event(scene, (struct event){.kind = EV_POLLS, .loc = rank, .time_ns = leave_us * 1000});
    scene_event(
        scene,
        (struct event){
            .kind = EV_IRECV_DONE, .loc = rank, .time_ns = leave_us * 1000, .peer = 0, .tag = 1, .request = request});
    scene_leave(scene, rank, WW_ID_Test, leave_us);
}

static void probe(struct scene *scene, uint32_t rank, enum ww_call_id call, uint64_t leave_us)
{
    scene_enter(scene, rank, call, scene->now_us[rank]);
    scene_event(scene, (struct event){.kind = EV_PROBED, .loc = rank, .time_ns = leave_us * 1000, .peer = 0, .tag = 1});
    scene_leave(scene, rank, call, leave_us);
}

/* Rank 0 sends at 300; both meet in a barrier when rank 1 has received at `until_us`. */
static void send_and_meet(struct scene *scene, uint64_t until_us)
{
    scene_work(scene, 0, "slow", 300);
    scene_send(scene, 0, 1, 1, 301);
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, until_us + 5);
    scene_analyse(scene);
}

/* Rank 0 polls from 100 on until what it sends has been received. */
static void polls_for_a_send_wait_for_its_receiver(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_isend(scene, 0, 1, 1, 2);
    scene_work(scene, 0, "quick", 100);
    poll(scene, 0, WW_ID_Test, 1000, 410);
    scene_enter(scene, 0, WW_ID_Test, 410);
    scene_event(scene, (struct event){.kind = EV_ISEND_DONE, .loc = 0, .time_ns = 411000, .request = request});
    scene_leave(scene, 0, WW_ID_Test, 411);
    scene_work(scene, 1, "slow", 400);
    scene_receive(scene, 1, 0, 1, 430);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_RECEIVER, 0), 300);
    assert_us(scene_blame(scene, "slow", 1), 300);
    scene_free(scene);
}

/* Rank 1 looks at 100 and at 510, after two naps: the first look after the message came in vain. */
static void the_rest_of_a_nap_is_the_own_doing(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 1, "quick", 100);
    poll(scene, 1, WW_ID_Test, 10, 110);
    scene_work(scene, 1, "nap", 410);
    poll(scene, 1, WW_ID_Test, 0, 412);
    scene_work(scene, 1, "nap", 510);
    receive_by_test(scene, 1, request, true, 512);
    send_and_meet(scene, 512);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 200);
    assert_us(scene_blame(scene, "slow", 0), 200);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 0), 211);
    assert_true(scene_blame(scene, "nap", 1) > 205);
    assert_string_equal(scene_site(scene, WAIT_LATE_SENDER)->call, "MPI_Test");
    assert_us((scene->analysis->efficiency.compute_ns + scene->analysis->efficiency.transfer_ns) / 1000,
              300 + 1 + 98 + 208 + 2 + 2 + 2 + 2 * 5);
    scene_free(scene);
}

/* The same without the sign that it was a nap: work ends the polling, and nothing is known to have been waited for. */
static void work_between_polls_ends_the_polling(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 1, "quick", 100);
    poll(scene, 1, WW_ID_Test, 10, 110);
    scene_work(scene, 1, "works", 510);
    receive_by_test(scene, 1, request, false, 512);
    send_and_meet(scene, 512);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 0);
    assert_true(scene_blame(scene, "works", 1) > 150);
    scene_free(scene);
}

/* By turns for what it sends and for what it receives: the place and the name of the wait are those of what came. */
static void polls_by_turns_wait_where_something_came(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 1, "quick", 100);
    poll(scene, 1, WW_ID_Testall, 1000, 510);
    receive_by_test(scene, 1, request, false, 512);
    send_and_meet(scene, 512);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 200);
    assert_string_equal(scene_site(scene, WAIT_LATE_SENDER)->call, "MPI_Test");
    scene_free(scene);
}

/* Between two polls the program completes requests that it has not begun, as MPI_Wait does for MPI_REQUEST_NULL. */
static void completing_no_request_does_not_end_the_polling(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 1, "quick", 100);
    scene_enter(scene, 1, WW_ID_Wait, 100);
    scene_leave(scene, 1, WW_ID_Wait, 101);
    while (scene->now_us[1] < 500) {
        poll(scene, 1, WW_ID_Test, 1, scene->now_us[1] + 10);
        scene_enter(scene, 1, WW_ID_Wait, scene->now_us[1]);
        scene_leave(scene, 1, WW_ID_Wait, scene->now_us[1] + 1);
    }
    receive_by_test(scene, 1, request, false, 512);
    send_and_meet(scene, 512);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 300 - 101);
    assert_us(scene_blame(scene, "slow", 0), 300 - 101);
    assert_string_equal(scene_site(scene, WAIT_LATE_SENDER)->call, "MPI_Test");
    scene_free(scene);
}

/* What was found is known: the wait ends there, however long it takes until the receive. */
static void a_probe_that_succeeds_ends_the_wait(void **state)
{
    (void)state;
    for (int blocking = 0; blocking < 2; blocking++) {
        struct scene *scene = scene_make(2);
        scene_work(scene, 1, "quick", 100);
        if (!blocking)
            poll(scene, 1, WW_ID_Iprobe, 1000, 302);
        probe(scene, 1, blocking ? WW_ID_Probe : WW_ID_Iprobe, 303);
        scene_work(scene, 1, "prepares", 800);
        scene_receive(scene, 1, 0, 1, 803);
        send_and_meet(scene, 803);
        assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 200);
        assert_us(scene_blame(scene, "slow", 0), 200);
        assert_string_equal(scene_site(scene, WAIT_LATE_SENDER)->call, blocking ? "MPI_Probe" : "MPI_Iprobe");
        assert_true(scene_blame(scene, "prepares", 1) > 490);
        scene_free(scene);
    }
}

/* More calls than are kept apart: two requests are polled in turn, 2 us each and 1 between. */
static void long_polling_keeps_what_comes_after_the_release(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 1, "quick", 100);
    for (uint64_t at_us = 100; at_us < 400; at_us += 6) {
        poll(scene, 1, WW_ID_Test, 1, at_us + 2);
        scene_work(scene, 1, "between", at_us + 3);
        poll(scene, 1, WW_ID_Testall, 1, at_us + 5);
        scene_work(scene, 1, "between", at_us + 6);
    }
    receive_by_test(scene, 1, request, false, 402);
    send_and_meet(scene, 402);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 200);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 0), 101);
    assert_true(fabs(scene_blame(scene, "between", 1) - 100. / 3) < 2);
    scene_free(scene);
}

/* A loop of MPI_Test with naps between, as it is recorded: it is parted at the last two naps. */
static void test_with_naps(struct scene *scene, uint32_t rank, uint64_t request, uint64_t n_naps, uint64_t nap_us)
{
    uint64_t parted = n_naps < 2 ? n_naps : 2;
    if (n_naps)
        poll(scene, rank, WW_ID_Test, n_naps, scene->now_us[rank] + (n_naps - parted) * (nap_us + 1) + 1);
    for (uint64_t i = 0; i < parted; i++) {
        scene_work(scene, rank, "nap", scene->now_us[rank] + nap_us);
        if (i + 1 < parted)
            poll(scene, rank, WW_ID_Test, 0, scene->now_us[rank] + 1);
    }
    scene_enter(scene, rank, WW_ID_Test, scene->now_us[rank]);
    uint64_t leave_us = scene->now_us[rank] + 1;
    if (n_naps)
        scene_event(scene, (struct event){.kind = EV_POLLS, .loc = rank, .time_ns = leave_us * 1000});
    scene_event(scene, (struct event){.kind = EV_ICOLL_DONE,
                                      .loc = rank,
                                      .time_ns = leave_us * 1000,
                                      .coll = WW_COLL_BARRIER,
                                      .peer = TRACE_NONE,
                                      .request = request});
    scene_leave(scene, rank, WW_ID_Test, leave_us);
}

/* How many naps each member takes until a barrier that started at `start_us` is complete for it. It goes on in rounds,
 * like those of MPI libraries that have no thread of their own: in round k a member needs that another one, 2^k before
 * it, has come that far, and goes on when it looks. */
static void barrier_in_rounds(const uint64_t *start_us, uint32_t n, uint64_t nap_us, uint64_t *n_naps)
{
    uint32_t round[SCENE_RANKS_MAX] = {0}, n_done = 0;
    uint64_t look_us[SCENE_RANKS_MAX];
    memcpy(look_us, start_us, n * sizeof *start_us);
    memset(n_naps, 0, n * sizeof *n_naps);
    while (n_done < n) {
        uint32_t next = TRACE_NONE;
        for (uint32_t rank = 0; rank < n; rank++)
            if (1u << round[rank] < n && (next == TRACE_NONE || look_us[rank] < look_us[next]))
                next = rank;
        for (uint32_t from; 1u << round[next] < n; round[next]++) {
            from = (next + n - (1u << round[next])) % n;
            if (start_us[from] > look_us[next] || round[from] < round[next])
                break;
        }
        n_done += 1u << round[next] >= n;
        if (1u << round[next] < n) {
            n_naps[next]++;
            look_us[next] += nap_us + 1;
        }
    }
}

/* All start a barrier again and again, one comes late, everybody naps until it is complete. */
static void naps_do_not_take_the_blame_of_the_late_member(void **state)
{
    (void)state;
    static const struct {
        uint32_t n;
        uint64_t nap_us, short_us, long_us;
        double least;
    } cases[] = {{4, 200, 20000, 60000, 0.97}, {64, 2000, 20000, 200000, 0.9}, {64, 2000, 10000, 60000, 0.7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t n = cases[i].n, late = n - 1;
        struct scene *scene = scene_make(n);
        for (uint32_t step = 0; step < 20; step++) {
            uint64_t start_us[SCENE_RANKS_MAX], n_naps[SCENE_RANKS_MAX], request[SCENE_RANKS_MAX];
            for (uint32_t rank = 0; rank < n; rank++) {
                uint64_t skew_us = (rank * 7919 + step * 104729) % 200;
                scene_work(scene, rank, rank == late ? "long" : "short",
                           scene->now_us[rank] + skew_us + (rank == late ? cases[i].long_us : cases[i].short_us));
                request[rank] = scene_icollective(scene, rank, WW_ID_Ibarrier, scene->now_us[rank] + 2);
                start_us[rank] = scene->now_us[rank];
            }
            barrier_in_rounds(start_us, n, cases[i].nap_us, n_naps);
            for (uint32_t rank = 0; rank < n; rank++)
                test_with_naps(scene, rank, request[rank], n_naps[rank], cases[i].nap_us);
        }
        scene_analyse(scene);
        assert_true(scene_blame(scene, "long", late) > cases[i].least * scene->analysis->waiting_ns / 1000);
        scene_free(scene);
    }
}

/* Rank 0 comes late, looks once, naps and looks again; rank 1 naps until it has come. Each goes on when it looks, so
 * both need a look of the other one after rank 0 has come: rank 0 goes on from one that rank 1 takes while it still
 * waits. */
static void who_goes_on_from_a_nap_does_not_wait_for_itself(void **state)
{
    (void)state;
    enum { NAP_US = 280, NAPS = 23, BEFORE_LOOK_US = 150 };
    struct scene *scene = scene_make(2);
    for (uint32_t step = 0; step < 20; step++) {
        scene_work(scene, 1, "short", scene->now_us[1] + 1000);
        uint64_t looks_us = scene->now_us[1] + 2 + (NAPS - 1) * (NAP_US + 1);
        scene_work(scene, 0, "long", looks_us - BEFORE_LOOK_US);
        for (uint32_t rank = 0; rank < 2; rank++) {
            uint64_t request = scene_icollective(scene, rank, WW_ID_Ibarrier, scene->now_us[rank] + 2);
            test_with_naps(scene, rank, request, rank ? NAPS : 1, NAP_US);
        }
    }
    scene_analyse(scene);
    assert_true(scene_blame(scene, "long", 0) > 0.9 * scene->analysis->waiting_ns / 1000);
    scene_free(scene);
}

/* Rank 0 looks for a message for 8 s, with naps, and is killed in one; or it looks now and then while it works, and is
 * killed at work; or it works at last for longer than it had looked. */
static void looks_to_the_end_are_no_transfer(void **state)
{
    (void)state;
    enum { NAPS, LOOKS_AT_WORK, LEAVES, CASES };
    for (int i = 0; i < CASES; i++) {
        struct scene *scene = scene_make(2);
        uint64_t end_us = i == LEAVES ? 20000000 : 8300000;
        scene_work(scene, 0, "quick", 10);
        if (i == LOOKS_AT_WORK) {
            for (uint64_t at_us = 0; at_us < 8000000; at_us += 500000) {
                poll(scene, 0, WW_ID_Iprobe, 1, at_us + 20);
                scene_work(scene, 0, "work", at_us + 500000);
            }
        } else
            poll(scene, 0, WW_ID_Iprobe, 30, 8000000);
        scene_work(scene, 0, i == NAPS ? "nap" : "work", end_us);
        scene->trace->locations[0].end_how = WW_END_NONE;
        scene->trace->locations[0].end_ns = end_us * 1000;
        scene_event(scene, (struct event){.kind = EV_END, .loc = 0, .time_ns = end_us * 1000, .flags = WW_END_NONE});
        scene_enter(scene, 1, WW_ID_Finalize, 100);
        scene_event(scene, (struct event){.kind = EV_END, .loc = 1, .time_ns = end_us * 1000, .flags = WW_END_NONE});
        const struct analysis *analysis = scene_analyse(scene);
        assert_int_equal(analysis->n_open_waits, i == NAPS);
        if (i == NAPS) {
            assert_true(analysis->open_waits[0].probes && analysis->open_waits[0].dur_ns == (end_us - 10) * 1000);
            assert_int_equal(scene_answer(scene), ANSWER_HANG);
            assert_true(analysis->efficiency.transfer_ns < 1000);
        }
        scene_free(scene);
    }
}

static void leave_outside(struct scene *scene, uint32_t rank, enum ww_call_id call, uint64_t leave_us)
{
    scene_event(scene, (struct event){.kind = EV_OUTSIDE, .loc = rank, .time_ns = leave_us * 1000});
    scene_leave(scene, rank, call, leave_us);
}

/* A rank alone with processes that it has spawned: it looks for their messages with naps between, or waits for one. */
static void who_polls_for_spawned_processes_waits_for_them(void **state)
{
    (void)state;
    for (int has_polls = 0; has_polls < 2; has_polls++) {
        struct scene *scene = scene_make(1);
        scene_work(scene, 0, "work", 100);
        if (has_polls) {
            poll(scene, 0, WW_ID_Iprobe, 20, 300);
            scene_work(scene, 0, "nap", 350);
            poll(scene, 0, WW_ID_Iprobe, 0, 351);
            scene_work(scene, 0, "nap", 400);
        }
        enum ww_call_id call = has_polls ? WW_ID_Iprobe : WW_ID_Mprobe;
        scene_enter(scene, 0, call, scene->now_us[0]);
        leave_outside(scene, 0, call, 401);
        scene_enter(scene, 0, WW_ID_Recv, 401);
        leave_outside(scene, 0, WW_ID_Recv, 403);
        scene_work(scene, 0, "work", 450);
        const struct analysis *analysis = scene_analyse(scene);
        assert_us(analysis->outside.ns / 1000, 303);
        assert_int_equal(analysis->outside.n_places, 2);
        assert_us(analysis->outside.places[0].ns / 1000, 301);
        assert_us(analysis->efficiency.transfer_ns / 1000, 0);
        assert_us(analysis->efficiency.compute_ns / 1000, 147);
        assert_int_equal(scene_answer(scene), ANSWER_ELSEWHERE);
        scene_free(scene);
    }
}

static void a_wait_for_spawned_processes_may_have_no_end(void **state)
{
    (void)state;
    struct scene *scene = scene_make(1);
    uint64_t end_ns = 8000000000;
    scene_work(scene, 0, "work", 10);
    scene_enter(scene, 0, WW_ID_Mprobe, 10);
    scene_event(scene, (struct event){.kind = EV_OUTSIDE, .time_ns = end_ns});
    scene_event(scene, (struct event){.kind = EV_END, .time_ns = end_ns, .flags = WW_END_NONE});
    const struct analysis *analysis = scene_analyse(scene);
    assert_int_equal(analysis->n_open_waits, 1);
    assert_true(analysis->open_waits[0].is_outside);
    assert_int_equal(scene_answer(scene), ANSWER_HANG);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_spawned_processes_may_have_no_end),
        cmocka_unit_test(who_polls_for_spawned_processes_waits_for_them),
        cmocka_unit_test(looks_to_the_end_are_no_transfer),
        cmocka_unit_test(polls_for_a_send_wait_for_its_receiver),
        cmocka_unit_test(the_rest_of_a_nap_is_the_own_doing),
        cmocka_unit_test(work_between_polls_ends_the_polling),
        cmocka_unit_test(polls_by_turns_wait_where_something_came),
        cmocka_unit_test(completing_no_request_does_not_end_the_polling),
        cmocka_unit_test(a_probe_that_succeeds_ends_the_wait),
        cmocka_unit_test(long_polling_keeps_what_comes_after_the_release),
        cmocka_unit_test(naps_do_not_take_the_blame_of_the_late_member),
        cmocka_unit_test(who_goes_on_from_a_nap_does_not_wait_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
