/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop that fetches and does nothing else is told; whoever works on what he fetched is not. */
#include "tests/unit/scene/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { WINDOW = 3, ROUNDS = 200, MANY = 1000, FEW = 10 };

/* What one round does besides MPI_Win_lock, the first fetch and MPI_Win_unlock, each of a microsecond. */
struct round {
    uint64_t work_us;
    bool also_writes, also_fetches_more, also_sends;
    bool also_asks; /* calls MPI without communicating */
};

static void operation(struct scene *scene, enum ww_call_id call, uint64_t bytes_in)
{
    uint64_t enter_us = scene->now_us[0];
    scene_enter(scene, 0, call, enter_us);
    scene_event(scene, (struct event){.kind = EV_RMA,
                                      .time_ns = (enter_us + 1) * 1000,
                                      .peer = 1,
                                      .window = WINDOW,
                                      .bytes = bytes_in ? 0 : 4,
                                      .bytes_in = bytes_in});
    scene_leave(scene, 0, call, enter_us + 1);
}

static void lock(struct scene *scene, enum ww_call_id call)
{
    uint64_t enter_us = scene->now_us[0];
    scene_enter(scene, 0, call, enter_us);
    scene_event(
        scene,
        (struct event){
            .kind = EV_RMA_SYNC, .time_ns = (enter_us + 1) * 1000, .peer = 1, .tag = WW_LOCK_SHARED, .window = WINDOW});
    scene_leave(scene, 0, call, enter_us + 1);
}

static void play(struct scene *scene, const struct round *round)
{
    lock(scene, WW_ID_Win_lock);
    operation(scene, WW_ID_Get, 4);
    if (round->also_writes)
        operation(scene, WW_ID_Put, 0);
    if (round->also_fetches_more)
        operation(scene, WW_ID_Get, 8);
    lock(scene, WW_ID_Win_unlock);
    if (round->also_asks) {
        scene_enter(scene, 0, WW_ID_Comm_rank, scene->now_us[0]);
        scene_leave(scene, 0, WW_ID_Comm_rank, scene->now_us[0] + 1);
    }
    if (round->also_sends)
        scene_send(scene, 0, 1, 5, scene->now_us[0] + 1);
    if (round->work_us)
        scene_work(scene, 0, "work", scene->now_us[0] + round->work_us);
}

static bool is_told(const struct scene *scene)
{
    return scene->analysis->n_fetches && !strcmp(scene->analysis->fetches[0].call, "MPI_Get");
}

static void only_a_row_of_the_same_fetch_is_told(void **state)
{
    (void)state;
    static const struct {
        struct round round;
        uint64_t n_rounds;
        bool is_told;
    } cases[] = {
        {{0}, MANY, true},
        {{.work_us = 1}, MANY, true},
        {{.also_asks = true}, MANY, true},
        {{0}, FEW, false},
        {{.work_us = 10}, MANY, false},
        {{.also_writes = true}, MANY, false},
        {{.also_fetches_more = true}, MANY, false},
        {{.also_sends = true}, MANY, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *scene = scene_make(2);
        for (uint64_t n = 0; n < cases[i].n_rounds; n++)
            play(scene, &cases[i].round);
        scene_work(scene, 1, "work", 100);
        scene_analyse(scene);
        if (is_told(scene) != cases[i].is_told)
            fail_msg("case %zu: %s", i, cases[i].is_told ? "not told" : "told");
        scene_free(scene);
    }
}

/* A row that is a small part of the run is nobody's problem. */
static void a_short_row_is_not_told(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    for (uint64_t n = 0; n < ROUNDS; n++)
        play(scene, &(struct round){0});
    scene_work(scene, 1, "work", 100 * ROUNDS);
    scene_analyse(scene);
    assert_false(is_told(scene));
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_row_of_the_same_fetch_is_told),
        cmocka_unit_test(a_short_row_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
