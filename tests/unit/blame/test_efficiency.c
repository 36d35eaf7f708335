/* SPDX-License-Identifier: BSD-3-Clause */
/* POP's factors, with one more: what the critical path lacked a CPU for inside MPI. */
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_close(value, expected) assert_true(fabs((value) - (expected)) < 1e-6)

static void no_cpu(struct scene *scene, uint32_t rank, uint64_t from_us, uint64_t to_us, uint32_t flags)
{
    scene_event(scene, (struct event){
                           .kind = EV_OFF, .loc = rank, .time_ns = from_us * 1000, .flags = WW_SW_PREEMPTED | flags});
    scene_event(scene, (struct event){.kind = EV_ON, .loc = rank, .time_ns = to_us * 1000});
}

/* A rank lacks a CPU for half a second. Only the recorder can tell whether it was stopped. */
static void lacking_a_cpu_for_long_is_no_stop(void **state)
{
    (void)state;
    for (uint32_t is_stopped = 0; is_stopped < 2; is_stopped++) {
        struct scene *scene = scene_make(2);
        for (uint32_t rank = 0; rank < 2; rank++) {
            scene_work(scene, rank, "work", 1000);
            no_cpu(scene, rank, 1010, 501010, rank && is_stopped ? WW_SW_STOPPED : 0);
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 503000);
        }
        scene->trace->notes = (const char *[]){"the process was stopped for a while, by a signal or with its machine"};
        scene->trace->n_notes = 1;
        const struct machine *machine = &scene_analyse(scene)->machine;
        assert_int_equal(machine->n_stops, is_stopped);
        if (is_stopped) {
            assert_int_equal(machine->stops[0].rank, 1);
            assert_close(machine->stops[0].stopped_ns, 500e6);
        }
        scene_free(scene);
    }
}

/* Both compute for 1000 us and are in the barrier for 2000, most of it without a CPU: no slow network. */
static void lacking_a_cpu_inside_mpi_is_no_transfer(void **state)
{
    (void)state;
    for (int is_absent = 0; is_absent < 2; is_absent++) {
        struct scene *scene = scene_make(2);
        for (uint32_t rank = 0; rank < 2; rank++) {
            scene_work(scene, rank, "work", 1000);
            if (is_absent)
                no_cpu(scene, rank, 1010, 2990, 0);
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 3000);
        }
        const struct efficiency *at = &scene_analyse(scene)->efficiency;
        assert_close(at->parallel, 1. / 3);
        assert_close(at->load_balance, 1);
        assert_close(at->serialisation, 1);
        assert_close(at->transfer, is_absent ? 1000. / 1020 : 1. / 3);
        assert_close(at->processor, is_absent ? 1020. / 3000 : 1);
        scene_free(scene);
    }
}

/* Both lack a CPU for most of the time. In the little that is left to them, moving data takes 9 %: of all time it is 1
 * %, and nothing to act on. With CPUs it is. */
static void transfers_matter_by_their_part_of_all_time(void **state)
{
    (void)state;
    for (int is_absent = 0; is_absent < 2; is_absent++) {
        struct scene *scene = scene_make(2);
        uint64_t end_us = is_absent ? 9100 : 1100;
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_work(scene, rank, "work", 1000 + rank);
        for (uint32_t rank = 0; rank < 2; rank++) {
            if (is_absent)
                no_cpu(scene, rank, 1010, 9010, 0);
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, end_us);
        }
        scene_analyse(scene);
        assert_int_equal(scene_answer(scene), is_absent ? ANSWER_FINE : ANSWER_TRANSFERS);
        scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lacking_a_cpu_for_long_is_no_stop),
        cmocka_unit_test(lacking_a_cpu_inside_mpi_is_no_transfer),
        cmocka_unit_test(transfers_matter_by_their_part_of_all_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
