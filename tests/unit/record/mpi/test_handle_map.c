/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of handles against a plain array, through growth and removal; and readers while it grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "wrap/record/mpi/handle_map.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { N_KEYS = 5000, N_STEPS = 400000, N_READERS = 3 };

static uint64_t key_of(uint64_t number)
{
    return 0x7f0000000000u + number * 176; /* as objects lie that are allocated one after the other */
}

static void test_like_an_array(void **state)
{
    (void)state;
    struct handle_map map = HANDLE_MAP_INIT;
    static uintptr_t model[N_KEYS];
    uint64_t random = 1;
    for (int step = 0; step < N_STEPS; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t number = (random >> 33) % N_KEYS;
        uintptr_t value = (random >> 20) % 3 ? (random >> 40) + 1 : 0;
        assert_int_equal(handle_map_set(&map, key_of(number), value), model[number]);
        model[number] = value;
        number = (random >> 13) % N_KEYS;
        assert_int_equal(handle_map_get(&map, key_of(number)), model[number]);
    }
    for (uint64_t i = 0; i < N_KEYS; i++)
        assert_int_equal(handle_map_get(&map, key_of(i)), model[i]);
}

/* A handle that comes and goes must not fill the table: programs make and free communicators by the million. */
static void test_reuse(void **state)
{
    (void)state;
    struct handle_map map = HANDLE_MAP_INIT;
    for (uintptr_t i = 1; i <= 1000000; i++) {
        assert_int_equal(handle_map_set(&map, key_of(i % 8), i), 0);
        assert_int_equal(handle_map_set(&map, key_of(i % 8), 0), i);
    }
    assert_true(map.table->n_slots <= 64);
}

static void test_strange_keys(void **state)
{
    (void)state;
    struct handle_map map = HANDLE_MAP_INIT;
    assert_int_equal(handle_map_get(&map, 0), 0);
    assert_int_equal(handle_map_get(&map, UINT64_MAX), 0);
    assert_int_equal(handle_map_set(&map, 0, 5), 0);
    assert_int_equal(handle_map_get(&map, 0), 0);
    assert_int_equal(handle_map_set(&map, UINT64_MAX, 5), 0);
    assert_int_equal(handle_map_get(&map, UINT64_MAX), 5);
}

static struct handle_map shared = HANDLE_MAP_INIT;
static _Atomic uint64_t n_there;
static _Atomic bool is_wrong;

/* What was set before is found, whatever is added meanwhile. */
static void *read_on(void *unused)
{
    (void)unused;
    for (uint64_t n = 0; n < N_KEYS; n = atomic_load_explicit(&n_there, memory_order_acquire))
        for (uint64_t i = 0; i < n; i++)
            if (handle_map_get(&shared, key_of(i)) != i + 1)
                atomic_store(&is_wrong, true);
    return NULL;
}

static void test_readers(void **state)
{
    (void)state;
    pthread_t readers[N_READERS];
    for (int i = 0; i < N_READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, NULL), 0);
    for (uint64_t i = 0; i < N_KEYS; i++) {
        handle_map_set(&shared, key_of(i), i + 1);
        atomic_store_explicit(&n_there, i + 1, memory_order_release);
    }
    for (int i = 0; i < N_READERS; i++)
        pthread_join(readers[i], NULL);
    assert_false(atomic_load(&is_wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_an_array),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_strange_keys),
        cmocka_unit_test(test_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
