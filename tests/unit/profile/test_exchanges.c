/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call moves, and with whom. */
#include "tests/unit/scene/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { RANKS = 4, STEPS = 10, LARGE = 1000000 };

/* In each step a rank sends to the next one, the last to the first; every tenth message is large. */
static void ring(struct scene *scene, uint32_t step)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        scene_enter(scene, rank, WW_ID_Send, scene->now_us[rank]);
        scene_event(scene, (struct event){.kind = EV_SEND,
                                          .time_ns = 1000 * scene->now_us[rank],
                                          .loc = rank,
                                          .peer = (rank + 1) % RANKS,
                                          .tag = 7,
                                          .bytes = step ? 8 : LARGE});
        scene_leave(scene, rank, WW_ID_Send, scene->now_us[rank] + 1);
    }
    uint64_t end_us = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        end_us = scene->now_us[rank] > end_us ? scene->now_us[rank] : end_us;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint32_t from = (rank + RANKS - 1) % RANKS;
        scene_enter(scene, rank, WW_ID_Recv, scene->now_us[rank]);
        scene_event(scene, (struct event){.kind = EV_RECV,
                                          .time_ns = 1000 * (end_us + 5),
                                          .loc = rank,
                                          .peer = from,
                                          .tag = 7,
                                          .bytes = step ? 8 : LARGE});
        scene_leave(scene, rank, WW_ID_Recv, end_us + 6);
    }
}

static void sizes_and_partners_of_a_call_are_known(void **state)
{
    (void)state;
    struct scene *scene = scene_make(RANKS);
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < RANKS; rank++)
            scene_work(scene, rank, "work", scene->now_us[rank] + 500 + 300 * (rank == 2));
        ring(scene, step);
    }
    scene_analyse(scene);
    const struct wait_site *site = scene_site(scene, WAIT_LATE_SENDER);
    assert_non_null(site);
    const struct site_exchange *exchange = &site->exchange;
    assert_int_equal(exchange->messages.n, RANKS * STEPS);
    assert_int_equal(exchange->messages.least, 8);
    assert_int_equal(exchange->messages.most, LARGE);
    assert_int_equal(exchange->messages.bytes, RANKS * (LARGE + 8 * (STEPS - 1)));
    assert_int_equal(exchange->n_partners, 2);
    assert_int_equal(exchange->partners[0].distance, -1);
    assert_int_equal(exchange->partners[0].n, (RANKS - 1) * STEPS);
    assert_int_equal(exchange->partners[1].distance, RANKS - 1);
    assert_int_equal(exchange->collectives.n, 0);
    scene_free(scene);
}

static void collectives_count_apart(void **state)
{
    (void)state;
    struct scene *scene = scene_make(RANKS);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t end_us = 0;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            scene_work(scene, rank, "work", scene->now_us[rank] + 500 + 300 * (rank == 2));
            end_us = scene->now_us[rank] > end_us ? scene->now_us[rank] : end_us;
        }
        for (uint32_t rank = 0; rank < RANKS; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, end_us + 5);
    }
    scene_analyse(scene);
    const struct wait_site *site = scene_site(scene, WAIT_BARRIER);
    assert_int_equal(site->exchange.collectives.n, RANKS * STEPS);
    assert_int_equal(site->exchange.collectives.most, 0);
    assert_int_equal(site->exchange.n_members, RANKS);
    assert_int_equal(site->exchange.messages.n, 0);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_partners_of_a_call_are_known),
        cmocka_unit_test(collectives_count_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
