/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline: cells follow each other, sum to what the report says of each rank, and stay exact where they are long
 * however small the budget. */
#include "analyze/pipeline.h"
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct analysis *analyse(const struct scene *scene, struct timeline *timeline, size_t n_most)
{
    *timeline = (struct timeline){.n_most = n_most};
    struct analysis *analysis = analysis_run(scene->trace, NULL, timeline, 0);
    assert_non_null(analysis);
    return analysis;
}

/* Time of a row by state. */
static void row_sums(const struct timeline *timeline, uint32_t at, double sums[TIMELINE_N_STATES])
{
    const struct timeline_row *row = &timeline->rows.at[at];
    const struct timeline_part *part = row->parts.at;
    for (size_t i = 0; i < row->cells.n; i++) {
        const struct timeline_cell *cell = &row->cells.at[i];
        double cell_ns = 0;
        assert_true(cell->begin_ns < cell->end_ns);
        assert_true(!i || cell->begin_ns >= row->cells.at[i - 1].end_ns);
        for (uint32_t k = 0; k < cell->n_parts; k++, part++) {
            sums[timeline->kinds.at[part->kind].state] += part->ns;
            cell_ns += part->ns;
        }
        assert_true(fabs(cell_ns - (double)(cell->end_ns - cell->begin_ns)) <= 1 + 1e-5 * cell_ns);
    }
    assert_ptr_equal(part, row->parts.at + row->parts.n);
}

static void check_sums(const struct timeline *timeline, const struct analysis *analysis)
{
    for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++) {
        const struct rank_summary *is = &analysis->ranks[rank];
        double sums[TIMELINE_N_STATES] = {0};
        row_sums(timeline, rank, sums);
        assert_true(fabs(sums[TIMELINE_WAITING] - is->waiting_ns) <= 10 + 1e-5 * is->waiting_ns);
        assert_true(fabs(sums[STEP_COMPUTING] - is->compute_ns) <= 10 + 1e-5 * is->compute_ns);
        assert_true(fabs(sums[STEP_TRANSFER] - is->transfer_ns) <= 10 + 1e-5 * is->transfer_ns);
    }
}

/* The cell around a time. */
static const struct timeline_cell *cell_at(const struct timeline *timeline, uint32_t at, double us)
{
    const struct timeline_row *row = &timeline->rows.at[at];
    for (size_t i = 0; i < row->cells.n; i++)
        if ((double)row->cells.at[i].begin_ns <= 1e3 * us && 1e3 * us < (double)row->cells.at[i].end_ns)
            return &row->cells.at[i];
    fail_msg("location %u has no cell at %.1f us", at, us);
    return NULL;
}

static uint32_t cause_at(const struct timeline *timeline, uint32_t at, double us)
{
    const struct timeline_row *row = &timeline->rows.at[at];
    const struct timeline_cell *cell = cell_at(timeline, at, us);
    size_t first = 0;
    for (const struct timeline_cell *before = row->cells.at; before < cell; before++)
        first += before->n_parts;
    return timeline->kinds.at[row->parts.at[first].kind].cause;
}

/* Rank 1 works 900 us before a barrier to which rank 0 comes at 100 us. */
static void a_wait_knows_who_released_it(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "solve", 100);
    scene_work(scene, 1, "solve", 900);
    scene_collective(scene, 0, WW_ID_Barrier, TRACE_NONE, 910);
    scene_collective(scene, 1, WW_ID_Barrier, TRACE_NONE, 910);
    struct timeline timeline;
    struct analysis *analysis = analyse(scene, &timeline, 1000);
    const struct timeline_cell *wait = cell_at(&timeline, 0, 500);
    assert_int_equal(wait->begin_ns, 100000);
    assert_int_equal(wait->end_ns, 900000);
    assert_int_equal(wait->release_ns, 900000);
    assert_int_equal(wait->by, 1);
    assert_int_equal(wait->site, 0);
    assert_false(wait->is_several);
    assert_true(timeline.resolution_ns == 0);
    assert_int_equal(cell_at(&timeline, 0, 905)->by, TRACE_NONE);
    assert_int_equal(cause_at(&timeline, 1, 500), 0);
    check_sums(&timeline, analysis);
    timeline_release(&timeline);
    analysis_free(analysis);
    scene_free(scene);
}

/* A thousand short turns with one long wait among them, and room for few of them. */
static void what_is_long_stays_exact(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t now_us = 0, long_us = 0;
    for (int turn = 0; turn < 1000; turn++) {
        uint64_t late_us = turn == 700 ? 5000 : 7;
        long_us = turn == 700 ? now_us : long_us;
        scene_work(scene, 0, "solve", now_us + 3);
        scene_work(scene, 1, "solve", now_us + late_us);
        now_us += late_us + 1;
        scene_collective(scene, 0, WW_ID_Barrier, TRACE_NONE, now_us);
        scene_collective(scene, 1, WW_ID_Barrier, TRACE_NONE, now_us);
    }
    struct timeline timeline;
    struct analysis *analysis = analyse(scene, &timeline, 300);
    assert_true(timeline.n <= 300);
    assert_true(timeline.resolution_ns > 0);
    const struct timeline_cell *wait = cell_at(&timeline, 0, (double)long_us + 100);
    assert_int_equal(wait->begin_ns, 1000 * (long_us + 3));
    assert_int_equal(wait->end_ns, 1000 * (long_us + 5000));
    assert_false(wait->is_several);
    const struct timeline_cell *several = cell_at(&timeline, 0, 100);
    assert_true(several->is_several);
    assert_true(several->waited_ns == 4000);
    check_sums(&timeline, analysis);
    timeline_release(&timeline);
    analysis_free(analysis);
    scene_free(scene);
}

/* Polls turn out to have been waiting when the message is found: they give way to the wait, work between them, too. */
static void polls_become_a_wait(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 1, "late", 800);
    scene_send(scene, 1, 0, 1, 801);
    uint64_t request = scene_irecv(scene, 0, 1);
    for (uint64_t us = 10; us < 800; us += 100) {
        scene_enter(scene, 0, WW_ID_Test, us);
        scene_event(scene, (struct event){.kind = EV_POLLS, .loc = 0, .time_ns = 1000 * us, .bytes = 3});
        scene_leave(scene, 0, WW_ID_Test, us + 90);
    }
    scene_enter(scene, 0, WW_ID_Test, 810);
    scene_event(scene, (struct event){.kind = EV_IRECV_DONE,
                                      .loc = 0,
                                      .time_ns = 811000,
                                      .peer = 1,
                                      .comm = scene->comm,
                                      .tag = 1,
                                      .bytes = 8,
                                      .request = request});
    scene_leave(scene, 0, WW_ID_Test, 811);
    struct timeline timeline;
    struct analysis *analysis = analyse(scene, &timeline, 1000);
    const struct timeline_cell *wait = cell_at(&timeline, 0, 400);
    assert_int_equal(wait->begin_ns, 10000);
    assert_int_equal(wait->end_ns, 800000);
    assert_int_equal(wait->by, 1);
    double sums[TIMELINE_N_STATES] = {0};
    row_sums(&timeline, 0, sums);
    assert_true(fabs(sums[TIMELINE_WAITING] - 790000) < 10);
    timeline_release(&timeline);
    analysis_free(analysis);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_wait_knows_who_released_it),
                                       cmocka_unit_test(what_is_long_stays_exact),
                                       cmocka_unit_test(polls_become_a_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
