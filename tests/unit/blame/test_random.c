/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random programs, played with known waits: the sums that must hold whatever the program does. The player knows when
 * every process arrives, so it also knows who waits for how long.
 */
#include "analyze/pipeline.h"
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 6, ROUNDS = 120 };

struct play {
    struct scene *scene;
    double waiting_us;
    uint64_t seed;
};

static uint64_t draw(struct play *play, uint64_t n)
{
    play->seed = play->seed * 6364136223846793005u + 1442695040888963407u;
    return (play->seed >> 33) % n;
}

static void play_work(struct play *play)
{
    static const char *const names[] = {"alpha", "beta", "gamma", "delta"};
    for (uint32_t rank = 0; rank < RANKS; rank++)
        if (draw(play, 4))
            scene_work(play->scene, rank, names[draw(play, 4)], play->scene->now_us[rank] + 1 + draw(play, 500));
}

static void play_wait(struct play *play, uint64_t from_us, uint64_t until_us)
{
    if (until_us > from_us)
        play->waiting_us += (double)(until_us - from_us);
}

static void play_to_all(struct play *play, enum ww_call_id call)
{
    uint64_t last_us = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        if (play->scene->now_us[rank] > last_us)
            last_us = play->scene->now_us[rank];
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        play_wait(play, play->scene->now_us[rank], last_us);
        scene_collective(play->scene, rank, call, TRACE_NONE, last_us + 1 + draw(play, 9));
    }
}

static void play_from_root(struct play *play)
{
    uint32_t root = (uint32_t)draw(play, RANKS);
    uint64_t root_us = play->scene->now_us[root];
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint64_t enter_us = play->scene->now_us[rank], from_us = enter_us > root_us ? enter_us : root_us;
        play_wait(play, enter_us, root_us);
        scene_collective(play->scene, rank, WW_ID_Bcast, root, from_us + 1 + draw(play, 9));
    }
}

static void play_to_root(struct play *play)
{
    uint32_t root = (uint32_t)draw(play, RANKS);
    uint64_t last_us = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        if (play->scene->now_us[rank] > last_us)
            last_us = play->scene->now_us[rank];
    play_wait(play, play->scene->now_us[root], last_us);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        scene_collective(play->scene, rank, WW_ID_Gather, root,
                         (rank == root ? last_us : play->scene->now_us[rank]) + 1 + draw(play, 9));
}

static void play_messages(struct play *play)
{
    for (uint64_t i = 0; i < 4; i++) {
        uint32_t from = (uint32_t)draw(play, RANKS), to = (uint32_t)draw(play, RANKS);
        int tag = (int)draw(play, 3);
        if (from == to)
            continue;
        uint64_t sent_us = play->scene->now_us[from], enter_us = play->scene->now_us[to];
        scene_send(play->scene, from, to, tag, sent_us + 1);
        play_wait(play, enter_us, sent_us);
        scene_receive(play->scene, to, from, tag, (enter_us > sent_us ? enter_us : sent_us) + 1 + draw(play, 9));
    }
}

static struct scene *play_program(uint64_t seed, double *waiting_us)
{
    struct play play = {.scene = scene_make(RANKS), .seed = seed};
    for (int round = 0; round < ROUNDS; round++) {
        play_work(&play);
        switch (draw(&play, 6)) {
        case 0:
            play_to_all(&play, WW_ID_Barrier);
            break;
        case 1:
            play_to_all(&play, WW_ID_Allreduce);
            break;
        case 2:
            play_from_root(&play);
            break;
        case 3:
            play_to_root(&play);
            break;
        default:
            play_messages(&play);
            break;
        }
    }
    *waiting_us = play.waiting_us;
    return play.scene;
}

static void assert_close(double value, double expected, double scale)
{
    if (fabs(value - expected) > 1e-6 * scale + 1e-3)
        fail_msg("%.6f instead of %.6f", value, expected);
}

static void check_classes(const struct analysis *analysis)
{
    struct arena scratch = {0};
    for (uint32_t i = 0; i < analysis->n_sites; i++) {
        const struct wait_site *site = &analysis->sites[i];
        uint64_t n_instances = 0;
        double waiting_ns = 0;
        for (uint32_t j = 0; j < site->n_classes; j++) {
            const struct wait_class *class = &site->classes[j];
            double signed_ns = 0, blame_ns = 0;
            struct class_steps steps = analysis->class_steps(analysis, class, &scratch);
            for (uint32_t k = 0; k < steps.n; k++) {
                signed_ns += steps.at[k].dur_ns;
                blame_ns += steps.at[k].blame_ns;
            }
            assert_close(signed_ns, class->waiting_ns, class->waiting_ns);
            assert_close(blame_ns, class->waiting_ns, class->waiting_ns);
            n_instances += class->n_instances;
            waiting_ns += class->waiting_ns;
        }
        assert_int_equal(n_instances, site->n_instances);
        assert_close(waiting_ns, site->waiting_ns, site->waiting_ns);
    }
    arena_release(&scratch);
}

static void check_causes(const struct analysis *analysis)
{
    double sum_ns = 0, gains_ns = 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct cause *cause = &analysis->causes[i];
        double kinds_ns = 0, ranks_ns = 0, sites_ns = 0;
        for (int kind = 0; kind < KIND_N; kind++)
            kinds_ns += cause->kind_ns[kind];
        for (uint32_t j = 0; j < cause->n_ranks; j++)
            ranks_ns += cause->ranks[j].blame_ns;
        for (uint32_t j = 0; j < cause->n_sites; j++)
            sites_ns += cause->sites[j].waiting_ns;
        assert_close(kinds_ns, cause->waiting_ns, cause->waiting_ns);
        assert_close(ranks_ns, cause->waiting_ns, cause->waiting_ns);
        assert_close(sites_ns, cause->waiting_ns, cause->waiting_ns);
        assert_true(i == 0 || cause->waiting_ns <= analysis->causes[i - 1].waiting_ns);
        assert_true(cause->if_balanced_ns >= 0 && cause->if_balanced_ns <= cause->if_gone_ns + 1e-3);
        assert_true(cause->if_gone_ns <= analysis->efficiency.wall_ns + 1e-3);
        sum_ns += cause->waiting_ns;
        gains_ns += cause->if_balanced_ns;
    }
    assert_true(gains_ns <= analysis->waiting_ns / RANKS * (1 + 1e-9));
    assert_close(sum_ns, analysis->waiting_ns, analysis->waiting_ns);
}

/* Every rank's time is accounted for once, up to its last event. */
static void check_time(const struct analysis *analysis)
{
    const struct efficiency *at = &analysis->efficiency;
    double all_ns = 0;
    for (uint32_t i = 0; i < analysis->trace->n_locations; i++)
        all_ns += (double)(analysis->trace->locations[i].end_ns - analysis->trace->start_ns);
    assert_close(at->compute_ns + at->waiting_ns + at->transfer_ns + at->mpi_ns + at->descheduled_ns + at->blocked_ns,
                 all_ns, all_ns);
    assert_close(all_ns + at->ended_ns, at->all_ns, at->all_ns);
    assert_close(at->load_balance * at->serialisation * at->transfer * at->processor, at->parallel, 1);
    assert_true(at->serialisation <= 1 + 1e-9 && at->transfer <= 1 + 1e-9 && at->processor <= 1 + 1e-9);
}

static void sums_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        double waiting_us;
        struct scene *scene = play_program(seed, &waiting_us);
        const struct analysis *analysis = scene_analyse(scene);
        assert_close(analysis->waiting_ns / 1000, waiting_us, waiting_us);
        assert_true(analysis->unexplained_ns == 0);
        check_classes(analysis);
        check_causes(analysis);
        check_time(analysis);
        scene_free(scene);
    }
}

/* Events in no sensible order, of requests never started, communicators that do not exist and calls never left. */
static struct scene *play_nonsense(uint64_t seed)
{
    static const enum ww_call_id calls[] = {WW_ID_Send,    WW_ID_Recv,     WW_ID_Isend,     WW_ID_Wait,
                                            WW_ID_Test,    WW_ID_Barrier,  WW_ID_Win_fence, WW_ID_Win_start,
                                            WW_ID_Ibcast,  WW_ID_Finalize, WW_ID_Comm_dup,  WW_ID_Win_complete,
                                            WW_ID_Sendrecv};
    struct play play = {.scene = scene_make(RANKS), .seed = seed};
    for (int i = 0; i < 400; i++) {
        uint32_t rank = (uint32_t)draw(&play, RANKS);
        enum ww_call_id call = calls[draw(&play, sizeof calls / sizeof *calls)];
        uint64_t now_us = play.scene->now_us[rank] + draw(&play, 50);
        struct event event = {.kind = (uint16_t)draw(&play, EV_END + 1),
                              .loc = rank,
                              .time_ns = now_us * 1000,
                              .frame = TRACE_NONE,
                              .comm = (uint32_t)draw(&play, 3) - 1,
                              .peer = (uint32_t)draw(&play, RANKS + 2) - 1,
                              .tag = (int)draw(&play, 2),
                              .coll = (uint16_t)draw(&play, WW_COLL_CREATE + 1),
                              .request = draw(&play, 8)};
        if (event.kind == EV_BINS)
            event.n_bins = 0;
        if (event.kind == EV_ENTER || draw(&play, 3) == 0)
            scene_enter(play.scene, rank, call, now_us);
        else if (event.kind == EV_LEAVE || draw(&play, 3) == 0)
            scene_leave(play.scene, rank, call, now_us);
        else if (event.kind != EV_END || !draw(&play, 10))
            scene_event(play.scene, event);
    }
    return play.scene;
}

/* Whatever happened: cells have a length, and parts of a kind that there is, which sum to it. */
static void check_timeline(const struct scene *scene, size_t n_most)
{
    struct timeline timeline = {.n_most = n_most};
    struct analysis *analysis = analysis_run(scene->trace, NULL, &timeline, 0);
    for (size_t row = 0; row < timeline.rows.n; row++) {
        const struct timeline_part *part = timeline.rows.at[row].parts.at;
        for (size_t i = 0; i < timeline.rows.at[row].cells.n; i++) {
            const struct timeline_cell *cell = &timeline.rows.at[row].cells.at[i];
            double sum_ns = 0, length_ns = (double)(cell->end_ns - cell->begin_ns);
            assert_true(cell->begin_ns < cell->end_ns);
            for (uint32_t k = 0; k < cell->n_parts; k++, part++) {
                assert_true(part->kind < timeline.kinds.n);
                sum_ns += part->ns;
            }
            assert_true(!cell->n_parts || fabs(sum_ns - length_ns) <= 1e-3 * length_ns + 1);
        }
    }
    timeline_release(&timeline);
    analysis_free(analysis);
}

static void nonsense_does_no_harm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct scene *scene = play_nonsense(seed);
        check_causes(scene_analyse(scene));
        check_timeline(scene, seed % 2 ? 1000000 : 50);
        scene_free(scene);
    }
}

static void analyses_are_repeatable(void **state)
{
    (void)state;
    double waiting_us;
    struct scene *scene = play_program(99, &waiting_us);
    const struct analysis *first = scene_analyse(scene);
    struct analysis *second = analysis_run(scene->trace, NULL, NULL, 0);
    assert_int_equal(first->n_causes, second->n_causes);
    assert_int_equal(first->n_steps, second->n_steps);
    for (uint32_t i = 0; i < first->n_causes; i++) {
        assert_int_equal(first->causes[i].step, second->causes[i].step);
        assert_true(first->causes[i].waiting_ns == second->causes[i].waiting_ns);
        assert_int_equal(first->causes[i].kind, second->causes[i].kind);
    }
    analysis_free(second);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_hold), cmocka_unit_test(nonsense_does_no_harm),
                                       cmocka_unit_test(analyses_are_repeatable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
