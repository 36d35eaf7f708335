/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI calls a reduction of the program's own: what that does is the program's work, for which others wait in their next
 * call, or in the same one.
 */
#include "tests/unit/scene/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Every rank enters MPI_Allreduce now. Rank 1 works on its parts from then until merged_us, with what MPI calls. */
static void reduce_own(struct scene *scene, uint32_t region, uint64_t merged_us, const uint64_t leave_us[2])
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct event border = {.kind = EV_ENTER, .loc = rank, .region = region, .frame = TRACE_NONE};
        scene_enter(scene, rank, WW_ID_Allreduce, scene->now_us[rank]);
        if (rank == 1) {
            scene->now_us[rank] += 1;
            border.time_ns = scene->now_us[rank] * 1000;
            scene_event(scene, border);
            scene_work(scene, rank, "merge", merged_us);
            border.kind = EV_LEAVE;
            border.time_ns = merged_us * 1000;
            scene_event(scene, border);
        }
        scene_event(scene, (struct event){.kind = EV_COLL_END,
                                          .loc = rank,
                                          .time_ns = leave_us[rank] * 1000,
                                          .coll = WW_COLL_ALLREDUCE,
                                          .peer = TRACE_NONE});
        scene_leave(scene, rank, WW_ID_Allreduce, leave_us[rank]);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_through_waits_in_its_next_call),
        cmocka_unit_test(who_needs_the_result_waits_in_the_same_call),
        cmocka_unit_test(work_while_waiting_keeps_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
