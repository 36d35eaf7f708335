/* SPDX-License-Identifier: BSD-3-Clause */
/* A run in sections: where it is cut, and that the analysis says the same of it as of one section. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <cmocka.h>
#include "analyze/sections/sections.h"
#include "tests/unit/scene/scene.h"

enum { RANKS = 3, STEPS = 40, STEP_US = 100 };

static void in_sections_of(const char *events)
{
    setenv("WHYWAIT_SECTION_EVENTS", events, 1);
}

/* In a call of MPI_Wait from now on. */
static void complete(struct scene *scene, uint32_t rank, struct event event, uint64_t leave_us)
{
    scene_enter(scene, rank, WW_ID_Wait, scene->now_us[rank]);
    event.time_ns = leave_us * 1000;
    event.loc = rank;
    event.comm = 0;
    scene_event(scene, event);
    scene_leave(scene, rank, WW_ID_Wait, leave_us);
}

static void receive(struct scene *scene, uint32_t rank, uint64_t request, uint64_t leave_us)
{
    complete(scene, rank,
             (struct event){.kind = EV_IRECV_DONE, .request = request, .peer = (rank + RANKS - 1) % RANKS, .tag = 7},
             leave_us);
}

/* What a step does besides: a message to the next rank, before its barrier, across it, or none. */
enum exchange { NOTHING, BEFORE, ACROSS };

static void work_and_meet(struct scene *scene, uint64_t from_us, enum exchange exchange)
{
    uint64_t requests[RANKS] = {0};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        scene_work(scene, rank, "load", from_us + (rank == 1 ? 60 : 20));
        if (exchange != NOTHING)
            requests[rank] = scene_irecv(scene, rank, scene->now_us[rank] + 1);
    }
    for (uint32_t rank = 0; exchange != NOTHING && rank < RANKS; rank++)
        scene_send(scene, rank, (rank + 1) % RANKS, 7, scene->now_us[rank] + 1);
    for (uint32_t rank = 0; exchange == BEFORE && rank < RANKS; rank++)
        receive(scene, rank, requests[rank], from_us + 70);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, from_us + 80);
    for (uint32_t rank = 0; exchange == ACROSS && rank < RANKS; rank++)
        receive(scene, rank, requests[rank], from_us + 85);
}

static struct scene *run_of(enum exchange exchange)
{
    struct scene *scene = scene_make(RANKS);
    for (uint64_t step = 0; step < STEPS; step++)
        work_and_meet(scene, step * STEP_US, exchange);
    return scene;
}

static const struct analysis *analyse(struct scene *scene, const char *events)
{
    in_sections_of(events);
    const struct analysis *analysis = scene_analyse(scene);
    unsetenv("WHYWAIT_SECTION_EVENTS");
    return analysis;
}

static void sections_say_what_one_says(void **state)
{
    (void)state;
    for (int exchange = NOTHING; exchange <= BEFORE; exchange++) {
        struct scene *one = run_of((enum exchange)exchange), *many = run_of((enum exchange)exchange);
        const struct analysis *whole = analyse(one, "1000000"), *parts = analyse(many, "30");
        assert_int_equal(whole->n_sections, 1);
        assert_in_range(parts->n_sections, 5, STEPS + 1);
        assert_int_equal(parts->n_events, whole->n_events);
        assert_int_equal(parts->n_mpi_calls, whole->n_mpi_calls);
        assert_int_equal(parts->n_causes, whole->n_causes);
        assert_true(fabs(parts->waiting_ns - whole->waiting_ns) < 1);
        assert_true(fabs(scene_blame(many, "load", 1) - scene_blame(one, "load", 1)) < 1e-6 * whole->waiting_ns);
        assert_int_equal(parts->n_sites, whole->n_sites);
        for (uint32_t i = 0; i < whole->n_sites; i++) {
            assert_int_equal(parts->sites[i].n_instances, whole->sites[i].n_instances);
            assert_int_equal(parts->sites[i].n_classes, whole->sites[i].n_classes);
        }
        scene_free(one);
        scene_free(many);
    }
}

/* The next process has not received it yet, and nothing but its record says so. */
static void no_cut_goes_through_a_message(void **state)
{
    (void)state;
    struct scene *scene = run_of(ACROSS);
    assert_int_equal(analyse(scene, "30")->n_sections, 1);
    scene_free(scene);
}

static void no_cut_goes_through_a_collective_under_way(void **state)
{
    (void)state;
    struct scene *scene = scene_make(RANKS);
    uint64_t requests[RANKS];
    for (uint32_t rank = 0; rank < RANKS; rank++)
        requests[rank] = scene_icollective(scene, rank, WW_ID_Ibarrier, 1);
    for (uint64_t step = 1; step < STEPS; step++)
        work_and_meet(scene, step * STEP_US, NOTHING);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        complete(scene, rank,
                 (struct event){
                     .kind = EV_ICOLL_DONE, .request = requests[rank], .peer = TRACE_NONE, .coll = WW_COLL_BARRIER},
                 STEPS * STEP_US);
    assert_int_equal(analyse(scene, "30")->n_sections, 1);
    scene_free(scene);
}

/* One member has done more operations of another communicator than the others: no order tells which belong together. */
static void no_cut_goes_where_members_are_not_equally_far(void **state)
{
    (void)state;
    struct scene *scene = scene_make(RANKS);
    uint32_t ranks[] = {0, 1}, pair = trace_memory_comm(scene->trace, ranks, 2);
    scene->comm = pair;
    scene_collective(scene, 0, WW_ID_Bcast, 0, 5);
    scene->comm = 0;
    for (uint64_t step = 1; step < STEPS; step++)
        work_and_meet(scene, step * STEP_US, NOTHING);
    scene->comm = pair;
    scene_collective(scene, 1, WW_ID_Bcast, 0, STEPS * STEP_US + 5);
    assert_int_equal(analyse(scene, "30")->n_sections, 1);
    scene_free(scene);
}

/* Locations enter at a section's begin what they are in, and leave it at its end. */
static void each_section_is_a_run_of_its_own(void **state)
{
    (void)state;
    struct scene *scene = run_of(NOTHING);
    struct sections sections;
    int depth[RANKS] = {0};
    uint64_t n_records = 0, now_ns = 0;
    in_sections_of("30");
    assert_int_equal(trace_rewind(scene->trace), 0);
    sections_begin(&sections, scene->trace);
    do {
        bool has_ended[RANKS] = {false};
        for (const struct event *event; (event = sections_next(&sections));) {
            assert_false(has_ended[event->loc]);
            assert_true(event->time_ns >= now_ns && event->time_ns >= sections.begin_ns);
            now_ns = event->time_ns;
            depth[event->loc] += (event->kind == EV_ENTER) - (event->kind == EV_LEAVE);
            has_ended[event->loc] = event->kind == EV_END;
            n_records += sections.event != SECTION_STATE;
        }
        for (uint32_t rank = 0; rank < RANKS; rank++)
            assert_int_equal(depth[rank], 0);
    } while (sections_go_on(&sections));
    assert_true(sections.number > 4);
    sections_release(&sections);
    assert_int_equal(trace_rewind(scene->trace), 0);
    while (trace_next(scene->trace))
        n_records--;
    assert_int_equal(n_records, 0);
    unsetenv("WHYWAIT_SECTION_EVENTS");
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_say_what_one_says),
        cmocka_unit_test(no_cut_goes_through_a_message),
        cmocka_unit_test(no_cut_goes_through_a_collective_under_way),
        cmocka_unit_test(no_cut_goes_where_members_are_not_equally_far),
        cmocka_unit_test(each_section_is_a_run_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
