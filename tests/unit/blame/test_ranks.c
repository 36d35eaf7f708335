/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank by rank: where the time went, who made whom wait, and what the critical path is made of. */
#include "analyze/blame/late.h"
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void assert_us(double ns, double us)
{
    if (fabs(ns / 1e3 - us) > 0.5)
        fail_msg("%.1f us instead of %.1f us", ns / 1e3, us);
}

static double pair_ns(const struct scene *scene, uint32_t waiting, uint32_t late)
{
    const struct wait_matrix *matrix = &scene->analysis->matrix;
    return matrix->ns[waiting * matrix->n_groups + late];
}

static const struct critical_step *critical_of(const struct scene *scene, const char *name)
{
    const struct analysis *analysis = scene->analysis;
    for (uint32_t i = 0; i < analysis->n_critical; i++) {
        const struct step *step = &analysis->steps[analysis->critical[i].step];
        if (step->routine && !strcmp(step->routine, name))
            return &analysis->critical[i];
    }
    fail_msg("%s is not on the critical path", name);
    return NULL;
}

/* Rank 1 works 900 us before a barrier to which 0 comes at 100 us and 2 at 500 us; then rank 0 sends late to rank 2. */
static void the_run_is_shared_out_by_rank(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    static const uint64_t work_us[] = {100, 900, 500};
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_work(scene, rank, "solve", work_us[rank]);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 900);
    scene_work(scene, 0, "pack", 1200);
    scene_send(scene, 0, 2, 1, 1200);
    scene_receive(scene, 2, 0, 1, 1200);
    const struct analysis *analysis = scene_analyse(scene);
    assert_us(analysis->ranks[0].waiting_ns, 800);
    assert_us(analysis->ranks[1].waiting_ns, 0);
    assert_us(analysis->ranks[2].waiting_ns, 400 + 300);
    assert_us(analysis->ranks[0].caused_ns, 300);
    assert_us(analysis->ranks[1].caused_ns, 800 + 400);
    assert_us(pair_ns(scene, 0, 1), 800);
    assert_us(pair_ns(scene, 2, 1), 400);
    assert_us(pair_ns(scene, 2, 0), 300);
    double sum_ns = 0;
    for (uint32_t i = 0; i < 9; i++)
        sum_ns += analysis->matrix.ns[i];
    assert_us(sum_ns, analysis->waiting_ns / 1e3);
    /* The path: 900 us of rank 1, then 300 us of rank 0. */
    const struct critical_step *solve = critical_of(scene, "solve"), *pack = critical_of(scene, "pack");
    assert_us(solve->on_path_ns, 900);
    assert_us(solve->mean_ns, 500);
    assert_int_equal(solve->rank, 1);
    assert_us(pack->on_path_ns, 300);
    assert_us(pack->mean_ns, 100);
    assert_int_equal(pack->rank, 0);
    double path_ns = 0;
    for (uint32_t i = 0; i < analysis->n_critical; i++)
        path_ns += analysis->critical[i].on_path_ns;
    assert_us(path_ns, analysis->efficiency.wall_ns / 1e3);
    scene_free(scene);
}

static void border(struct scene *scene, enum event_kind kind, uint32_t region)
{
    scene_event(scene,
                (struct event){
                    .kind = (uint16_t)kind, .time_ns = scene->now_us[0] * 1000, .region = region, .frame = TRACE_NONE});
}

/* One routine sends, called by two. */
static void a_call_reached_on_two_paths_is_one_step(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    static const char *const names[] = {"warm_up", "solve", "exchange"};
    uint32_t regions[3];
    for (int i = 0; i < 3; i++)
        regions[i] = trace_memory_region(scene->trace, names[i], false, WW_LOCAL, WW_COLL_NONE);
    for (int i = 0; i < 2; i++) {
        border(scene, EV_ENTER, regions[i]);
        border(scene, EV_ENTER, regions[2]);
        scene_send(scene, 0, 1, i, scene->now_us[0] + 100);
        border(scene, EV_LEAVE, regions[2]);
        border(scene, EV_LEAVE, regions[i]);
        scene_receive(scene, 1, 0, i, scene->now_us[0]);
    }
    scene_work(scene, 0, "pack", 1000);
    const struct analysis *analysis = scene_analyse(scene);
    uint32_t n = 0;
    for (uint32_t i = 0; i < analysis->n_critical; i++) {
        const struct step *step = &analysis->steps[analysis->critical[i].step];
        if (!step->label || !strstr(step->label, "MPI_Send"))
            continue;
        n++;
        assert_us(analysis->critical[i].on_path_ns, 200);
        assert_us(analysis->critical[i].rank_ns, 200);
        assert_int_equal(analysis->critical[i].n_ranks, 1);
    }
    assert_int_equal(n, 1);
    scene_free(scene);
}

/* By turns rank 0 comes 300 us after rank 1, and rank 1 200 us after rank 0: one behaviour, and nobody waits for
 * itself. */
static void nobody_waits_for_itself(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    for (uint64_t i = 0, begin_us = 0; i < 20; i++, begin_us += 1200) {
        scene_work(scene, 0, "solve", begin_us + (i % 2 ? 1000 : 1200));
        scene_work(scene, 1, "solve", begin_us + (i % 2 ? 1200 : 900));
        scene_collective(scene, 0, WW_ID_Barrier, TRACE_NONE, begin_us + 1200);
        scene_collective(scene, 1, WW_ID_Barrier, TRACE_NONE, begin_us + 1200);
    }
    const struct analysis *analysis = scene_analyse(scene);
    assert_us(analysis->ranks[0].waiting_ns, 2000);
    assert_us(analysis->ranks[1].waiting_ns, 3000);
    assert_us(analysis->ranks[0].caused_ns, 3000);
    assert_us(analysis->ranks[1].caused_ns, 2000);
    assert_us(pair_ns(scene, 0, 0), 0);
    assert_us(pair_ns(scene, 0, 1), 2000);
    assert_us(pair_ns(scene, 1, 0), 3000);
    assert_us(pair_ns(scene, 1, 1), 0);
    scene_free(scene);
}

/* Two ranks are blamed for more work in a loop, of which one does a third. Its blame is for want of a CPU. */
static void who_does_less_is_not_late_for_more_work(void **state)
{
    (void)state;
    for (uint64_t least = 1; least < 4; least++) {
        struct cause_rank ranks[] = {{.rank = 0, .blame_ns = 300, .executions = 3, .instructions = 3000},
                                     {.rank = 1, .blame_ns = 200, .executions = 1, .instructions = 1000 * least}};
        struct cause cause = {.kind = KIND_MORE_WORK, .ranks = ranks, .n_ranks = 2, .n_late = 2};
        late_leave_out_less(&cause);
        assert_int_equal(cause.n_late, least == 1 ? 1 : 2);
        cause = (struct cause){.kind = KIND_SLOWER, .ranks = ranks, .n_ranks = 2, .n_late = 2};
        late_leave_out_less(&cause);
        assert_int_equal(cause.n_late, 2);
    }
}

/* The same by what threads worked, where a process waited for threads without a CPU. It must be known of both. */
static void who_works_less_is_not_late_either(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        struct cause_rank ranks[] = {{.rank = 0, .blame_ns = 300, .worked_ns = known ? 9000 : 0},
                                     {.rank = 1, .blame_ns = 200, .worked_ns = 3000, .time_is_not_theirs = true}};
        struct cause cause = {.kind = KIND_MORE_TIME, .ranks = ranks, .n_ranks = 2, .n_late = 2};
        late_leave_out_less(&cause);
        assert_int_equal(cause.n_late, known ? 1 : 2);
        ranks[1].worked_error_ns = 2000;
        cause.n_late = 2;
        late_leave_out_less(&cause);
        assert_int_equal(cause.n_late, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_run_is_shared_out_by_rank), cmocka_unit_test(nobody_waits_for_itself),
        cmocka_unit_test(who_does_less_is_not_late_for_more_work), cmocka_unit_test(who_works_less_is_not_late_either),
        cmocka_unit_test(a_call_reached_on_two_paths_is_one_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
