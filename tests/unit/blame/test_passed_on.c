/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lateness that is passed on from rank to rank: rings, grids and changing partners, played step by step with
 * known work.
 */
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { RANKS = 9, STEPS = 60, WORK_US = 1000, LATE_US = 4000 };

struct play {
    struct scene *scene;
    uint64_t seed;
};

/* A little longer or shorter: no two ranks are alike. */
static uint64_t about(struct play *play, uint64_t us)
{
    play->seed = play->seed * 6364136223846793005u + 1442695040888963407u;
    return us + (play->seed >> 33) % (us / 50 + 1);
}

/* Whom a rank gets messages from in a step; returns how many. */
typedef uint32_t partners(int step, uint32_t rank, uint32_t from[4]);

static uint32_t ring(int step, uint32_t rank, uint32_t from[4])
{
    (void)step;
    from[0] = (rank + RANKS - 1) % RANKS;
    return 1;
}

static uint32_t both_ways(int step, uint32_t rank, uint32_t from[4])
{
    (void)step;
    from[0] = (rank + RANKS - 1) % RANKS;
    from[1] = (rank + 1) % RANKS;
    return 2;
}

static uint32_t torus(int step, uint32_t rank, uint32_t from[4])
{
    uint32_t row = rank / 3, column = rank % 3;
    (void)step;
    from[0] = row * 3 + (column + 1) % 3;
    from[1] = row * 3 + (column + 2) % 3;
    from[2] = (row + 1) % 3 * 3 + column;
    from[3] = (row + 2) % 3 * 3 + column;
    return 4;
}

static uint32_t changing(int step, uint32_t rank, uint32_t from[4])
{
    from[0] = (rank + 1 + (uint32_t)(step * step + step / 3) % (RANKS - 1)) % RANKS;
    return 1;
}

/* How long a rank works in a step. */
typedef uint64_t length(int step, uint32_t rank);

static uint64_t nobody(int step, uint32_t rank)
{
    (void)step;
    (void)rank;
    return WORK_US;
}

static uint64_t one_is_late(int step, uint32_t rank)
{
    (void)step;
    return rank == 2 ? LATE_US : WORK_US;
}

static uint64_t at_times(int step, uint32_t rank)
{
    return rank == 2 && step % 3 == 0 ? LATE_US : WORK_US;
}

static uint64_t neighbours_are_late(int step, uint32_t rank)
{
    (void)step;
    return rank == 2 || rank == 3 ? LATE_US : WORK_US;
}

static uint64_t one_between_is_slower(int step, uint32_t rank)
{
    (void)step;
    return rank == 2 ? LATE_US : rank == 4 ? 3 * WORK_US / 2 : WORK_US;
}

/* In turn, each for longer than lateness takes round the ring. */
static uint64_t changes(int step, uint32_t rank)
{
    return rank == 3u * (uint32_t)(step / (STEPS / 3)) ? LATE_US : WORK_US;
}

/* Every rank sends before it receives. */
static void step_play(struct play *play, int step, partners *from_whom, length *how_long)
{
    uint64_t sent_us[RANKS];
    uint32_t from[RANKS][4], n[RANKS];
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        scene_work(play->scene, rank, "load", play->scene->now_us[rank] + about(play, how_long(step, rank)));
        sent_us[rank] = play->scene->now_us[rank];
        n[rank] = from_whom(step, rank, from[rank]);
    }
    for (uint32_t to = 0; to < RANKS; to++)
        for (uint32_t i = 0; i < n[to]; i++)
            scene_send(play->scene, from[to][i], to, 0, sent_us[from[to][i]]);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (uint32_t i = 0; i < n[rank]; i++) {
            uint64_t now_us = play->scene->now_us[rank], release_us = sent_us[from[rank][i]];
            scene_receive(play->scene, rank, from[rank][i], 0, now_us > release_us ? now_us : release_us);
        }
}

/* The steps come after a barrier to which rank 4 comes late by `before_us`. */
static struct scene *played(partners *from_whom, length *how_long, uint64_t before_us)
{
    struct play play = {.scene = scene_make(RANKS), .seed = 1};
    if (before_us) {
        scene_work(play.scene, 4, "load", before_us);
        for (uint32_t rank = 0; rank < RANKS; rank++)
            scene_collective(play.scene, rank, WW_ID_Barrier, TRACE_NONE, before_us);
    }
    for (int step = 0; step < STEPS; step++)
        step_play(&play, step, from_whom, how_long);
    scene_analyse(play.scene);
    return play.scene;
}

static const struct {
    const char *name;
    partners *from_whom;
} patterns[] = {{"ring", ring}, {"both ways", both_ways}, {"torus", torus}, {"changing", changing}};

/* In per cent of all waiting. */
static double blame_of(const struct scene *scene, uint32_t rank)
{
    return 100 * scene_blame(scene, "load", rank) / (scene->analysis->waiting_ns / 1000);
}

/* The late ranks, a bit for each, have what would not be waited for without what they are late with: the same program
 * is played again with equal work. */
static void check_late(length *how_long, uint32_t late, double within)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct scene *scene = played(patterns[i].from_whom, how_long, 0),
                     *even = played(patterns[i].from_whom, nobody, 0);
        double due = 100 * (1 - even->analysis->waiting_ns / scene->analysis->waiting_ns), blamed = 0;
        for (uint32_t rank = 0; rank < RANKS; rank++)
            blamed += late >> rank & 1 ? blame_of(scene, rank) : 0;
        if (fabs(blamed - due) > within)
            fail_msg("%s: %.1f %% is blamed on who is late, %.1f %% is due", patterns[i].name, blamed, due);
        scene_free(scene);
        scene_free(even);
    }
}

static void who_passes_lateness_on_is_not_blamed(void **state)
{
    (void)state;
    check_late(one_is_late, 1 << 2, 2.5);
    check_late(at_times, 1 << 2, 10.5); /* over the run it is longer than others by less than when it is late */
    check_late(one_between_is_slower, 1 << 2 | 1 << 4, 2.5);
    check_late(changes, 1 << 0 | 1 << 3 | 1 << 6, 9);
}

/* Of two neighbours in a ring that are late alike, the second one waits for the first, and others only for it. */
static void who_waits_for_a_late_one_is_late_too(void **state)
{
    (void)state;
    check_late(neighbours_are_late, 1 << 2 | 1 << 3, 2.5);
    for (size_t i = 1; i < sizeof patterns / sizeof *patterns; i++) {
        struct scene *scene = played(patterns[i].from_whom, neighbours_are_late, 0);
        assert_true(blame_of(scene, 2) > 40);
        assert_true(blame_of(scene, 3) > 40);
        scene_free(scene);
    }
}

/* Half as long again as the others, in the ring that it passes lateness on in. */
static void who_is_a_little_slower_has_little(void **state)
{
    (void)state;
    struct scene *scene = played(ring, one_between_is_slower, 0);
    assert_true(blame_of(scene, 2) > 90);
    assert_true(blame_of(scene, 4) > 1 && blame_of(scene, 4) < 10);
    scene_free(scene);
}

/* Rank 4, which only passes lateness on in the steps, has been in the same code for longer than anybody before. */
static void who_was_late_before_has_little_of_what_it_passes_on(void **state)
{
    (void)state;
    enum { BEFORE_US = 2 * STEPS * LATE_US };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct scene *scene = played(patterns[i].from_whom, one_is_late, BEFORE_US);
        double due = 100 * (RANKS - 1) * BEFORE_US / (scene->analysis->waiting_ns / 1000);
        assert_true(blame_of(scene, 2) > 0.75 * (100 - due));
        assert_true(blame_of(scene, 2) + blame_of(scene, 4) > 98.5);
        scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_passes_lateness_on_is_not_blamed),
        cmocka_unit_test(who_waits_for_a_late_one_is_late_too),
        cmocka_unit_test(who_is_a_little_slower_has_little),
        cmocka_unit_test(who_was_late_before_has_little_of_what_it_passes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
