/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI calls a reduction of the program's own: what that does is the program's work, for which others wait in their next
 * call, or in the same one.
 */
#include "tests/unit/scene/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void border(struct scene *scene, enum event_kind kind, uint32_t rank, uint32_t region, uint64_t time_us)
{
    scene_event(
        scene,
        (struct event){.kind = kind, .loc = rank, .region = region, .frame = TRACE_NONE, .time_ns = time_us * 1000});
}

/* Every rank enters MPI_Allreduce now. From a time on until merged_us it works on its parts, with what MPI calls; 0 =
 * it has none. */
static void reduce_parts(struct scene *scene, uint32_t region, const uint64_t from_us[2], const uint64_t merged_us[2],
                         const uint64_t leave_us[2])
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        scene_enter(scene, rank, WW_ID_Allreduce, scene->now_us[rank]);
        if (merged_us[rank]) {
            scene->now_us[rank] = from_us[rank];
            border(scene, EV_ENTER, rank, region, from_us[rank]);
            scene_work(scene, rank, "merge", merged_us[rank]);
            border(scene, EV_LEAVE, rank, region, merged_us[rank]);
        }
        scene_event(scene, (struct event){.kind = EV_COLL_END,
                                          .loc = rank,
                                          .time_ns = leave_us[rank] * 1000,
                                          .coll = WW_COLL_ALLREDUCE,
                                          .peer = TRACE_NONE});
        scene_leave(scene, rank, WW_ID_Allreduce, leave_us[rank]);
    }
}

/* Rank 1 alone, at once. */
static void reduce_own(struct scene *scene, uint32_t region, uint64_t merged_us, const uint64_t leave_us[2])
{
    reduce_parts(scene, region, (const uint64_t[]){0, scene->now_us[1] + 1}, (const uint64_t[]){0, merged_us},
                 leave_us);
}

static struct scene *make(uint32_t *region)
{
    struct scene *scene = scene_make(2);
    *region = trace_memory_region(scene->trace, "function called by MPI", false, WW_LOCAL, WW_COLL_NONE);
    scene->trace->regions[*region].is_callback = true;
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_work(scene, rank, "common", 100);
    return scene;
}

static void who_is_through_waits_in_its_next_call(void **state)
{
    (void)state;
    uint32_t region;
    struct scene *scene = make(&region);
    reduce_own(scene, region, 500, (const uint64_t[]){105, 501});
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 502);
    scene_analyse(scene);
    assert_float_equal(scene_waiting(scene, WAIT_BARRIER, 0), 396, 0.01);
    assert_float_equal(scene_blame(scene, "merge", 1), 396, 2);
    scene_free(scene);
}

static void who_needs_the_result_waits_in_the_same_call(void **state)
{
    (void)state;
    uint32_t region;
    struct scene *scene = make(&region);
    reduce_own(scene, region, 500, (const uint64_t[]){503, 502});
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 504);
    scene_analyse(scene);
    assert_float_equal(scene_waiting(scene, WAIT_PROGRESS, 0), 399, 0.01);
    assert_float_equal(scene_blame(scene, "merge", 1), 399, 2);
    scene_free(scene);
}

/* Rank 0 comes last: what rank 1 could do of its part before that keeps nobody. */
static void work_while_waiting_keeps_nobody(void **state)
{
    (void)state;
    uint32_t region;
    struct scene *scene = make(&region);
    scene_work(scene, 0, "late", 900);
    reduce_own(scene, region, 500, (const uint64_t[]){903, 903});
    scene_analyse(scene);
    assert_float_equal(scene_waiting(scene, WAIT_NXN, 1), 800, 0.01);
    assert_float_equal(scene_blame(scene, "late", 0), 800, 1);
    assert_float_equal(scene_blame(scene, "merge", 1), 0, 0.01);
    scene_free(scene);
}

/* Both begin their parts at nearly the same time. The one with the longer part ends when that does, and has not waited
 * for the other one's return. */
static void who_works_meanwhile_waits_for_nobody(void **state)
{
    (void)state;
    uint32_t region;
    struct scene *scene = make(&region);
    reduce_parts(scene, region, (const uint64_t[]){101, 103}, (const uint64_t[]){200, 500},
                 (const uint64_t[]){201, 501});
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 502);
    scene_analyse(scene);
    assert_float_equal(scene_waiting(scene, WAIT_PROGRESS, 1), 0, 0.01);
    assert_float_equal(scene_waiting(scene, WAIT_BARRIER, 0), 300, 0.01);
    assert_float_equal(scene_blame(scene, "merge", 0), 0, 0.1);
    assert_float_equal(scene_blame(scene, "merge", 1), 300, 4);
    scene_free(scene);
}

/* A rank that needs the other one's part waits from the end of its own. */
static void own_part_is_no_waiting(void **state)
{
    (void)state;
    uint32_t region;
    struct scene *scene = make(&region);
    reduce_parts(scene, region, (const uint64_t[]){103, 101}, (const uint64_t[]){200, 500},
                 (const uint64_t[]){503, 502});
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 504);
    scene_analyse(scene);
    assert_float_equal(scene_waiting(scene, WAIT_PROGRESS, 0), 300, 0.01);
    assert_float_equal(scene_blame(scene, "merge", 1), 300, 4);
    scene_free(scene);
}

/* One member of MPI_Scan, in which it works on its part from_us to merged_us, if MPI calls it for that. */
static void scan(struct scene *scene, uint32_t rank, uint32_t region, uint64_t from_us, uint64_t merged_us,
                 uint64_t leave_us)
{
    scene_enter(scene, rank, WW_ID_Scan, scene->now_us[rank]);
    if (merged_us) {
        border(scene, EV_ENTER, rank, region, from_us);
        scene->now_us[rank] = from_us;
        scene_work(scene, rank, "merge", merged_us);
        border(scene, EV_LEAVE, rank, region, merged_us);
    }
    scene_event(
        scene,
        (struct event){
            .kind = EV_COLL_END, .loc = rank, .time_ns = leave_us * 1000, .coll = WW_COLL_SCAN, .peer = TRACE_NONE});
    scene_leave(scene, rank, WW_ID_Scan, leave_us);
}

/* Along a chain, rank 1 has its prefix when rank 0 has come, while rank 2 is still at its part of an earlier one. That
 * says nothing of rank 3, which cannot end before rank 2; while it waits, it yields the CPU to others. */
static void those_behind_in_a_prefix_do_not_speak_for_those_before(void **state)
{
    (void)state;
    enum { STEPS = 4 };
    struct scene *scene = scene_make(4);
    uint32_t region = trace_memory_region(scene->trace, "function called by MPI", false, WW_LOCAL, WW_COLL_NONE);
    scene->trace->regions[region].is_callback = true;
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t first_us = 100 * step, merged_us = 100 + 1000 * (step + 1);
        scene_work(scene, 0, "first", first_us + 90);
        scan(scene, 0, region, 0, 0, first_us + 91);
        scene_work(scene, 1, "second", first_us + 20);
        scan(scene, 1, region, 0, 0, first_us + 92);
        scan(scene, 2, region, step ? scene->now_us[2] + 1 : 95, merged_us, merged_us + 1);
        uint64_t entered_us = scene->now_us[3];
        scan(scene, 3, region, 0, 0, merged_us + 2);
        scene_event(scene, (struct event){.kind = EV_OFF,
                                          .loc = 3,
                                          .time_ns = (entered_us + 10) * 1000,
                                          .flags = WW_SW_OUT | WW_SW_PREEMPTED});
        scene_event(scene, (struct event){.kind = EV_ON, .loc = 3, .time_ns = (merged_us - 10) * 1000});
    }
    for (uint32_t rank = 0; rank < 4; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 100 + 1000 * STEPS + 10);
    scene_analyse(scene);
    assert_true(scene_waiting(scene, WAIT_PROGRESS, 3) > 990 * STEPS);
    assert_true(scene_blame(scene, "merge", 2) > 0.95 * (double)scene->analysis->waiting_ns / 1000);
    assert_true(scene->analysis->machine.waiting_ns < 20000);
    scene_free(scene);
}

/* Along a chain, rank 1 takes 200 us for its part, rank 2 as long for its own when it has that of rank 1. Its work then
 * does not speak against its having waited for rank 1. */
static void own_part_behind_a_wait_is_no_other_reason(void **state)
{
    (void)state;
    enum { STEPS = 6, EACH = 500 };
    struct scene *scene = scene_make(3);
    uint32_t region = trace_memory_region(scene->trace, "function called by MPI", false, WW_LOCAL, WW_COLL_NONE);
    scene->trace->regions[region].is_callback = true;
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t first_us = 100 + EACH * step;
        for (uint32_t rank = 0; rank < 3; rank++)
            scene_work(scene, rank, "before", first_us);
        scan(scene, 0, region, 0, 0, first_us + 1);
        scan(scene, 1, region, first_us + 2, first_us + 202, first_us + 203);
        scan(scene, 2, region, first_us + 204, first_us + 404, first_us + 405);
    }
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 100 + EACH * STEPS);
    scene_analyse(scene);
    assert_true(scene_waiting(scene, WAIT_PROGRESS, 2) > 190 * (STEPS - 1));
    assert_true(scene_waiting(scene, WAIT_PROGRESS, 1) == 0);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_through_waits_in_its_next_call),
        cmocka_unit_test(who_needs_the_result_waits_in_the_same_call),
        cmocka_unit_test(work_while_waiting_keeps_nobody),
        cmocka_unit_test(who_works_meanwhile_waits_for_nobody),
        cmocka_unit_test(own_part_is_no_waiting),
        cmocka_unit_test(those_behind_in_a_prefix_do_not_speak_for_those_before),
        cmocka_unit_test(own_part_behind_a_wait_is_no_other_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
