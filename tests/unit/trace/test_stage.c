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

enum { BLOCK_BYTES = 1 << 14 };

/* A record is its length in words, its number, and then that number again. */
struct seen {
    uint64_t n, sum, n_blocks;
    bool is_wrong, is_slow;
};

static void take(void *context, const void *records, size_t n_bytes)
{
    struct seen *seen = context;
    const uint64_t *at = records, *end = at + n_bytes / 8;
    while (at < end) {
        seen->is_wrong |= at[1] != seen->n;
        for (uint64_t i = 2; i < at[0]; i++)
            seen->is_wrong |= at[i] != seen->n;
        seen->sum += at[1];
        seen->n++;
        at += at[0];
    }
    seen->is_wrong |= at != end || n_bytes > BLOCK_BYTES;
    seen->n_blocks += n_bytes != 0;
    if (seen->is_slow)
        usleep(200);
}

static void tell(struct stage *stage, uint64_t from, uint64_t to, uint64_t longest)
{
    for (uint64_t number = from; number < to; number++) {
        uint64_t n_words = 2 + number * number % longest, *record = stage_room(stage, 8 * n_words);
        record[0] = n_words;
        for (uint64_t i = 1; i < n_words; i++)
            record[i] = number;
    }
}

static void run(bool has_thread, uint64_t n, uint64_t longest, bool worker_is_slow, bool writer_is_slow)
{
    struct seen seen = {.is_slow = worker_is_slow};
    struct stage stage;
    stage_begin(&stage, BLOCK_BYTES, take, &seen);
    if (has_thread)
        stage_start_thread(&stage);
    for (uint64_t part = 0; part < 10; part++) {
        tell(&stage, part * n / 10, (part + 1) * n / 10, longest);
        if (writer_is_slow)
            usleep(2000);
    }
    stage_finish(&stage);
    assert_false(seen.is_wrong);
    assert_int_equal(seen.n, n);
    assert_int_equal(seen.sum, n * (n - 1) / 2);
    tell(&stage, n, n + 5, longest); /* there is no thread any more */
    stage_finish(&stage);
    assert_false(seen.is_wrong);
    assert_int_equal(seen.n, n + 5);
    stage_release(&stage);
}

static void all_is_done_in_order(void **state)
{
    (void)state;
    for (int has_thread = 0; has_thread < 2; has_thread++) {
        run(has_thread, 0, 1, false, false);
        run(has_thread, 3, 1, false, false);
        run(has_thread, 300000, 9, false, false);
        run(has_thread, 3000, BLOCK_BYTES / 8 - 2, false, false); /* some fill a block */
    }
}

static void each_waits_for_the_other(void **state)
{
    (void)state;
    run(true, 200000, 17, true, false); /* the ring is full */
    run(true, 200000, 17, false, true); /* and empty */
}

static void is_released_while_there_is_work(void **state)
{
    (void)state;
    struct seen seen = {.is_slow = true};
    struct stage stage;
    stage_begin(&stage, BLOCK_BYTES, take, &seen);
    stage_start_thread(&stage);
    tell(&stage, 0, 50000, 9);
    stage_release(&stage);
    assert_false(seen.is_wrong);
    stage = (struct stage){0};
    stage_release(&stage); /* was never begun */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_done_in_order),
        cmocka_unit_test(each_waits_for_the_other),
        cmocka_unit_test(is_released_while_there_is_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
