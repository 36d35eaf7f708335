/* SPDX-License-Identifier: BSD-3-Clause */
/* Records are worked through once, in their order, by whoever does it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "analyze/trace/stage.h"

enum { BLOCK_BYTES = 1 << 14, PORTION = 1 << 12 };

/* A record is its length in words, its number, and then that number again. */
struct seen {
    uint64_t n, sum;
    bool is_wrong, is_slow;
    struct stage *behind; /* NULL, or for which this stage writes a record of its own for each */
};

static void tell(struct stage *stage, uint64_t from, uint64_t to, uint64_t longest)
{
    for (uint64_t number = from; number < to; number++) {
        uint64_t n_words = 2 + number * number % longest, *record = stage_room(stage, 8 * n_words);
        record[0] = n_words;
        for (uint64_t i = 1; i < n_words; i++)
            record[i] = number;
    }
}

static size_t take(void *context, const void *records, size_t n_bytes)
{
    struct seen *seen = context;
    const uint64_t *at = records, *end = at + n_bytes / 8, *enough = n_bytes < PORTION ? end : at + PORTION / 8;
    while (at < enough) {
        seen->is_wrong |= at[1] != seen->n;
        for (uint64_t i = 2; i < at[0]; i++)
            seen->is_wrong |= at[i] != seen->n;
        seen->sum += at[1];
        if (seen->behind)
            tell(seen->behind, seen->n, seen->n + 1, 5);
        seen->n++;
        at += at[0];
    }
    seen->is_wrong |= at > end || n_bytes > BLOCK_BYTES;
    if (seen->is_slow)
        usleep(200);
    return (size_t)((const char *)at - (const char *)records);
}

enum who { ALONE, STAFF_OF_NONE, STAFF_OF_ONE, STAFF_OF_TWO, STAFF_OF_THREE, WAYS };
enum { STAGES = 3 };

/* A way of three stages. */
struct way {
    struct staff staff;
    struct stage stages[STAGES];
    struct seen seen[STAGES];
};

static void way_begin(struct way *way, enum who who)
{
    *way = (struct way){.seen[0].n = 0};
    if (who != ALONE)
        staff_begin(&way->staff, who - STAFF_OF_NONE);
    for (uint32_t i = STAGES; i-- > 0;) {
        stage_begin(&way->stages[i], BLOCK_BYTES, take, &way->seen[i]);
        way->seen[i].behind = i + 1 < STAGES ? &way->stages[i + 1] : NULL;
        if (who != ALONE)
            stage_join(&way->stages[i], &way->staff);
    }
}

static void way_release(struct way *way)
{
    staff_end(&way->staff);
    for (uint32_t i = 0; i < STAGES; i++)
        stage_release(&way->stages[i]);
}

static void assert_seen(const struct way *way, uint64_t n)
{
    for (uint32_t i = 0; i < STAGES; i++) {
        assert_false(way->seen[i].is_wrong);
        assert_int_equal(way->seen[i].n, n);
        assert_int_equal(way->seen[i].sum, n ? n * (n - 1) / 2 : 0);
    }
}

/* A stage of the way, or the writer, is slow; STAGES = none is. */
static void run(enum who who, uint64_t n, uint64_t longest, uint32_t slow, bool writer_is_slow)
{
    struct way way;
    way_begin(&way, who);
    if (slow < STAGES)
        way.seen[slow].is_slow = true;
    for (uint64_t part = 0; part < 10; part++) {
        tell(&way.stages[0], part * n / 10, (part + 1) * n / 10, longest);
        if (writer_is_slow)
            usleep(2000);
    }
    for (uint32_t i = 0; i < STAGES; i++)
        stage_finish(&way.stages[i]);
    assert_seen(&way, n);
    tell(&way.stages[0], n, n + 5, longest); /* the staff has left */
    for (uint32_t i = 0; i < STAGES; i++)
        stage_finish(&way.stages[i]);
    assert_seen(&way, n + 5);
    way_release(&way);
}

static void all_is_done_in_order(void **state)
{
    (void)state;
    for (enum who who = ALONE; who < WAYS; who++) {
        run(who, 0, 1, STAGES, false);
        run(who, 3, 1, STAGES, false);
        run(who, 300000, 9, STAGES, false);
        run(who, 3000, BLOCK_BYTES / 8 - 2, STAGES, false); /* some fill a block */
    }
}

static void each_waits_for_the_other(void **state)
{
    (void)state;
    for (enum who who = STAFF_OF_NONE; who < WAYS; who++) {
        for (uint32_t slow = 0; slow < STAGES; slow++)
            run(who, 200000, 17, slow, false); /* rings are full */
        run(who, 200000, 17, STAGES, true);    /* and empty */
    }
}

static void is_done_before_the_staff_ends(void **state)
{
    (void)state;
    struct way way;
    way_begin(&way, STAFF_OF_ONE);
    way.seen[1].is_slow = true;
    tell(&way.stages[0], 0, 50000, 9);
    staff_end(&way.staff);
    assert_seen(&way, 50000);
    way_release(&way);
    way.staff = (struct staff){.n_threads = 0};
    staff_end(&way.staff); /* was never begun */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_done_in_order),
        cmocka_unit_test(each_waits_for_the_other),
        cmocka_unit_test(is_done_before_the_staff_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
