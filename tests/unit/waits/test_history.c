/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of locations, and what comes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "analyze/waits/history.h"

enum { LANES = 7, KEYS = 50 };

struct occurrence {
    double ns;
};

/* What a sink saw, as numbers that depend on their order. */
struct told {
    uint64_t n_waits, n_closed;
    double sum;
};

static double path_ns(const struct chain_node *node, const struct chain_node *common)
{
    double ns = 0;
    for (; node != common; node = node->parent)
        ns += sparse_sum(&node->terms) + 1e-3 * sparse_sum(&node->counts) + node->noise_ns2;
    return ns;
}

static void sink_add(void *context, struct occurrence **occurrence, const struct wait *wait, struct chain_node *begin,
                     struct chain_node *late)
{
    struct told *told = context;
    const struct chain_node *common = chain_common(begin, late);
    double ns = path_ns(late, common) - path_ns(begin, common);
    told->n_waits++;
    told->sum = told->sum * 0.999 + ns + (double)wait->dur_ns;
    if (occurrence && !*occurrence)
        *occurrence = calloc(1, sizeof **occurrence);
    if (occurrence)
        (*occurrence)->ns += ns;
}

static void sink_close(void *context, struct occurrence **occurrence)
{
    struct told *told = context;
    told->n_closed++;
    told->sum += (*occurrence)->ns;
    free(*occurrence);
    *occurrence = NULL;
}

/* Locations work, mark where they are, and go on from others. */
static struct told play(unsigned seed, double *sums_ns)
{
    struct history history;
    struct told told = {0};
    struct mark *tips[LANES];
    uint32_t occurrences[3] = {0};
    uint64_t now_ns = 0;
    history_begin(&history, LANES);
    history.sink = (struct wait_sink){.context = &told, .add = sink_add, .close = sink_close};
    struct mark *origin = history_origin(&history, 0);
    for (uint32_t lane = 0; lane < LANES; lane++)
        tips[lane] = mark_hold(origin);
    srand(seed);
    for (int turn = 0; turn < 40000; turn++) {
        uint32_t lane = (uint32_t)rand() % LANES, other = (uint32_t)rand() % LANES;
        uint32_t *occurrence = &occurrences[(unsigned)rand() % 3];
        struct sparse terms = {0};
        for (int i = rand() % 5; i > 0; i--)
            sparse_add(&terms, (uint64_t)(rand() % KEYS), rand() % 1000);
        history_add(&history, TO_SEGMENT | TO_SUMS, lane, &terms, 0.7);
        history_add(&history, TO_SEGMENT | TO_SUMS | TO_COUNTS, lane, &terms, 1);
        history_add_term(&history, TO_SEGMENT, lane, 3, rand() % 3);
        history_add_noise(&history, lane, rand() % 2);
        sparse_release(&terms);
        struct mark *begin = history_node(&history, lane, now_ns += 10);
        mark_drop(&history, tips[lane]);
        tips[lane] = begin;
        if (lane == other || rand() % 2)
            continue;
        struct wait wait = {.dur_ns = (uint64_t)rand() % 100};
        history_wait(&history, rand() % 4 ? occurrence : NULL, &wait, begin, tips[other]);
        if (rand() % 5 == 0)
            history_close(&history, occurrence);
        tips[lane] = mark_hold(tips[other]);
        history_go_on_from(&history, lane, tips[lane]);
        mark_drop(&history, begin);
    }
    for (int i = 0; i < 3; i++)
        history_close(&history, &occurrences[i]);
    history_close(&history, &occurrences[0]); /* nothing is open */
    history_finish(&history);
    *sums_ns = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        struct sparse sums = {0};
        sums_take(&history.pasts[lane].atoms, &sums);
        for (size_t i = 0; i < sums.n; i++)
            *sums_ns = *sums_ns * 0.9 + sums.at[i].ns;
        sparse_release(&sums);
    }
    assert_in_range(history.chain.n_live, 1, 2 * LANES + 2);
    assert_in_range(history.n_marks, LANES, 2 * LANES + 2);
    history_release(&history);
    return told;
}

static void what_is_told_is_taken_in_order(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 4; seed++) {
        double once_ns, again_ns;
        struct told once = play(seed, &once_ns), again = play(seed, &again_ns);
        assert_in_range(once.n_waits, 1000, 40000);
        assert_in_range(once.n_closed, 100, 40000);
        assert_memory_equal(&once, &again, sizeof once);
        assert_true(once_ns == again_ns && once_ns > 0);
    }
}

static size_t n_taken(struct sums *sums)
{
    struct sparse taken = {0};
    sums_take(sums, &taken);
    size_t n = taken.n;
    sparse_release(&taken);
    return n;
}

/* Longer than a block has room for. */
static void long_vectors_are_told_in_parts(void **state)
{
    (void)state;
    enum { TERMS = 100000 };
    struct history history;
    struct sparse terms = {0};
    history_begin(&history, 2);
    struct mark *origin = history_origin(&history, 5);
    for (uint64_t key = 0; key < TERMS; key++)
        sparse_push(&terms, key, 2);
    history_add(&history, TO_SEGMENT | TO_SUMS, 1, &terms, 0.5);
    history_add(&history, TO_SUMS | TO_COUNTS, 1, &terms, 1);
    history_add(&history, TO_SEGMENT, history_aside(&history), &terms, 1);
    struct mark *mark = history_node(&history, 1, 7);
    assert_int_equal(mark->time_ns, 7);
    history_finish(&history);
    struct past *past = &history.pasts[1], *aside = &history.pasts[history_aside(&history)];
    assert_int_equal(n_taken(&past->atoms), TERMS);
    assert_int_equal(n_taken(&past->counts), TERMS);
    assert_int_equal(past->open.n, 0);
    assert_int_equal(past->open_counts.n, 0);
    assert_true(sparse_sum(&past->tip->terms) == TERMS && past->tip->time_ns == 7);
    assert_true(sparse_sum(&aside->open) == 2 * TERMS);
    mark_drop(&history, mark);
    mark_drop(&history, origin);
    sparse_release(&terms);
    history_release(&history);
}

/* But for the first, from which another location goes on. */
static void marks_that_nothing_leads_to_become_no_nodes(void **state)
{
    (void)state;
    struct history history;
    history_begin(&history, 2);
    struct mark *origin = history_origin(&history, 0), *tip = mark_hold(origin);
    for (uint64_t at = 1; at <= 100; at++) {
        history_add_term(&history, TO_SEGMENT | TO_SUMS, 0, 7, 1);
        struct mark *next = history_node(&history, 0, at);
        if (at == 50)
            history_go_on_from(&history, 1, next);
        mark_drop(&history, tip);
        tip = next;
    }
    history_add_term(&history, TO_SEGMENT, 0, 8, 5);
    mark_drop(&history, tip);
    history_finish(&history);
    assert_int_equal(history.chain.n_made, 2);
    assert_int_equal(history.chain.n_live, 2);
    const struct past *past = &history.pasts[0], *other = &history.pasts[1];
    assert_ptr_equal(past->tip, other->tip);
    assert_int_equal(past->tip->time_ns, 50);
    assert_true(sparse_sum(&past->tip->terms) == 50 && sparse_sum(&past->open) == 55);
    mark_drop(&history, origin);
    history_release(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_that_nothing_leads_to_become_no_nodes),
        cmocka_unit_test(what_is_told_is_taken_in_order),
        cmocka_unit_test(long_vectors_are_told_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
