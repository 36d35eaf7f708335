/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handle -> pointer or number. Read without a lock by any thread; written under one, at creation and freeing of what
 * the handle names. Open addressing with linear probing. A removed key leaves its slot to the next new key. A table
 * outgrown is kept (readers may be inside): at most as much memory again as the last one has.
 *
 * A reader that races with the removal of its own key may see what comes next in that slot: using a handle while
 * another thread frees it is an error of the program, and costs a wrong number here, nothing worse.
 */
#pragma once
#include <pthread.h>
#include <stdint.h>

struct handle_slot {
    uint64_t key;    /* 0 = never used */
    uintptr_t value; /* 0 = removed */
};

struct handle_table {
    uint64_t n_slots; /* a power of two */
    struct handle_slot slot[];
};

struct handle_map {
    struct handle_table *table;
    uint64_t n_keys;
    pthread_mutex_t lock;
};
#define HANDLE_MAP_INIT {.lock = PTHREAD_MUTEX_INITIALIZER}

static inline uint64_t handle_hash(uint64_t key)
{
    return (key * 0x9e3779b97f4a7c15u) >> 32;
}

/* The value of the key, 0 if it has none. */
static inline uintptr_t handle_map_get(const struct handle_map *map, uint64_t key)
{
    const struct handle_table *table = __atomic_load_n(&map->table, __ATOMIC_ACQUIRE);
    if (!table)
        return 0;
    for (uint64_t i = handle_hash(key);; i++) {
        const struct handle_slot *slot = &table->slot[i & (table->n_slots - 1)];
        uint64_t found = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);
        if (found == key)
            return __atomic_load_n(&slot->value, __ATOMIC_ACQUIRE);
        if (!found)
            return 0;
    }
}

/* Sets the value of a key (0 removes it) and returns what it was before. Without memory the key stays unknown. */
uintptr_t handle_map_set(struct handle_map *map, uint64_t key, uintptr_t value);
