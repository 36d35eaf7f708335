/* SPDX-License-Identifier: BSD-3-Clause */
/* Work in parts comes to the same, whoever does it and whoever is lost meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/engine/share.h"
#include "wrap/base/containers.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 7, NOBODY = -1 };

struct work {
    struct engine *engine;
    uint32_t n_parts, n_taken, n_performed;
    uint64_t sum;
    int dies_first, dies_then; /* numbers of processes: in the first round, in a later one */
    uint32_t n_rounds;
    bool is_wrong;
};

/* Of that part: its length in words, all of which are the same. */
static uint32_t n_words(uint32_t part)
{
    return part * part % 37;
}

static bool perform(void *context, struct deal *deal)
{
    struct work *work = context;
    uint64_t words[40];
    for (uint32_t part = 0; part < work->n_parts; part++) {
        if (!deal_has(deal, part))
            continue;
        for (uint32_t i = 0; i < n_words(part); i++)
            words[i] = 1000003u * part + i;
        deal_give(deal, part, (struct parcel){words, n_words(part) * sizeof *words});
        work->n_performed++;
        if ((int)work->engine->number == (work->n_rounds ? work->dies_then : work->dies_first))
            raise(SIGKILL);
    }
    work->n_rounds++;
    return true;
}

static void take(void *context, uint32_t part, struct parcel result)
{
    struct work *work = context;
    const uint64_t *words = result.at;
    work->is_wrong |=
        part != work->n_taken++ || result.n_bytes != n_words(part) * sizeof *words || (uintptr_t)words % sizeof *words;
    for (size_t i = 0; i < result.n_bytes / sizeof *words; i++) {
        work->is_wrong |= words[i] != 1000003u * part + i;
        work->sum = 31 * work->sum + words[i];
    }
}

struct outcome {
    uint64_t sum;
    uint32_t n_taken, n_performed;
    bool is_right;
};

/* In number 0: what it took, and whether all others took the same, or nothing. */
static struct outcome share_out(uint32_t n, struct work work, bool is_for_all, bool knows_n)
{
    struct engine engine = {0};
    struct parcel take_[MOST];
    work.engine = &engine;
    engine_fork(&engine, n);
    const struct share share = {.context = &work,
                                .perform = perform,
                                .take = take,
                                .n_parts = knows_n ? work.n_parts : 0,
                                .is_for_all = is_for_all};
    struct outcome mine = {.is_right = share_perform(&engine, &share) && !work.is_wrong};
    mine.sum = work.sum;
    mine.n_taken = work.n_taken;
    mine.n_performed = work.n_performed;
    engine_gather(&engine, (struct parcel){&mine, sizeof mine}, take_);
    for (uint32_t i = 1; i < engine_n(&engine) && engine_is_first(&engine); i++) {
        struct outcome its;
        if (take_[i].n_bytes == PARCEL_LOST)
            continue;
        memcpy(&its, take_[i].at, sizeof its);
        mine.is_right = mine.is_right && its.is_right && its.n_taken == (is_for_all ? mine.n_taken : 0) &&
                        its.sum == (is_for_all ? mine.sum : 0);
        mine.n_performed += its.n_performed;
    }
    engine_end(&engine);
    return mine;
}

static void check(uint32_t n, struct work work)
{
    struct work alone = {.n_parts = work.n_parts, .dies_first = NOBODY, .dies_then = NOBODY};
    uint64_t sum = share_out(1, alone, true, true).sum;
    for (unsigned how = 0; how < 4; how++) {
        struct outcome outcome = share_out(n, work, how & 1, how & 2);
        assert_true(outcome.is_right);
        assert_int_equal(outcome.n_taken, work.n_parts);
        assert_int_equal(outcome.sum, sum);
        if (work.dies_first == NOBODY) /* nothing is done twice */
            assert_int_equal(outcome.n_performed, work.n_parts);
    }
}

static void test_same_for_any_number(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, MOST}, parts[] = {0, 1, 5, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            check(sizes[i], (struct work){.n_parts = parts[k], .dies_first = NOBODY, .dies_then = NOBODY});
}

static void test_same_where_some_die(void **state)
{
    (void)state;
    check(2, (struct work){.n_parts = 50, .dies_first = 1, .dies_then = NOBODY});
    check(5, (struct work){.n_parts = 50, .dies_first = 4, .dies_then = NOBODY});
    check(5, (struct work){.n_parts = 50, .dies_first = 2, .dies_then = 3});
    check(3, (struct work){.n_parts = 50, .dies_first = 1, .dies_then = 2});
}

static bool cannot(void *context, struct deal *deal)
{
    const struct work *work = context;
    return work->engine->number != 1 && perform(context, deal);
}

static void test_same_where_one_gives_up(void **state)
{
    (void)state;
    struct engine engine = {0};
    struct work work = {.engine = &engine, .n_parts = 20, .dies_first = NOBODY, .dies_then = NOBODY};
    engine_fork(&engine, 3);
    const struct share share = {.context = &work, .perform = cannot, .take = take};
    if (!share_perform(&engine, &share))
        engine_give_up(&engine);
    bool is_lost = engine.is_lost[1], is_first = engine_is_first(&engine);
    engine_end(&engine);
    assert_true(is_first && is_lost && !work.is_wrong);
    assert_int_equal(work.n_taken, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_for_any_number),
        cmocka_unit_test(test_same_where_some_die),
        cmocka_unit_test(test_same_where_one_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
