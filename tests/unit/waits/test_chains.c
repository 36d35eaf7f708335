/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of chains itself, and what adoption makes of waits for waiters. */
#include "analyze/waits/history.h"
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_us(value, expected) assert_true(fabs((value) - (expected)) < 1e-3)

static struct chain_node *extend(struct chain *chain, struct chain_node *parent, uint64_t key, uint64_t dur_ns)
{
    struct sparse terms = {0};
    sparse_add(&terms, key, (double)dur_ns);
    struct chain_node *node = chain_extend(chain, parent, parent->time_ns + dur_ns, &terms, 0);
    sparse_release(&terms);
    return node;
}

static void unheld_nodes_go(void **state)
{
    (void)state;
    struct chain chain = {0};
    struct chain_node *origin = chain_begin(&chain, 0);
    struct chain_node *a = extend(&chain, origin, 1, 10), *b = extend(&chain, a, 2, 20), *c = extend(&chain, a, 3, 30);
    assert_int_equal(chain.n_live, 4);
    chain_drop(&chain, a); /* two children: stays */
    assert_int_equal(chain.n_live, 4);
    assert_ptr_equal(chain_common(b, c), a);
    chain_drop(&chain, b); /* now a has one child and becomes part of it */
    assert_int_equal(chain.n_live, 2);
    assert_ptr_equal(c->parent, origin);
    sparse_pack(&c->terms);
    assert_int_equal(c->terms.n, 2);
    assert_true(sparse_sum(&c->terms) == 40);
    chain_drop(&chain, c);
    assert_int_equal(chain.n_live, 1);
    chain_release(&chain);
}

static void a_process_that_never_waits_keeps_one_node(void **state)
{
    (void)state;
    struct chain chain = {0};
    struct chain_node *tip = chain_begin(&chain, 0);
    tip->holds++;
    for (uint64_t i = 0; i < 10000; i++) {
        struct chain_node *next = extend(&chain, tip, i % 7, 1);
        chain_drop(&chain, tip);
        tip = next;
        assert_true(chain.n_live <= 3);
    }
    sparse_pack(&tip->terms);
    assert_int_equal(tip->terms.n, 7);
    assert_true(sparse_sum(&tip->terms) == 10000);
    chain_release(&chain);
}

/* The worked example: B2 = A1 - B1, C2 = A1 + B3 - C1, A3 = B3 + C3 - A2, where A1 cancels. */
static void expansion_explains_waits_by_computation(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    scene_work(scene, 0, "A1", 100);
    scene_send(scene, 0, 1, 1, 100);
    scene_work(scene, 0, "A2", 150);
    scene_receive(scene, 0, 2, 1, 240);
    scene_work(scene, 1, "B1", 60);
    scene_receive(scene, 1, 0, 1, 100);
    scene_work(scene, 1, "B3", 180);
    scene_send(scene, 1, 2, 1, 180);
    scene_work(scene, 2, "C1", 70);
    scene_receive(scene, 2, 1, 1, 180);
    scene_work(scene, 2, "C3", 240);
    scene_send(scene, 2, 0, 1, 240);
    scene_analyse(scene);
    static const struct {
        const char *name;
        double signed_us[3]; /* in B2, C2, A3 */
    } expected[] = {{"A1", {100, 100, 0}}, {"B1", {-60, 0, 0}}, {"B3", {0, 80, 80}},
                    {"C1", {0, -70, 0}},   {"C3", {0, 0, 60}},  {"A2", {0, 0, -50}}};
    const struct wait_site *site = scene_site(scene, WAIT_LATE_SENDER);
    assert_int_equal(site->n_classes, 3);
    assert_us(site->classes[0].waiting_ns / 1000, 40);
    assert_us(site->classes[1].waiting_ns / 1000, 110);
    assert_us(site->classes[2].waiting_ns / 1000, 90);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        for (uint32_t class = 0; class < 3; class ++)
            assert_us(scene_signed_of(scene, &site->classes[class], expected[i].name), expected[i].signed_us[class]);
    scene_free(scene);
}

/* Rank 0 is late; the delay reaches rank 3 through two others, who did nothing wrong. */
static void blame_goes_through_a_pipeline(void **state)
{
    (void)state;
    struct scene *scene = scene_make(4);
    scene_work(scene, 0, "slow", 1000);
    scene_send(scene, 0, 1, 1, 1000);
    for (uint32_t rank = 1; rank < 4; rank++) {
        scene_work(scene, rank, "prepare", 20);
        scene_receive(scene, rank, rank - 1, 1, 1000 + 10 * (rank - 1));
        scene_work(scene, rank, "step", 1000 + 10 * rank);
        if (rank < 3)
            scene_send(scene, rank, rank + 1, 1, 1000 + 10 * rank);
    }
    const struct analysis *analysis = scene_analyse(scene);
    assert_us(analysis->waiting_ns / 1000, 980 + 990 + 1000);
    assert_string_equal(analysis->steps[analysis->causes[0].step].routine, "slow");
    /* One class: 3 x 1000 in "slow" and 10 + 20 in "step" share the 2970. */
    assert_us(scene_blame(scene, "slow", 0), 2970 * 3000. / 3030);
    assert_us(analysis->causes[0].direct_ns / 1000, 980); /* as long as rank 1 waits for it */
    scene_free(scene);
}

/* Both have waited for rank 0 already: its delay stands on both sides of what follows and cancels. */
static void a_common_delay_cancels(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    scene_work(scene, 0, "slow", 1000);
    for (uint32_t rank = 1; rank < 3; rank++)
        scene_work(scene, rank, "quick", 100);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 1000);
    scene_work(scene, 0, "even", 1100);
    scene_work(scene, 1, "even", 1300);
    scene_work(scene, 2, "even", 1100);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Allreduce, TRACE_NONE, 1300);
    scene_analyse(scene);
    assert_us(scene_signed(scene, WAIT_NXN, "slow"), 0);
    assert_us(scene_blame(scene, "slow", 0), 1800);
    assert_us(scene_blame(scene, "even", 1), 400);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unheld_nodes_go),
        cmocka_unit_test(a_process_that_never_waits_keeps_one_node),
        cmocka_unit_test(expansion_explains_waits_by_computation),
        cmocka_unit_test(blame_goes_through_a_pipeline),
        cmocka_unit_test(a_common_delay_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
