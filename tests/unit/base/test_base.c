/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include "wrap/base/sparse.h"
#include <stdio.h>
#include <string.h>

static void arena_memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t size = 0; size < 5000; size = size * 2 + 1) {
        unsigned char *memory = arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
    }
    assert_string_equal(arena_printf(&arena, "%s-%d", "rank", 7), "rank-7");
    arena_release(&arena);
}

static void vec_keeps_what_is_pushed(void **state)
{
    (void)state;
    VEC(int) numbers = {0};
    for (int i = 0; i < 1000; i++)
        *vec_push(&numbers) = i;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(numbers.at[i], i);
    vec_resize(&numbers, 2000);
    assert_int_equal(numbers.at[1999], 0);
    vec_release(&numbers);
}

static void order_falls_and_keeps_what_is_equal(void **state)
{
    (void)state;
    static const double values[] = {1, 3, 2, 3, -1, 2};
    static const uint32_t falling[] = {1, 3, 2, 5, 0, 4};
    struct arena arena = {0};
    const uint32_t *order = order_falling(&arena, values, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(order[i], falling[i]);
    (void)order_falling(&arena, NULL, 0);
    arena_release(&arena);
}

/* Against a plain array: random puts and removals over few keys make long probe runs and holes. */
static void map_agrees_with_an_array(void **state)
{
    (void)state;
    enum { KEYS = 257 };
    uint64_t truth[KEYS] = {0}, seed = 1;
    struct map map = {0};
    for (int step = 0; step < 100000; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t key = (seed >> 33) % KEYS;
        if (seed >> 62) {
            *map_put(&map, key, NULL) = truth[key] = seed | 1;
        } else {
            assert_int_equal(map_remove(&map, key), truth[key] != 0);
            truth[key] = 0;
        }
        uint64_t probe = (seed >> 20) % KEYS;
        uint64_t *value = map_get(&map, probe);
        assert_int_equal(value ? *value : 0, truth[probe]);
    }
    map_release(&map);
}

static void intern_gives_dense_ids_in_order(void **state)
{
    (void)state;
    struct intern table = {0};
    char text[16];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 1000; i++) {
            snprintf(text, sizeof text, "s%u", i);
            assert_int_equal(intern_text(&table, text), i);
            assert_string_equal(intern_get(&table, i), text);
        }
    assert_int_equal(intern_find(&table, "absent", 6), INTERN_NONE);
    uint32_t empty = intern_put(&table, NULL, 0); /* as of a group without members */
    assert_int_equal(intern_put(&table, NULL, 0), empty);
    assert_int_equal(intern_find(&table, "", 0), empty);
    intern_release(&table);
}

static void meter_tells_share_rate_and_time_left(void **state)
{
    (void)state;
    char line[160];
    struct meter meter = {.begin_ns = 1000, .stage_ns = 1000, .stage = "reading 1 of 2", .unit = "events"};
    meter.n = 10000000, meter.n_after = 10000000, meter.n_done = 2500000;
    assert_int_equal(meter_line(&meter, 1000 + 1900000000, line, sizeof line), 0); /* it may be over before that */
    assert_int_not_equal(meter_line(&meter, 1000 + 2500000000, line, sizeof line), 0);
    assert_string_equal(line, "whywait: reading 1 of 2  25 %  1 M events/s  about 18 s left");
    meter.n = 0;
    meter_line(&meter, 1000 + 2500000000, line, sizeof line);
    assert_string_equal(line, "whywait: reading 1 of 2  1 M events/s");
    assert_int_equal(meter_line(&meter, 1000 + 2500000000, line, 12), 11);
}

/* Nothing added to an empty vector is nothing: no room, no address computed from none. */
static void vector_takes_any_number_of_terms(void **state)
{
    (void)state;
    struct sparse vector = {0};
    assert_null(sparse_extend(&vector, 0));
    assert_int_equal(vector.cap, 0);
    struct term *to = sparse_extend(&vector, 2);
    to[0] = (struct term){9, 1};
    to[1] = (struct term){4, 2};
    assert_null(sparse_extend(&vector, 0));
    sparse_pack(&vector);
    assert_int_equal(vector.n, 2);
    assert_int_equal(vector.at[0].key, 4);
    sparse_release(&vector);
}

/* Few keys and many, far from each other and close together, each met again: sums by key, in order in the end. */
static void sums_hold_few_keys_and_many(void **state)
{
    (void)state;
    enum { CLOSE = 0, FAR = 40 };
    for (uint64_t n = 1; n < 6000; n = n % 2 ? n + 1 : 3 * n - 1) {
        int shift = n % 2 ? CLOSE : FAR;
        struct sums sums = {0};
        struct sparse all = {0};
        for (uint64_t i = 0; i < 3 * n; i++)
            sums_add(&sums, (i * 7919 % n) << shift, (double)(i / n + 1));
        sums_add(&sums, n << shift, 0);
        sums_add(&sums, (n + 1) << shift, 4);
        sums_add(&sums, (n + 1) << shift, -4);
        sums_take(&sums, &all);
        assert_int_equal(all.n, n);
        assert_int_equal(all.n_packed, n);
        for (uint64_t i = 0; i < n; i++) {
            assert_int_equal(all.at[i].key, i << shift);
            assert_int_equal(all.at[i].ns, 6);
        }
        struct arena arena = {0};
        sparse_settle(&all, &arena);
        assert_int_equal(all.cap, n);
        assert_int_equal(sparse_get(&all, (n - 1) << shift), 6);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_takes_any_number_of_terms),    cmocka_unit_test(sums_hold_few_keys_and_many),
        cmocka_unit_test(arena_memory_is_zeroed_and_aligned),  cmocka_unit_test(vec_keeps_what_is_pushed),
        cmocka_unit_test(order_falls_and_keeps_what_is_equal), cmocka_unit_test(map_agrees_with_an_array),
        cmocka_unit_test(intern_gives_dense_ids_in_order),     cmocka_unit_test(meter_tells_share_rate_and_time_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
