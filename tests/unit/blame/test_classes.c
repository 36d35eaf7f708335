/* SPDX-License-Identifier: BSD-3-Clause */
/* Which instances are the same behaviour, what is redundant, and what sampling error is allowed for. */
#include "analyze/blame/blame.h"
#include "tests/unit/scene/scene.h"
#include "tests/unit/scene/trace_memory.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A hundred barriers; rank 1 runs an extra loop before all but the first, which only start-up skew delays. */
static void hundred_barriers(uint32_t n_ranks)
{
    struct scene *scene = scene_make(n_ranks);
    srand(1);
    uint64_t begin_us = 0;
    for (uint32_t round = 0; round < 100; round++) {
        uint64_t last_us = 0;
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            uint64_t base_us = 1000 + (uint64_t)rand() % 100;
            if (!round)
                scene_work(scene, rank, "start", rank == 0 ? 900 : 300);
            uint64_t from_us = round ? begin_us + (uint64_t)rand() % 20 : scene->now_us[rank];
            scene_work(scene, rank, "base", from_us + base_us);
            if (round && rank == 1)
                scene_work(scene, rank, "extra", scene->now_us[rank] + 1900 + (uint64_t)rand() % 200);
            last_us = scene->now_us[rank] > last_us ? scene->now_us[rank] : last_us;
        }
        begin_us = last_us + 10;
        for (uint32_t rank = 0; rank < n_ranks; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, begin_us);
    }
    scene_analyse(scene);
    const struct wait_site *site = scene_site(scene, WAIT_BARRIER);
    assert_int_equal(site->n_instances, 100);
    assert_int_equal(site->n_classes, 2);
    assert_int_equal(site->classes[0].n_instances, 1);
    assert_int_equal(site->classes[1].n_instances, 99);
    const struct cause *cause = &scene->analysis->causes[0];
    assert_string_equal(scene->analysis->steps[cause->step].routine, "extra");
    assert_int_equal(cause->ranks[0].rank, 1);
    assert_true(cause->share > 0.9);
    scene_free(scene);
}

static void worked_example_has_two_classes(void **state)
{
    (void)state;
    hundred_barriers(2);
    hundred_barriers(4);
    hundred_barriers(17);
}

static struct sparse sampled_shape(const double *shares, size_t n, int n_samples)
{
    struct sparse shape = {0};
    for (int i = 0; i < n_samples; i++) {
        double at = rand() / (RAND_MAX + 1.0);
        size_t step = 0;
        while (step + 1 < n && at >= shares[step])
            at -= shares[step++];
        sparse_add(&shape, step, 1.0 / n_samples);
    }
    sparse_pack(&shape);
    return shape;
}

/* Two samples of one distribution: the mean distance is E, and E + 2 sqrt(V) is rarely exceeded. */
static void allowance_covers_sampling_error(void **state)
{
    (void)state;
    static const double shares[] = {0.4, 0.3, 0.15, 0.1, 0.05};
    static const int sizes[][2] = {{20, 20}, {20, 400}, {100, 100}};
    srand(7);
    for (size_t size = 0; size < 3; size++) {
        double mean = 0, expected = 0;
        int n_exceeded = 0;
        double error = 1.0 / sizes[size][0] + 1.0 / sizes[size][1];
        for (size_t i = 0; i < 5; i++)
            expected += sqrt(2 / M_PI * shares[i] * (1 - shares[i]) * error);
        for (int round = 0; round < 2000; round++) {
            struct sparse a = sampled_shape(shares, 5, sizes[size][0]), b = sampled_shape(shares, 5, sizes[size][1]);
            double allowance, distance = classes_distance(&a, sizes[size][0], &b, sizes[size][1], &allowance);
            mean += distance / 2000;
            n_exceeded += distance > allowance;
            sparse_release(&a);
            sparse_release(&b);
        }
        assert_true(fabs(mean / expected - 1) < 0.05);
        assert_true(n_exceeded < 2000 * 0.08); /* and the threshold comes on top */
    }
}

static void distance_lies_between_0_and_2(void **state)
{
    (void)state;
    struct sparse a = {0}, b = {0}, empty = {0};
    double allowance;
    sparse_add(&a, 1, 1);
    sparse_add(&b, 2, 1);
    sparse_pack(&a);
    sparse_pack(&b);
    assert_true(classes_distance(&a, 0, &b, 0, &allowance) == 2);
    assert_true(allowance == 0);
    assert_true(classes_distance(&a, 0, &a, 0, &allowance) == 0);
    assert_true(classes_distance(&a, 0, &empty, 0, &allowance) == 1);
    assert_true(classes_distance(&empty, 0, &empty, 0, &allowance) == 0);
    sparse_release(&a);
    sparse_release(&b);
}

static void redundant_steps_are_the_smallest_pairs(void **state)
{
    (void)state;
    struct sparse terms = {0};
    sparse_add(&terms, atom_key(0, 1), 5000); /* equal on both sides */
    sparse_add(&terms, KEY_WAITING | atom_key(1, 1), 5000 - 20);
    sparse_add(&terms, atom_key(0, 2), 980);
    sparse_add(&terms, atom_key(0, 3), 30);
    sparse_add(&terms, KEY_WAITING | atom_key(1, 4), 30);
    sparse_add(&terms, atom_key(0, 5), 1); /* exactly equal: the sum has no term of it */
    sparse_add(&terms, KEY_WAITING | atom_key(1, 5), 1);
    sparse_pack(&terms);
    struct sparse kept = {0};
    blame_prune(&terms, &kept);
    assert_true(sparse_get(&kept, 2) > 0);
    assert_true(sparse_sum(&kept) == sparse_get(&kept, 2));
    sparse_release(&kept);
    sparse_release(&terms);
}

/* What the waiting side did longer makes room for nothing on the late side: each side has its own 95 %. */
static void a_step_that_others_outweigh_is_shown(void **state)
{
    (void)state;
    struct sparse terms = {0};
    sparse_add(&terms, atom_key(1, 1), 770);
    sparse_add(&terms, atom_key(1, 2), 360);
    sparse_add(&terms, KEY_WAITING | atom_key(2, 3), 200);
    sparse_add(&terms, KEY_WAITING | atom_key(0, 4), 200);
    sparse_pack(&terms);
    struct sparse kept = {0};
    blame_prune(&terms, &kept);
    assert_true(sparse_sum(&kept) == 4);
    sparse_release(&kept);
    sparse_release(&terms);
}

static void blame_is_shared_over_positive_remainders(void **state)
{
    (void)state;
    struct steps steps = {0};
    const struct sites sites = {.steps = &steps};
    for (uint32_t id = 0; id <= 3; id++)
        assert_int_equal(steps_put(&steps, STEP_COMPUTING, WHAT_PLACE, id, TRACE_NONE), id);
    struct path_class class = {.waiting_ns = 600};
    sparse_add(&class.terms, atom_key(0, 1), 1000); /* +800, of rank 0 and rank 2 */
    sparse_add(&class.terms, KEY_LONG_TERM | atom_key(2, 1), 1000);
    sparse_add(&class.terms, KEY_WAITING | atom_key(1, 1), 1200);
    sparse_add(&class.terms, atom_key(0, 2), 200); /* +200 */
    sparse_add(&class.terms, KEY_WAITING | atom_key(1, 3), 400);
    sparse_pack(&class.terms);
    struct sparse blame = {0};
    blame_share(&class, &sites, &(struct sparse){0}, 0, &blame);
    assert_true(fabs(sparse_sum(&blame) - 600) < 1e-9);
    assert_true(fabs(sparse_get(&blame, atom_key(0, 1)) - 240) < 1e-9);
    assert_true(fabs(sparse_get(&blame, KEY_LONG_TERM | atom_key(2, 1)) - 240) < 1e-9);
    assert_true(fabs(sparse_get(&blame, atom_key(0, 2)) - 120) < 1e-9);
    sparse_release(&blame);
    sparse_release(&class.terms);
    steps_release(&steps);
}

/* The late side took 250 ns below a call and the waiting side 245: which of two loops it was, a few samples told. Below
 * another call it took 10 ns more, and had no CPU for 20. */
static void loops_below_one_call_are_no_longer_than_they_are_together(void **state)
{
    (void)state;
    struct steps steps = {0};
    const struct sites sites = {.steps = &steps};
    uint32_t loops[] = {steps_put_entered(&steps, 1, TRACE_NONE, 7), steps_put_entered(&steps, 2, TRACE_NONE, 7)};
    uint32_t other = steps_put_entered(&steps, 3, TRACE_NONE, 8);
    uint32_t off = steps_put(&steps, STEP_DESCHEDULED, WHAT_PLACE, 1, TRACE_NONE);
    struct path_class class = {.waiting_ns = 35};
    sparse_add(&class.terms, atom_key(0, loops[0]), 150);
    sparse_add(&class.terms, atom_key(0, loops[1]), 100);
    sparse_add(&class.terms, KEY_WAITING | atom_key(1, loops[0]), 100);
    sparse_add(&class.terms, KEY_WAITING | atom_key(1, loops[1]), 145);
    sparse_add(&class.terms, atom_key(0, other), 60);
    sparse_add(&class.terms, KEY_WAITING | atom_key(1, other), 50);
    sparse_add(&class.terms, atom_key(0, off), 20);
    sparse_pack(&class.terms);
    struct sparse blame = {0};
    blame_share(&class, &sites, &(struct sparse){0}, 0, &blame);
    assert_true(fabs(sparse_get(&blame, atom_key(0, loops[0])) - 5) < 1e-9);
    assert_true(fabs(sparse_get(&blame, atom_key(0, other)) - 10) < 1e-9);
    assert_true(fabs(sparse_get(&blame, atom_key(0, off)) - 20) < 1e-9);
    sparse_release(&blame);
    sparse_release(&class.terms);
    steps_release(&steps);
}

static void what_rounding_leaves_of_a_remainder_is_blamed_too(void **state)
{
    (void)state;
    struct steps steps = {0};
    const struct sites sites = {.steps = &steps};
    uint32_t step = steps_put(&steps, STEP_COMPUTING, WHAT_PLACE, 1, TRACE_NONE);
    struct path_class class = {.waiting_ns = 7};
    struct sparse times = {0}, blame = {0};
    for (uint32_t rank = 0; rank < 2; rank++) {
        sparse_add(&class.terms, atom_key(rank, step), 3e15);
        sparse_add(&times, atom_key(rank, step), 5e15);
    }
    sparse_add(&class.terms, KEY_WAITING | atom_key(2, step), 6e15 - 1);
    sparse_pack(&class.terms);
    sparse_pack(&times);
    blame_share(&class, &sites, &times, 0, &blame);
    assert_true(fabs(sparse_sum(&blame) - 7) < 1e-6);
    sparse_release(&blame);
    sparse_release(&times);
    sparse_release(&class.terms);
    steps_release(&steps);
}

/* Rank 2 was seen in the step in 13 samples and rank 0 in 9: that is nothing. Rank 0 in 40 is something. */
static void samples_by_chance_do_not_say_who_is_late(void **state)
{
    (void)state;
    struct steps steps = {0};
    const struct sites sites = {.steps = &steps};
    uint32_t step = steps_put(&steps, STEP_COMPUTING, WHAT_PLACE, 1, TRACE_NONE);
    struct path_class class = {.waiting_ns = 100};
    sparse_add(&class.terms, atom_key(0, step), 500);
    sparse_add(&class.terms, atom_key(2, step), 500);
    sparse_add(&class.terms, KEY_WAITING | atom_key(1, step), 900);
    sparse_pack(&class.terms);
    for (int n_samples = 9; n_samples <= 40; n_samples += 31) {
        struct sparse times = {0}, blame = {0};
        sparse_add(&times, atom_key(0, step), n_samples * 100.0);
        sparse_add(&times, atom_key(2, step), 13 * 100.0);
        sparse_pack(&times);
        blame_share(&class, &sites, &times, 100, &blame);
        double share = sparse_get(&blame, atom_key(0, step)) / 100;
        assert_true(n_samples == 9 ? fabs(share - 0.5) < 1e-9 : share > 0.9);
        sparse_release(&blame);
        sparse_release(&times);
    }
    sparse_release(&class.terms);
    steps_release(&steps);
}

/* Rank 0 takes 12 while rank 1 takes 2, then rank 1 takes 31 while rank 0 takes 30: rank 0 makes the other wait ten
 * times as long, though rank 1 spent more time on the late side. */
static void who_is_late_by_little_after_long_is_blamed_for_little(void **state)
{
    (void)state;
    struct steps steps = {0};
    const struct sites sites = {.steps = &steps};
    uint32_t step = steps_put(&steps, STEP_COMPUTING, WHAT_PLACE, 1, TRACE_NONE);
    struct path_class class = {.waiting_ns = 11};
    struct sparse times = {0}, blame = {0};
    sparse_add(&class.terms, atom_key(0, step), 12);
    sparse_add(&class.terms, atom_key(1, step), 31);
    sparse_add(&class.terms, KEY_WAITING | atom_key(0, step), 30);
    sparse_add(&class.terms, KEY_WAITING | atom_key(1, step), 2);
    sparse_add(&class.lates, 0, 10);
    sparse_add(&class.lates, 1, 1);
    sparse_add(&times, atom_key(0, step), 42);
    sparse_add(&times, atom_key(1, step), 33);
    sparse_pack(&class.terms);
    sparse_pack(&class.lates);
    sparse_pack(&times);
    blame_share(&class, &sites, &times, 0, &blame);
    assert_true(fabs(sparse_get(&blame, atom_key(0, step)) - 10) < 1e-3);
    assert_true(fabs(sparse_get(&blame, atom_key(1, step)) - 1) < 1e-3);
    sparse_release(&blame);
    sparse_release(&times);
    sparse_release(&class.lates);
    sparse_release(&class.terms);
    steps_release(&steps);
}

/* What the clocks' error leaves over on the waiting side, where nobody is late, is blamed on who is. */
static void what_nobody_is_late_with_is_blamed_as_well(void **state)
{
    (void)state;
    struct steps steps = {0};
    const struct sites sites = {.steps = &steps};
    uint32_t work = steps_put(&steps, STEP_COMPUTING, WHAT_PLACE, 1, TRACE_NONE),
             clock = steps_put(&steps, STEP_COMPUTING, WHAT_CLOCK, 0, TRACE_NONE);
    struct path_class class = {.waiting_ns = 600};
    sparse_add(&class.terms, atom_key(0, work), 580);
    sparse_add(&class.terms, KEY_WAITING | atom_key(1, clock), -20);
    sparse_pack(&class.terms);
    struct sparse blame = {0};
    blame_share(&class, &sites, &(struct sparse){0}, 0, &blame);
    assert_true(fabs(sparse_get(&blame, atom_key(0, work)) - 600) < 1e-9);
    sparse_release(&blame);
    sparse_release(&class.terms);
    steps_release(&steps);
}

/* The late side looked at shared memory for 500 ns, until the waiting side had written there, and then worked. */
static void check_spinning(double worked_ns, double waited_ns, double blamed_on_work_ns)
{
    struct steps steps = {0};
    struct trace *trace = trace_memory(2);
    struct sites sites;
    sites_begin(&sites, trace, NULL, &steps);
    uint32_t region = trace_memory_region(trace, "MPI_Win_sync", true, WW_LOCAL, WW_COLL_NONE);
    uint32_t spin = steps_put(&steps, STEP_MPI, WHAT_SITE, sites_put(&sites, TRACE_NONE, region), TRACE_NONE);
    uint32_t work = steps_put(&steps, STEP_COMPUTING, WHAT_PLACE, 1, TRACE_NONE),
             writing = steps_put(&steps, STEP_COMPUTING, WHAT_PLACE, 2, TRACE_NONE);
    struct path_class class = {.waiting_ns = waited_ns};
    sparse_add(&class.terms, atom_key(1, spin), 500);
    sparse_add(&class.terms, atom_key(1, work), worked_ns);
    sparse_add(&class.terms, KEY_WAITING | atom_key(0, writing), 500 + worked_ns - waited_ns);
    sparse_pack(&class.terms);
    struct sparse blame = {0};
    blame_share(&class, &sites, &(struct sparse){0}, 0, &blame);
    assert_true(fabs(sparse_get(&blame, atom_key(1, work)) - blamed_on_work_ns) < 1e-9);
    assert_true(fabs(sparse_get(&blame, atom_key(1, spin)) - (waited_ns - blamed_on_work_ns)) < 1e-9);
    sparse_release(&blame);
    sparse_release(&class.terms);
    sites_release(&sites);
    steps_release(&steps);
    trace_close(trace);
}

static void spinning_is_blamed_for_what_nothing_else_explains(void **state)
{
    (void)state;
    check_spinning(80, 60, 60);
    check_spinning(80, 100, 80);
    check_spinning(0, 100, 0);
}

/* Waits of a microsecond after a large one do not each found a class, nor are they told as if they were like that one.
 */
static void tiny_waits_are_one_class(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    uint64_t now_us = 0;
    for (uint32_t round = 0; round < 5; round++) {
        uint64_t arrive_us = now_us + (round ? 12 : 5000);
        scene_work(scene, 0, names[round], arrive_us);
        scene_work(scene, 1, names[round], now_us + 10);
        now_us = arrive_us + 1;
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, now_us);
    }
    scene_analyse(scene);
    assert_int_equal(scene_site(scene, WAIT_BARRIER)->n_instances, 5);
    assert_int_equal(scene_site(scene, WAIT_BARRIER)->n_classes, 2);
    assert_int_equal(scene_site(scene, WAIT_BARRIER)->classes[0].n_instances, 1);
    assert_int_equal(scene_site(scene, WAIT_BARRIER)->classes[1].n_instances, 4);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example_has_two_classes),
        cmocka_unit_test(allowance_covers_sampling_error),
        cmocka_unit_test(distance_lies_between_0_and_2),
        cmocka_unit_test(redundant_steps_are_the_smallest_pairs),
        cmocka_unit_test(a_step_that_others_outweigh_is_shown),
        cmocka_unit_test(blame_is_shared_over_positive_remainders),
        cmocka_unit_test(loops_below_one_call_are_no_longer_than_they_are_together),
        cmocka_unit_test(what_rounding_leaves_of_a_remainder_is_blamed_too),
        cmocka_unit_test(samples_by_chance_do_not_say_who_is_late),
        cmocka_unit_test(who_is_late_by_little_after_long_is_blamed_for_little),
        cmocka_unit_test(what_nobody_is_late_with_is_blamed_as_well),
        cmocka_unit_test(spinning_is_blamed_for_what_nothing_else_explains),
        cmocka_unit_test(tiny_waits_are_one_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
