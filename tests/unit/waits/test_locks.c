/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks on windows: who is waited for, whether MPI takes them at once or later, and targets that are not there. */
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_us(value, expected) assert_true(fabs((value) - (expected)) < 1e-3)

enum { EXCLUSIVE = WW_LOCK_EXCLUSIVE, SHARED = WW_LOCK_SHARED, WINDOW = 3 };
static const uint32_t all = TRACE_NONE;

static void sync_window(struct scene *scene, uint32_t rank, enum ww_call_id call, struct event what, uint64_t leave_us)
{
    scene_enter(scene, rank, call, scene->now_us[rank]);
    what.kind = EV_RMA_SYNC, what.loc = rank, what.time_ns = leave_us * 1000;
    scene_event(scene, what);
    scene_leave(scene, rank, call, leave_us);
}

static void lock(struct scene *scene, uint32_t rank, uint32_t target, int type, uint64_t leave_us)
{
    sync_window(scene, rank, target == all ? WW_ID_Win_lock_all : WW_ID_Win_lock,
                (struct event){.peer = target, .tag = type, .window = WINDOW}, leave_us);
}

static void flush(struct scene *scene, uint32_t rank, uint32_t target, uint64_t leave_us)
{
    sync_window(scene, rank, WW_ID_Win_flush, (struct event){.peer = target, .window = WINDOW}, leave_us);
}

static void unlock(struct scene *scene, uint32_t rank, uint32_t target, uint64_t leave_us)
{
    sync_window(scene, rank, target == all ? WW_ID_Win_unlock_all : WW_ID_Win_unlock,
                (struct event){.peer = target, .window = WINDOW}, leave_us);
}

/* Rank 2 is the target. Rank 0 locks first and is long; its unlock is left when rank 1 is already in its own. */
static void a_lock_waits_for_the_unlock_that_excludes_it(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    lock(scene, 0, 2, EXCLUSIVE, 2);
    scene_work(scene, 0, "holds", 400);
    unlock(scene, 0, 2, 409);
    scene_work(scene, 1, "work", 100);
    lock(scene, 1, 2, EXCLUSIVE, 403);
    unlock(scene, 1, 2, 406);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LOCK, 1), 300);
    assert_true(scene_blame(scene, "holds", 0) > 297); /* the rest is its own MPI_Win_lock */
    assert_us(scene->analysis->waiting_ns / 1000, 300);
    assert_string_equal(scene_site(scene, WAIT_LOCK)->call, "MPI_Win_lock");
    scene_free(scene);
}

/* Where two locks exclude each other and their targets meet, rank 1 waits for rank 0. */
static void only_locks_that_exclude_each_other_are_waited_for(void **state)
{
    (void)state;
    static const struct {
        uint32_t target_held, target;
        int held, wanted;
        uint64_t window;
        double waiting_us;
    } cases[] = {
        {2, 2, EXCLUSIVE, EXCLUSIVE, WINDOW, 300},
        {2, 2, EXCLUSIVE, SHARED, WINDOW, 300},
        {2, 2, SHARED, EXCLUSIVE, WINDOW, 300},
        {2, 2, SHARED, SHARED, WINDOW, 0},
        {1, 2, EXCLUSIVE, EXCLUSIVE, WINDOW, 0},
        {2, 2, EXCLUSIVE, EXCLUSIVE, WINDOW + 1, 0},
        {TRACE_NONE, 2, SHARED, EXCLUSIVE, WINDOW, 300},
        {2, TRACE_NONE, EXCLUSIVE, SHARED, WINDOW, 300},
        {TRACE_NONE, TRACE_NONE, SHARED, SHARED, WINDOW, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *scene = scene_make(3);
        lock(scene, 0, cases[i].target_held, cases[i].held, 2);
        scene_work(scene, 0, "holds", 400);
        unlock(scene, 0, cases[i].target_held, 402);
        scene_work(scene, 1, "work", 100);
        sync_window(scene, 1, WW_ID_Win_lock,
                    (struct event){.peer = cases[i].target, .tag = cases[i].wanted, .window = cases[i].window}, 403);
        scene_analyse(scene);
        assert_us(scene->analysis->waiting_ns / 1000, cases[i].waiting_us);
        assert_us(scene_waiting(scene, WAIT_LOCK, 1), cases[i].waiting_us);
        scene_free(scene);
    }
}

/* Two processes have come back from MPI_Win_lock: the unlock waits, or the flush before it. */
/* Both were killed, rank 1 in locking rank 0, which nobody has locked: inside MPI, rank 0 would serve it. */
static void a_killed_run_has_no_deadlock_with_a_target_inside_mpi(void **state)
{
    (void)state;
    for (int is_inside = 0; is_inside < 2; is_inside++) {
        struct scene *scene = scene_make(2);
        scene_work(scene, 0, "work", 100);
        if (is_inside)
            scene_enter(scene, 0, WW_ID_Barrier, 100);
        scene_work(scene, 1, "work", 100);
        scene_enter(scene, 1, WW_ID_Win_lock, 100);
        scene_event(scene,
                    (struct event){.kind = EV_UNFINISHED, .loc = 1, .time_ns = 500000, .peer = 0, .tag = EXCLUSIVE});
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = 500000, .flags = WW_END_SIGNAL});
        const struct analysis *analysis = scene_analyse(scene);
        assert_int_equal(analysis->n_open_waits, 1 + is_inside);
        assert_int_equal(analysis->open_waits[is_inside].for_rank, is_inside ? TRACE_NONE : 0);
        assert_int_equal(analysis->n_deadlock, 0);
        scene_free(scene);
    }
}

static void deferred_locks_wait_in_the_unlock(void **state)
{
    (void)state;
    for (int flushes = 0; flushes < 2; flushes++) {
        struct scene *scene = scene_make(3);
        lock(scene, 0, 2, EXCLUSIVE, 2);
        scene_work(scene, 0, "holds", 400);
        unlock(scene, 0, 2, 402);
        scene_work(scene, 1, "work", 100);
        lock(scene, 1, 2, EXCLUSIVE, 102);
        if (flushes)
            flush(scene, 1, 2, 404);
        unlock(scene, 1, 2, flushes ? 500 : 404);
        scene_analyse(scene);
        assert_us(scene_waiting(scene, WAIT_LOCK, 1), 298);
        assert_true(scene_blame(scene, "holds", 0) > 295);
        assert_string_equal(scene_site(scene, WAIT_LOCK)->call, flushes ? "MPI_Win_flush" : "MPI_Win_unlock");
        assert_us(scene->analysis->waiting_ns / 1000, 298);
        scene_free(scene);
    }
}

/* Rank 0 asks first, but rank 1 gets the lock: rank 0's unlock, entered while rank 1 flushes, released nobody. */
static void an_unlock_that_waits_itself_lets_nobody_go(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    lock(scene, 0, 2, EXCLUSIVE, 1);
    lock(scene, 1, 2, EXCLUSIVE, 2);
    scene_work(scene, 0, "quick", 100);
    unlock(scene, 0, 2, 404);
    scene_work(scene, 1, "before", 90);
    flush(scene, 1, 2, 110);
    scene_work(scene, 1, "holds", 400);
    unlock(scene, 1, 2, 402);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LOCK, 0), 300);
    assert_us(scene_waiting(scene, WAIT_LOCK, 1), 0);
    scene_free(scene);
}

/* Ranks 0 and 1 share the lock, rank 2 waits for the later of them, and rank 3 for rank 2, hence for both. */
static void the_last_to_unlock_lets_go(void **state)
{
    (void)state;
    struct scene *scene = scene_make(4);
    static const uint64_t unlocks_us[] = {300, 200};
    for (uint32_t rank = 0; rank < 2; rank++) {
        lock(scene, rank, 3, SHARED, 2);
        scene_work(scene, rank, rank ? "short" : "long", unlocks_us[rank]);
        unlock(scene, rank, 3, unlocks_us[rank] + 1);
    }
    scene_work(scene, 2, "work", 50);
    lock(scene, 2, 3, EXCLUSIVE, 301);
    scene_work(scene, 2, "holds", 400);
    unlock(scene, 2, 3, 401);
    scene_work(scene, 3, "work", 60);
    lock(scene, 3, 3, EXCLUSIVE, 402);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LOCK, 2), 250);
    assert_us(scene_waiting(scene, WAIT_LOCK, 3), 340);
    assert_us(scene_blame(scene, "short", 1), 0);
    assert_true(scene_blame(scene, "long", 0) > 400);
    scene_free(scene);
}

/* Rank 1 flushes to rank 0, which computes; `alone`: but the first flush ended without it. */
static void flush_while_away(uint64_t ends_after_us, bool alone, double waiting_us)
{
    struct scene *scene = scene_make(2);
    lock(scene, 1, 0, SHARED, 2);
    scene_work(scene, 1, "work", 50);
    if (alone)
        flush(scene, 1, 0, 120);
    scene_work(scene, 1, "work", 150);
    scene_work(scene, 0, "computes", 400);
    flush(scene, 1, 0, 400 + ends_after_us);
    scene_send(scene, 0, 1, 7, 402);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), waiting_us);
    assert_us(scene_blame(scene, "computes", 0), waiting_us);
    assert_us(scene->analysis->waiting_ns / 1000, waiting_us);
    scene_free(scene);
}

static void a_target_outside_mpi_is_waited_for(void **state)
{
    (void)state;
    flush_while_away(5, false, 250);
}

static void a_target_that_is_not_needed_is_not_blamed(void **state)
{
    (void)state;
    flush_while_away(300, false, 0); /* lasts for another reason */
    flush_while_away(5, true, 0);    /* has been served without it */
}

/* Its own window is always at hand, and a target that waits in MPI is there. */
static void a_target_inside_mpi_is_not_waited_for(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "short", 50);
    scene_receive(scene, 0, 1, 7, 401);
    lock(scene, 1, 0, EXCLUSIVE, 2);
    scene_work(scene, 1, "work", 100);
    unlock(scene, 1, 0, 380);
    scene_send(scene, 1, 0, 7, 400);
    lock(scene, 1, 1, EXCLUSIVE, 500);
    unlock(scene, 1, 1, 501);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), 0);
    assert_us(scene_waiting(scene, WAIT_LOCK, 1), 0);
    scene_free(scene);
}

/* A process that is killed inside MPI_Win_unlock holds nobody's analysis up. */
static void an_unlock_that_never_ends_settles_at_the_end(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    lock(scene, 0, 2, EXCLUSIVE, 2);
    scene_work(scene, 0, "holds", 400);
    scene_enter(scene, 0, WW_ID_Win_unlock, 400);
    scene_work(scene, 1, "work", 100);
    lock(scene, 1, 2, EXCLUSIVE, 403);
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = 500000, .flags = WW_END_SIGNAL});
    const struct analysis *analysis = scene_analyse(scene);
    assert_int_equal(analysis->n_mpi_calls, 3);
    assert_us(analysis->waiting_ns, 0);
    scene_free(scene);
}

/* The holder is named, not the target, if it is known; several that share the lock are not told apart. */
static void a_lock_that_never_comes_is_waited_for(void **state)
{
    (void)state;
    static const struct {
        int held[2], wanted;
        uint32_t for_rank;
    } cases[] = {{{EXCLUSIVE, 0}, SHARED, 0},      {{SHARED, 0}, EXCLUSIVE, 0}, {{0, SHARED}, EXCLUSIVE, 1},
                 {{SHARED, SHARED}, EXCLUSIVE, 3}, {{SHARED, 0}, SHARED, 3},    {{0, 0}, EXCLUSIVE, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *scene = scene_make(4);
        for (uint32_t rank = 0; rank < 2; rank++)
            if (cases[i].held[rank])
                lock(scene, rank, 3, cases[i].held[rank], 10);
        scene_work(scene, 2, "work", 100);
        scene_enter(scene, 2, WW_ID_Win_lock, 100);
        scene_event(scene, (struct event){
                               .kind = EV_UNFINISHED, .loc = 2, .time_ns = 500000, .peer = 3, .tag = cases[i].wanted});
        for (uint32_t rank = 0; rank < 4; rank++)
            scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = 500000, .flags = WW_END_SIGNAL});
        const struct analysis *analysis = scene_analyse(scene);
        assert_int_equal(analysis->n_open_waits, 1);
        assert_int_equal(analysis->open_waits[0].for_rank, cases[i].for_rank);
        scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_waits_for_the_unlock_that_excludes_it),
        cmocka_unit_test(only_locks_that_exclude_each_other_are_waited_for),
        cmocka_unit_test(a_killed_run_has_no_deadlock_with_a_target_inside_mpi),
        cmocka_unit_test(deferred_locks_wait_in_the_unlock),
        cmocka_unit_test(an_unlock_that_waits_itself_lets_nobody_go),
        cmocka_unit_test(the_last_to_unlock_lets_go),
        cmocka_unit_test(a_target_outside_mpi_is_waited_for),
        cmocka_unit_test(a_target_that_is_not_needed_is_not_blamed),
        cmocka_unit_test(a_target_inside_mpi_is_not_waited_for),
        cmocka_unit_test(an_unlock_that_never_ends_settles_at_the_end),
        cmocka_unit_test(a_lock_that_never_comes_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
