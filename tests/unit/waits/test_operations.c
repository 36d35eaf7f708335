/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls wait for that name no target, and calls that complete one-sided operations with requests. */
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_us(value, expected) assert_true(fabs((value) - (expected)) < 1e-3)

enum { WINDOW = 3 };
static const uint32_t all = TRACE_NONE;

/* A call with one record on the window. */
static void call_window(struct scene *scene, uint32_t rank, enum ww_call_id call, struct event what, uint64_t leave_us)
{
    scene_enter(scene, rank, call, scene->now_us[rank]);
    what.loc = rank, what.time_ns = leave_us * 1000, what.window = WINDOW;
    scene_event(scene, what);
    scene_leave(scene, rank, call, leave_us);
}

static void sync_window(struct scene *scene, uint32_t rank, enum ww_call_id call, uint32_t target, uint64_t leave_us)
{
    call_window(scene, rank, call, (struct event){.kind = EV_RMA_SYNC, .peer = target, .tag = WW_LOCK_SHARED},
                leave_us);
}

static void put(struct scene *scene, uint32_t rank, uint32_t target, uint64_t leave_us)
{
    call_window(scene, rank, WW_ID_Put, (struct event){.kind = EV_RMA, .peer = target, .bytes = 8}, leave_us);
}

static void get_by_request(struct scene *scene, uint32_t rank, uint32_t target, uint64_t leave_us)
{
    call_window(scene, rank, WW_ID_Rget, (struct event){.kind = EV_RMA, .peer = target, .bytes_in = 8, .request = 5},
                leave_us);
}

static void wait_for_request(struct scene *scene, uint32_t rank, uint64_t leave_us)
{
    call_window(scene, rank, WW_ID_Wait, (struct event){.kind = EV_RMA_DONE, .request = 5}, leave_us);
}

/* Rank 1 has worked on rank 0, which computes until 400, and not on rank 2, which stays away. */
static void flush_all_waits_for_those_worked_on(void **state)
{
    (void)state;
    static const struct {
        bool works;
        enum ww_call_id call, before; /* before: another synchronisation */
        double waiting_us;
    } cases[] = {{true, WW_ID_Win_flush_all, 0, 390},
                 {true, WW_ID_Win_flush_local_all, 0, 390},
                 {true, WW_ID_Win_unlock_all, 0, 390},
                 {false, WW_ID_Win_flush_all, 0, 0},
                 {true, WW_ID_Win_flush_all, WW_ID_Win_flush_local_all, 385},
                 {true, WW_ID_Win_flush_all, WW_ID_Win_flush_all, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *scene = scene_make(3);
        sync_window(scene, 1, WW_ID_Win_lock_all, all, 5);
        if (cases[i].works)
            put(scene, 1, 0, 10);
        if (cases[i].before)
            sync_window(scene, 1, cases[i].before, all, 15);
        sync_window(scene, 1, cases[i].call, all, 405);
        scene_work(scene, 0, "computes", 400);
        scene_send(scene, 0, 1, 7, 402);
        scene_work(scene, 2, "elsewhere", 900);
        scene_analyse(scene);
        assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), cases[i].waiting_us);
        assert_us(scene_blame(scene, "computes", 0), cases[i].waiting_us);
        assert_us(scene->analysis->waiting_ns / 1000, cases[i].waiting_us);
        scene_free(scene);
    }
}

/* MPI_Win_lock_all asks everybody. */
static void lock_all_waits_for_the_last_to_come(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    sync_window(scene, 1, WW_ID_Win_lock_all, all, 604);
    static const uint64_t until_us[] = {400, 0, 600};
    for (uint32_t rank = 0; rank < 3; rank += 2) {
        scene_work(scene, rank, rank ? "longer" : "long", until_us[rank]);
        scene_send(scene, rank, 1, 7, until_us[rank] + 2);
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), 600);
    assert_us(scene_blame(scene, "longer", 2), 600);
    scene_free(scene);
}

static void a_request_waits_for_its_target(void **state)
{
    (void)state;
    for (int in_test = 0; in_test < 2; in_test++) {
        struct scene *scene = scene_make(3);
        sync_window(scene, 1, WW_ID_Win_lock_all, all, 5);
        get_by_request(scene, 1, 0, 10);
        if (in_test)
            call_window(scene, 1, WW_ID_Test, (struct event){.kind = EV_RMA_DONE, .request = 5}, 405);
        else
            wait_for_request(scene, 1, 405);
        scene_work(scene, 0, "computes", 400);
        scene_send(scene, 0, 1, 7, 402);
        scene_work(scene, 2, "elsewhere", 900);
        scene_analyse(scene);
        assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), 390);
        assert_us(scene_blame(scene, "computes", 0), 390);
        assert_string_equal(scene_site(scene, WAIT_PROGRESS)->call, in_test ? "MPI_Test" : "MPI_Wait");
        scene_free(scene);
    }
}

/* The message came last: the target's return released nobody, and is no evidence of anything. */
static void a_wait_for_more_than_that_is_left_alone(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    uint64_t request = scene_irecv(scene, 1, 2);
    get_by_request(scene, 1, 0, 10);
    scene_enter(scene, 1, WW_ID_Waitall, 10);
    scene_event(scene, (struct event){.kind = EV_RMA_DONE, .loc = 1, .time_ns = 505000, .request = 5});
    scene_event(
        scene,
        (struct event){.kind = EV_IRECV_DONE, .loc = 1, .time_ns = 505000, .peer = 2, .tag = 7, .request = request});
    scene_leave(scene, 1, WW_ID_Waitall, 505);
    scene_work(scene, 0, "computes", 400);
    scene_send(scene, 0, 1, 8, 402);
    scene_work(scene, 2, "sends", 500);
    scene_send(scene, 2, 1, 7, 502);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), 0);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 490);
    assert_us(scene_blame(scene, "computes", 0), 0);
    scene_free(scene);
}

/* Rank 0 keeps rank 2 locked; rank 1's lock of all is deferred, and what it does to rank 2 waits, to rank 0 not. */
static void a_deferred_lock_waits_in_the_request(void **state)
{
    (void)state;
    for (uint32_t target = 0; target < 3; target += 2) {
        struct scene *scene = scene_make(3);
        call_window(scene, 0, WW_ID_Win_lock, (struct event){.kind = EV_RMA_SYNC, .peer = 2, .tag = WW_LOCK_EXCLUSIVE},
                    2);
        scene_work(scene, 0, "holds", 400);
        sync_window(scene, 0, WW_ID_Win_unlock, 2, 402);
        scene_work(scene, 1, "work", 50);
        sync_window(scene, 1, WW_ID_Win_lock_all, all, 52);
        get_by_request(scene, 1, target, 404);
        wait_for_request(scene, 1, 406);
        sync_window(scene, 1, WW_ID_Win_unlock_all, all, 407);
        scene_analyse(scene);
        assert_us(scene_waiting(scene, WAIT_LOCK, 1), target ? 348 : 0);
        assert_true(!target || !strcmp(scene_site(scene, WAIT_LOCK)->call, "MPI_Rget"));
        scene_free(scene);
    }
}

/* What is local is served at once; the full flush is not, and a get is not what a put is. */
static void other_functions_and_operations_are_no_evidence(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        struct scene *scene = scene_make(2);
        sync_window(scene, 1, WW_ID_Win_lock_all, all, 5);
        put(scene, 1, 0, 40);
        sync_window(scene, 1, same ? WW_ID_Win_flush : WW_ID_Win_flush_local, 0, 60);
        put(scene, 1, 0, 70);
        sync_window(scene, 1, WW_ID_Win_flush, 0, 405);
        scene_work(scene, 0, "computes", 400);
        scene_send(scene, 0, 1, 7, 402);
        scene_analyse(scene);
        assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), same ? 0 : 330);
        scene_free(scene);
    }
}

/* The operation itself waits until the target comes, which may have left MPI only after the call had begun. */
static void a_put_waits_for_its_target_itself(void **state)
{
    (void)state;
    for (uint64_t left_us = 0; left_us <= 60; left_us += 60) {
        struct scene *scene = scene_make(2);
        scene_work(scene, 1, "short", 50);
        put(scene, 1, 0, 405);
        if (left_us)
            scene_send(scene, 0, 1, 7, left_us);
        scene_work(scene, 0, "computes", 400);
        scene_send(scene, 0, 1, 7, 402);
        scene_analyse(scene);
        assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), left_us ? 400 - left_us : 350);
        assert_true(scene_blame(scene, "computes", 0) > 0.8 * scene_waiting(scene, WAIT_PROGRESS, 1));
        scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_put_waits_for_its_target_itself),
        cmocka_unit_test(flush_all_waits_for_those_worked_on),
        cmocka_unit_test(lock_all_waits_for_the_last_to_come),
        cmocka_unit_test(a_request_waits_for_its_target),
        cmocka_unit_test(a_wait_for_more_than_that_is_left_alone),
        cmocka_unit_test(a_deferred_lock_waits_in_the_request),
        cmocka_unit_test(other_functions_and_operations_are_no_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
