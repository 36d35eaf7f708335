/* SPDX-License-Identifier: BSD-3-Clause */
/* Rooted collectives along trees: members that wait for another one than the root. */
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_us(value, expected) assert_true(fabs((value) - (expected)) < 1e-3)

enum { RANKS = 4, ROUND_US = 1000 };

/* Rounds of broadcasts from rank 0 at 100 of each; rank 2 enters at 600, rank 3 leaves at leaves_us, rank 1 at 101. */
static struct scene *broadcasts(uint32_t n_rounds, uint64_t leaves_us)
{
    static const char *const names[RANKS] = {"root", "leaf", "slow", "last"};
    static const uint64_t enters_us[RANKS] = {100, 60, 600, 50};
    struct scene *scene = scene_make(RANKS);
    uint64_t leave_us[RANKS] = {110, 101, 610, leaves_us};
    for (uint32_t round = 0; round < n_rounds; round++)
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            scene_work(scene, rank, names[rank], (uint64_t)round * ROUND_US + enters_us[rank]);
            scene_collective(scene, rank, WW_ID_Bcast, 0, (uint64_t)round * ROUND_US + leave_us[rank]);
        }
    scene_analyse(scene);
    return scene;
}

/* Rounds in which all write to a file together at 50, but for rank 1, which comes at 500. */
static struct scene *writes(uint32_t n_rounds, const uint64_t *leave_us)
{
    struct scene *scene = scene_make(RANKS);
    for (uint32_t round = 0; round < n_rounds; round++)
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            uint64_t begin_us = (uint64_t)round * ROUND_US, end_us = begin_us + leave_us[rank];
            scene_work(scene, rank, rank == 1 ? "slow" : "quick", begin_us + (rank == 1 ? 500 : 50));
            scene_enter(scene, rank, WW_ID_File_write_all, scene->now_us[rank]);
            scene_event(scene, (struct event){.kind = EV_IO, .loc = rank, .time_ns = end_us * 1000, .comm = 0});
            scene_leave(scene, rank, WW_ID_File_write_all, end_us);
        }
    scene_analyse(scene);
    return scene;
}

static void writing_together_waits_for_the_last_member(void **state)
{
    (void)state;
    struct scene *scene = writes(5, (const uint64_t[]){520, 530, 525, 540});
    for (uint32_t rank = 0; rank < RANKS; rank++)
        assert_us(scene_waiting(scene, WAIT_IO, rank), rank == 1 ? 0 : 4 * 450);
    assert_true(scene_blame(scene, "slow", 1) > 3 * 4 * 440);
    scene_free(scene);
}

/* Rank 0 is through before rank 1 comes, rank 2 writes for as long as it always does. */
static void writing_that_waits_for_nobody_is_no_wait(void **state)
{
    (void)state;
    struct scene *scene = writes(5, (const uint64_t[]){200, 530, 999, 999});
    for (uint32_t rank = 0; rank < RANKS; rank++)
        assert_us(scene_waiting(scene, WAIT_IO, rank), 0);
    scene_free(scene);
}

/* From the second round on: once it may be by chance. Up to the root's entry, the root was waited for for certain. */
static void a_member_behind_another_waits_for_that_one(void **state)
{
    (void)state;
    struct scene *scene = broadcasts(4, 615);
    assert_us(scene_waiting(scene, WAIT_LATE_MEMBER, 3), 3 * 500);
    assert_us(scene_waiting(scene, WAIT_LATE_BROADCAST, 3), 4 * 50);
    assert_us(scene_waiting(scene, WAIT_LATE_BROADCAST, 1), 4 * 40);
    assert_us(scene_waiting(scene, WAIT_LATE_MEMBER, 1), 0);
    assert_true(scene_blame(scene, "slow", 2) > 1450);
    scene_free(scene);
}

static void a_call_that_lasts_for_another_reason_waits_for_the_root(void **state)
{
    (void)state;
    struct scene *scene = broadcasts(4, 995 + 200);
    assert_us(scene_waiting(scene, WAIT_LATE_MEMBER, 3), 0);
    scene_free(scene);
}

/* In the second half rank 3 is through before rank 2 comes: it never depended on it. */
static void a_member_that_was_not_needed_once_is_not_blamed_again(void **state)
{
    (void)state;
    struct scene *scene = scene_make(RANKS);
    for (uint32_t round = 0; round < 8; round++) {
        uint64_t base_us = (uint64_t)round * ROUND_US;
        bool is_through = round == 1;
        scene_work(scene, 0, "root", base_us + 100);
        scene_collective(scene, 0, WW_ID_Bcast, 0, base_us + 110);
        scene_collective(scene, 1, WW_ID_Bcast, 0, base_us + 112);
        scene_work(scene, 2, "slow", base_us + 600);
        scene_collective(scene, 2, WW_ID_Bcast, 0, base_us + 610);
        scene_work(scene, 3, "last", base_us + 50);
        scene_collective(scene, 3, WW_ID_Bcast, 0, base_us + (is_through ? 120 : 620));
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_MEMBER, 3), 0);
    scene_free(scene);
}

/* Rank 1 of a reduction to rank 0 hands on what rank 3 gives it; the root waits for whoever is last, as ever. */
static void a_reduction_waits_for_its_branches(void **state)
{
    (void)state;
    struct scene *scene = scene_make(RANKS);
    for (uint32_t round = 0; round < 3; round++) {
        uint64_t base_us = (uint64_t)round * ROUND_US;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            static const uint64_t leave_us[RANKS] = {520, 510, 11, 502};
            scene_work(scene, rank, rank == 3 ? "slow" : "quick", base_us + (rank == 3 ? 500 : 10));
            scene_collective(scene, rank, WW_ID_Reduce, 0, base_us + leave_us[rank]);
        }
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_EARLY_REDUCE, 0), 3 * 490);
    assert_us(scene_waiting(scene, WAIT_LATE_MEMBER, 1), 2 * 490);
    assert_us(scene_waiting(scene, WAIT_LATE_MEMBER, 2), 0);
    scene_free(scene);
}

/* Libraries that double the prefix exchange it between two and two: rank 0 waits for rank 3, which it does not need. */
static void a_prefix_by_doubling_waits_for_later_members(void **state)
{
    (void)state;
    struct scene *scene = scene_make(RANKS);
    for (uint32_t round = 0; round < 4; round++) {
        uint64_t base_us = (uint64_t)round * ROUND_US;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            static const uint64_t enter_us[RANKS] = {100, 200, 110, 600};
            scene_work(scene, rank, rank == 3 ? "slow" : "work", base_us + enter_us[rank]);
            scene_collective(scene, rank, WW_ID_Scan, TRACE_NONE, base_us + 610);
        }
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_MEMBER, 0), 3 * 500);
    assert_us(scene_waiting(scene, WAIT_EARLY_SCAN, 2), 4 * 90);
    assert_us(scene_waiting(scene, WAIT_LATE_MEMBER, 2), 3 * 400);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writing_together_waits_for_the_last_member),
        cmocka_unit_test(writing_that_waits_for_nobody_is_no_wait),
        cmocka_unit_test(a_member_behind_another_waits_for_that_one),
        cmocka_unit_test(a_call_that_lasts_for_another_reason_waits_for_the_root),
        cmocka_unit_test(a_member_that_was_not_needed_once_is_not_blamed_again),
        cmocka_unit_test(a_reduction_waits_for_its_branches),
        cmocka_unit_test(a_prefix_by_doubling_waits_for_later_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
