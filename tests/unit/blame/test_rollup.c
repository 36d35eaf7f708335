/* SPDX-License-Identifier: BSD-3-Clause */
/* Which node of a tree of loops and calls is named for an imbalance. Trees are built line by line. */
#include "analyze/blame/rollup.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { N_RANKS = 4 };
#define MS 1e6

static uint32_t add(struct rollup *rollup, uint32_t parent, bool is_free)
{
    uint32_t node = (uint32_t)rollup->nodes.n;
    rollup->n_ranks = N_RANKS;
    *vec_push(&rollup->nodes) = (struct rollup_node){.parent = parent, .code = node, .is_free = is_free};
    return node;
}

static uint32_t waits(struct rollup *rollup, uint32_t parent)
{
    return add(rollup, parent, false);
}

static uint32_t around(struct rollup *rollup, uint32_t parent)
{
    return add(rollup, parent, true);
}

/* A node that takes every process `ms`, but the late one `factor` times as long: what is too much, all others wait
 * for. */
static uint32_t leaf(struct rollup *rollup, uint32_t parent, double ms, uint32_t late, double factor)
{
    uint32_t node = add(rollup, parent, true);
    for (uint32_t rank = 0; rank < N_RANKS; rank++)
        sparse_add(&rollup->nodes.at[node].times, rank, rank == late ? factor * ms * MS : ms * MS);
    sparse_add(&rollup->nodes.at[node].blame, late, (N_RANKS - 1) * (factor - 1) * ms * MS);
    return node;
}

static double blame_of(const struct rollup *rollup, uint32_t node)
{
    for (size_t i = 0; i < rollup->causes.n; i++)
        if (rollup->causes.at[i].node == node)
            return rollup->causes.at[i].blame_ns;
    return 0;
}

/* Finds, and checks that nothing is lost or blamed twice. */
static void find(struct rollup *rollup)
{
    double given_ns = 0, found_ns = 0;
    rollup_find(rollup);
    for (size_t i = 0; i < rollup->nodes.n; i++) {
        double blame_ns = sparse_sum(&rollup->nodes.at[i].blame);
        given_ns += blame_ns;
        assert_true(blame_ns == 0 || rollup->cause_of.at[i] < rollup->causes.n);
    }
    for (size_t i = 0; i < rollup->causes.n; i++)
        found_ns += rollup->causes.at[i].blame_ns;
    assert_true(fabs(given_ns - found_ns) < 1e-6 * given_ns);
}

/* One loop takes four times as long on one process. Another is as long on all, as far as samples tell; by chance it has
 * an eleventh of the blame. Where times are exact it is a cause. */
static void what_may_be_chance_is_no_cause(void **state)
{
    (void)state;
    for (int is_exact = 0; is_exact < 2; is_exact++) {
        struct rollup rollup = {.sample_ns = is_exact ? 0 : 4 * MS};
        uint32_t solve = around(&rollup, waits(&rollup, ROLLUP_NONE));
        uint32_t uneven = leaf(&rollup, solve, 100, 2, 4);
        leaf(&rollup, solve, 700, 2, 1.06);
        find(&rollup);
        assert_int_equal(rollup.causes.n, is_exact ? 2 : 1);
        assert_int_equal(rollup.causes.at[0].node, uneven);
        rollup_release(&rollup);
    }
}

/* A loop does itself what one process alone does, beside a routine that all call alike: time in the loop is both. */
static void what_is_called_beside_is_inside(void **state)
{
    (void)state;
    struct rollup rollup = {.sample_ns = MS};
    uint32_t loop = around(&rollup, waits(&rollup, ROLLUP_NONE)), routine = leaf(&rollup, loop, 500, 2, 1);
    sparse_add(&rollup.nodes.at[loop].times, 2, 300 * MS);
    sparse_add(&rollup.nodes.at[loop].blame, 2, (N_RANKS - 1) * 300 * MS);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.causes.at[0].node, loop);
    assert_int_equal(rollup.cause_of.at[routine], 0);
    rollup_release(&rollup);
}

static void imbalance_through_many_loops_is_named_by_the_loop_around_them(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t steps = waits(&rollup, waits(&rollup, ROLLUP_NONE)), solve = around(&rollup, steps);
    uint32_t repeat = around(&rollup, solve);
    for (uint32_t i = 0; i < 30; i++)
        leaf(&rollup, around(&rollup, repeat), 1, 2, 5);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.causes.at[0].node, repeat);
    assert_int_equal(rollup.causes.at[0].chosen, solve);
    rollup_release(&rollup);
}

static void single_loop_is_named_itself(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t main = waits(&rollup, ROLLUP_NONE), outer = around(&rollup, around(&rollup, main));
    uint32_t inner = leaf(&rollup, outer, 10, 1, 3);
    leaf(&rollup, outer, 0.5, 1, 3);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.causes.at[0].node, inner);
    rollup_release(&rollup);
}

/* By chance samples of the late process hit the inner loop and those of another one the outer, on the same line. */
static void loops_on_one_line_are_named_by_the_outer_one(void **state)
{
    (void)state;
    for (int is_one_line = 0; is_one_line < 2; is_one_line++) {
        struct rollup rollup = {.sample_ns = MS};
        uint32_t outer = leaf(&rollup, waits(&rollup, ROLLUP_NONE), 10, 0, 1), inner = leaf(&rollup, outer, 30, 0, 4);
        rollup.nodes.at[inner].tells_nothing = is_one_line;
        find(&rollup);
        assert_int_equal(rollup.causes.n, 1);
        assert_int_equal(rollup.causes.at[0].node, is_one_line ? outer : inner);
        rollup_release(&rollup);
    }
}

/* A header's routine calls whatever the program hands to it. */
static void given_routine_does_not_join_what_it_calls(void **state)
{
    (void)state;
    for (int is_given = 0; is_given < 2; is_given++) {
        struct rollup rollup = {0};
        uint32_t routine = around(&rollup, waits(&rollup, ROLLUP_NONE));
        uint32_t one = leaf(&rollup, routine, 100, 0, 4);
        leaf(&rollup, routine, 50, 0, 4);
        rollup.nodes.at[routine].tells_nothing = is_given;
        find(&rollup);
        assert_int_equal(rollup.causes.n, is_given ? 2 : 1);
        assert_int_equal(rollup.causes.at[0].chosen, is_given ? one : routine);
        rollup_release(&rollup);
    }
}

static void imbalances_of_two_processes_in_one_routine_are_two(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t routine = around(&rollup, waits(&rollup, ROLLUP_NONE));
    uint32_t first = leaf(&rollup, routine, 10, 0, 4), second = leaf(&rollup, routine, 7, 3, 4);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 2);
    assert_true(blame_of(&rollup, first) == 3 * 3 * 10 * MS);
    assert_true(blame_of(&rollup, second) == 3 * 3 * 7 * MS);
    rollup_release(&rollup);
}

static void imbalances_of_one_process_by_different_factors_are_two(void **state)
{
    (void)state;
    struct rollup rollup = {.sample_ns = MS};
    uint32_t routine = around(&rollup, waits(&rollup, ROLLUP_NONE));
    uint32_t much = leaf(&rollup, routine, 1000, 0, 4), little = leaf(&rollup, routine, 2000, 0, 1.5);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 2);
    assert_true(blame_of(&rollup, much) > 0 && blame_of(&rollup, little) > 0);
    rollup_release(&rollup);
}

static void few_samples_tell_no_factors_apart(void **state)
{
    (void)state;
    struct rollup rollup = {.sample_ns = 100 * MS};
    uint32_t routine = around(&rollup, waits(&rollup, ROLLUP_NONE));
    leaf(&rollup, routine, 100, 0, 4);
    leaf(&rollup, routine, 200, 0, 1.5);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.causes.at[0].node, routine);
    rollup_release(&rollup);
}

static void balanced_half_of_a_routine_is_left_out_of_the_name(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t routine = around(&rollup, waits(&rollup, ROLLUP_NONE)), half = around(&rollup, routine);
    for (uint32_t i = 0; i < 4; i++)
        leaf(&rollup, half, 5, 1, 2);
    for (uint32_t i = 0; i < 4; i++)
        leaf(&rollup, routine, 5, 1, 1);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.causes.at[0].node, half);
    rollup_release(&rollup);
}

/* What a node that can wait executes itself, and what is called from it, have nothing free around them. */
static void nodes_below_a_call_that_waits_stay_apart(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t main = waits(&rollup, ROLLUP_NONE), steps = waits(&rollup, main);
    leaf(&rollup, around(&rollup, steps), 10, 1, 3);
    leaf(&rollup, around(&rollup, steps), 10, 1, 3);
    sparse_add(&rollup.nodes.at[steps].blame, 1, 10 * MS);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 3);
    assert_true(blame_of(&rollup, steps) == 10 * MS);
    rollup_release(&rollup);
}

static void remainders_join_what_is_like_them_nearby(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t routine = around(&rollup, waits(&rollup, ROLLUP_NONE));
    uint32_t first = leaf(&rollup, routine, 100, 0, 4), second = leaf(&rollup, routine, 100, 3, 4);
    uint32_t small = leaf(&rollup, routine, 0.5, 3, 4), odd = leaf(&rollup, routine, 0.5, 2, 4);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 3);
    assert_true(blame_of(&rollup, first) == 900 * MS);
    assert_true(blame_of(&rollup, second) == 904.5 * MS);
    assert_true(blame_of(&rollup, odd) == 4.5 * MS);
    assert_int_equal(rollup.cause_of.at[small], rollup.cause_of.at[second]);
    rollup_release(&rollup);
}

static void one_loop_entered_on_two_ways_is_one_cause_if_alike(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t main = waits(&rollup, ROLLUP_NONE);
    uint32_t one = leaf(&rollup, around(&rollup, main), 100, 0, 4),
             two = leaf(&rollup, around(&rollup, main), 50, 0, 4);
    uint32_t three = leaf(&rollup, around(&rollup, main), 50, 1, 4);
    rollup.nodes.at[two].code = rollup.nodes.at[three].code = one;
    find(&rollup);
    assert_int_equal(rollup.causes.n, 2);
    assert_int_equal(rollup.cause_of.at[one], rollup.cause_of.at[two]);
    assert_int_not_equal(rollup.cause_of.at[one], rollup.cause_of.at[three]);
    rollup_release(&rollup);
}

/* One way takes five times as long on one process, another as long on all, as far as samples show: what is blamed on
 * that is chance. What is said of the cause is not said of it. A way of so few samples that it may be as late belongs
 * to it. */
static void even_way_is_left_out(void **state)
{
    (void)state;
    struct rollup rollup = {.sample_ns = 4 * MS};
    uint32_t main = waits(&rollup, ROLLUP_NONE);
    uint32_t uneven = leaf(&rollup, around(&rollup, main), 150, 2, 5),
             even = leaf(&rollup, around(&rollup, main), 150, 2, 1.06),
             short_ = leaf(&rollup, around(&rollup, main), 4, 2, 1.5);
    rollup.nodes.at[even].code = rollup.nodes.at[short_].code = uneven;
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_true(rollup.may_be_even.at[even]);
    assert_false(rollup.may_be_even.at[short_] || rollup.may_be_even.at[uneven]);
    rollup_release(&rollup);
}

/* A run-time library runs tasks by threads and routines as it likes. What two calls in the source lead to is two. */
static void code_below_one_call_is_one_cause_however_it_is_entered(void **state)
{
    (void)state;
    for (uint32_t is_other_line = 0; is_other_line < 2; is_other_line++) {
        struct rollup rollup = {0};
        uint32_t main = waits(&rollup, ROLLUP_NONE), ways[2], loops[2];
        for (uint32_t i = 0; i < 2; i++) {
            ways[i] = around(&rollup, main);
            rollup.nodes.at[ways[i]].call_line = 20 + i * is_other_line;
            loops[i] = leaf(&rollup, ways[i], i ? 5 : 100, 0, i ? 20 : 2);
        }
        rollup.nodes.at[loops[1]].code = loops[0];
        find(&rollup);
        assert_int_equal(rollup.causes.n, 1 + is_other_line);
        rollup_release(&rollup);
    }
}

/* Its name tells the call by which most of it comes, not the one that the tree has first. */
static void loop_entered_on_two_ways_is_named_by_the_larger(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t main = waits(&rollup, ROLLUP_NONE), first = around(&rollup, main);
    uint32_t small = leaf(&rollup, first, 2, 0, 4);
    uint32_t second = around(&rollup, main), large = leaf(&rollup, second, 100, 0, 4);
    rollup.nodes.at[large].code = small;
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.causes.at[0].chosen, second);
    rollup_release(&rollup);
}

/* A loop with two inside, of which one has `of_it` of its time. */
static uint32_t nest(struct rollup *rollup, uint32_t parent, double ms, double of_it, uint32_t codes[3])
{
    uint32_t outer = around(rollup, around(rollup, parent));
    uint32_t inner = leaf(rollup, outer, of_it * ms, 0, 4), other = leaf(rollup, outer, (1 - of_it) * ms, 0, 4);
    uint32_t nodes[] = {outer, inner, other};
    for (int i = 0; i < 3; i++)
        rollup->nodes.at[nodes[i]].code = codes[i] = codes[i] == ROLLUP_NONE ? nodes[i] : codes[i];
    return outer;
}

/* On one way the inner loop has so much of it that it would be named alone, on the other a little less. */
static void nest_entered_on_two_ways_is_one_cause_wherever_it_is_named(void **state)
{
    (void)state;
    for (int is_narrow_larger = 0; is_narrow_larger < 2; is_narrow_larger++) {
        struct rollup rollup = {0};
        uint32_t codes[] = {ROLLUP_NONE, ROLLUP_NONE, ROLLUP_NONE}, main = waits(&rollup, ROLLUP_NONE);
        uint32_t wide = nest(&rollup, main, 100, 0.8, codes);
        uint32_t narrow = nest(&rollup, main, is_narrow_larger ? 120 : 80, 0.95, codes);
        find(&rollup);
        assert_int_equal(rollup.causes.n, 1);
        assert_int_equal(rollup.causes.at[0].node, is_narrow_larger ? narrow : wide);
        rollup_release(&rollup);
    }
}

/* So little comes by the other way that the inner loop has nearly all. */
static void nest_entered_on_a_small_way_as_well_is_named_by_the_inner_loop(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t codes[] = {ROLLUP_NONE, ROLLUP_NONE, ROLLUP_NONE}, main = waits(&rollup, ROLLUP_NONE);
    nest(&rollup, main, 5, 0.8, codes);
    nest(&rollup, main, 120, 0.95, codes);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.nodes.at[rollup.causes.at[0].node].code, codes[1]);
    rollup_release(&rollup);
}

/* A library's routine has one loop uneven when it is called here, another one when it is called there. */
static void loops_of_a_routine_entered_on_two_ways_stay_two(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t codes[] = {ROLLUP_NONE, ROLLUP_NONE, ROLLUP_NONE}, main = waits(&rollup, ROLLUP_NONE);
    nest(&rollup, main, 100, 0.95, codes);
    nest(&rollup, main, 80, 0.05, codes);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 2);
    rollup_release(&rollup);
}

/* One branch calls a routine for process 1, the other for the rest. */
static void calls_of_others_are_what_a_cause_is_compared_with(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t main = waits(&rollup, ROLLUP_NONE), late = around(&rollup, main), others = around(&rollup, main);
    uint32_t elsewhere = leaf(&rollup, main, 100, 1, 1);
    rollup.nodes.at[others].code = late;
    sparse_add(&rollup.nodes.at[late].times, 1, 400 * MS);
    sparse_add(&rollup.nodes.at[late].blame, 1, 900 * MS);
    for (uint32_t rank = 0; rank < N_RANKS; rank++)
        if (rank != 1)
            sparse_add(&rollup.nodes.at[others].times, rank, 100 * MS);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.causes.at[0].node, late);
    assert_int_equal(rollup.cause_of.at[others], 0);
    assert_int_equal(rollup.cause_of.at[elsewhere], ROLLUP_NONE);
    rollup_release(&rollup);
}

/* All come to the first call, and only process 1 takes longer there: the other call is another matter. */
static void calls_of_all_stay_apart(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t main = waits(&rollup, ROLLUP_NONE), late = leaf(&rollup, main, 100, 1, 4),
             even = leaf(&rollup, main, 100, 1, 1);
    rollup.nodes.at[even].code = late;
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.cause_of.at[even], ROLLUP_NONE);
    rollup_release(&rollup);
}

static void deep_tree_needs_no_stack(void **state)
{
    (void)state;
    struct rollup rollup = {0};
    uint32_t node = waits(&rollup, ROLLUP_NONE);
    for (uint32_t i = 0; i < 100000; i++)
        node = around(&rollup, node);
    node = leaf(&rollup, node, 10, 1, 2);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 1);
    assert_int_equal(rollup.causes.at[0].node, node);
    rollup_release(&rollup);
}

/* Of the loops of one writing process. */
static bool is_behind_one_branch(void *context, uint32_t a, uint32_t b, const struct sparse *late)
{
    const bool *behind = context;
    assert_true(sparse_get(late, 0) > 0.5);
    return behind[a] && behind[b];
}

/* Two more loops of that process are behind another branch; behind the same one are one of another process, and one of
 * which all have a copy. */
static void loops_behind_one_branch_are_one(void **state)
{
    (void)state;
    struct rollup rollup = {.sample_ns = MS, .has_one_reason = is_behind_one_branch};
    uint32_t routine = waits(&rollup, ROLLUP_NONE), loops[6], common;
    bool behind[8] = {false};
    for (uint32_t i = 0; i < 6; i++) {
        loops[i] = add(&rollup, routine, true);
        uint32_t rank = i == 2 ? 1 : 0;
        sparse_add(&rollup.nodes.at[loops[i]].times, rank, (20 + 100 * i) * MS);
        sparse_add(&rollup.nodes.at[loops[i]].blame, rank, 3 * (20 + 100 * i) * MS);
    }
    common = leaf(&rollup, routine, 100, 0, 3);
    behind[loops[0]] = behind[loops[1]] = behind[loops[2]] = behind[loops[3]] = behind[common] = true;
    rollup.context = behind;
    find(&rollup);
    assert_int_equal(rollup.causes.n, 5);
    assert_true(blame_of(&rollup, common) == 3 * 2 * 100 * MS);
    assert_true(blame_of(&rollup, loops[3]) == 3 * (20 + 120 + 320) * MS);
    assert_true(blame_of(&rollup, loops[2]) == 3 * 220 * MS);
    assert_true(blame_of(&rollup, loops[4]) == 3 * 420 * MS && blame_of(&rollup, loops[5]) == 3 * 520 * MS);
    for (size_t i = 0; i < rollup.causes.n; i++)
        assert_int_equal(rollup.causes.at[i].has_others, rollup.causes.at[i].node == loops[3]);
    rollup_release(&rollup);
}

static const struct rollup_cause *cause_at(const struct rollup *rollup, uint32_t node)
{
    for (size_t i = 0; i < rollup->causes.n; i++)
        if (rollup->causes.at[i].node == node)
            return &rollup->causes.at[i];
    return NULL;
}

/* Rank 2 owns most of a matrix: set-up and solution, between which all wait, are late by as much. Rank 1 is late
 * somewhere else, rank 2 once more by much less, and somewhere by what a few samples may be. */
static void causes_with_the_same_ranks_late_by_as_much_know_the_largest(void **state)
{
    (void)state;
    struct rollup rollup = {.sample_ns = 4 * MS};
    uint32_t main = waits(&rollup, ROLLUP_NONE);
    uint32_t set_up = leaf(&rollup, waits(&rollup, main), 300, 2, 4);
    uint32_t solve = leaf(&rollup, waits(&rollup, main), 1000, 2, 4.4);
    uint32_t again = leaf(&rollup, waits(&rollup, main), 200, 2, 3.8);
    uint32_t other_rank = leaf(&rollup, waits(&rollup, main), 400, 1, 4);
    uint32_t other_factor = leaf(&rollup, waits(&rollup, main), 3000, 2, 1.5);
    uint32_t few_samples = leaf(&rollup, waits(&rollup, main), 20, 2, 4);
    find(&rollup);
    assert_int_equal(rollup.causes.n, 6);
    uint32_t largest = (uint32_t)(cause_at(&rollup, solve) - rollup.causes.at);
    assert_int_equal(cause_at(&rollup, set_up)->like, largest);
    assert_int_equal(cause_at(&rollup, again)->like, largest);
    assert_int_equal(cause_at(&rollup, solve)->like, ROLLUP_NONE);
    assert_int_equal(cause_at(&rollup, other_rank)->like, ROLLUP_NONE);
    assert_int_equal(cause_at(&rollup, other_factor)->like, ROLLUP_NONE);
    assert_int_equal(cause_at(&rollup, few_samples)->like, ROLLUP_NONE);
    rollup_release(&rollup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imbalance_through_many_loops_is_named_by_the_loop_around_them),
        cmocka_unit_test(single_loop_is_named_itself),
        cmocka_unit_test(loops_on_one_line_are_named_by_the_outer_one),
        cmocka_unit_test(given_routine_does_not_join_what_it_calls),
        cmocka_unit_test(imbalances_of_two_processes_in_one_routine_are_two),
        cmocka_unit_test(imbalances_of_one_process_by_different_factors_are_two),
        cmocka_unit_test(few_samples_tell_no_factors_apart),
        cmocka_unit_test(balanced_half_of_a_routine_is_left_out_of_the_name),
        cmocka_unit_test(nodes_below_a_call_that_waits_stay_apart),
        cmocka_unit_test(remainders_join_what_is_like_them_nearby),
        cmocka_unit_test(one_loop_entered_on_two_ways_is_one_cause_if_alike),
        cmocka_unit_test(even_way_is_left_out),
        cmocka_unit_test(code_below_one_call_is_one_cause_however_it_is_entered),
        cmocka_unit_test(loop_entered_on_two_ways_is_named_by_the_larger),
        cmocka_unit_test(nest_entered_on_two_ways_is_one_cause_wherever_it_is_named),
        cmocka_unit_test(nest_entered_on_a_small_way_as_well_is_named_by_the_inner_loop),
        cmocka_unit_test(loops_of_a_routine_entered_on_two_ways_stay_two),
        cmocka_unit_test(calls_of_others_are_what_a_cause_is_compared_with),
        cmocka_unit_test(what_may_be_chance_is_no_cause),
        cmocka_unit_test(what_is_called_beside_is_inside),
        cmocka_unit_test(calls_of_all_stay_apart),
        cmocka_unit_test(loops_behind_one_branch_are_one),
        cmocka_unit_test(causes_with_the_same_ranks_late_by_as_much_know_the_largest),
        cmocka_unit_test(deep_tree_needs_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
