/* SPDX-License-Identifier: BSD-3-Clause */
/* The writing half of handle_map.h. */
#include "wrap/record/mpi/handle_map.h"
#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

/* The slot of the key, or for it: a removed slot on its way, or the free one at the end. */
static struct handle_slot *find_slot(struct handle_table *table, uint64_t key)
{
    struct handle_slot *removed = NULL;
    for (uint64_t i = handle_hash(key);; i++) {
        struct handle_slot *slot = &table->slot[i & (table->n_slots - 1)];
        if (slot->key == key)
            return slot;
        if (!slot->key)
            return removed ? removed : slot;
        if (!slot->value && !removed)
            removed = slot;
    }
}

static int make_room(struct handle_map *map)
{
    const struct handle_table *old = map->table;
    if (old && map->n_keys * 2 < old->n_slots)
        return 0;
    uint64_t n_slots = old ? old->n_slots * 2 : FIRST_SLOTS;
    struct handle_table *table = calloc(1, sizeof *table + n_slots * sizeof table->slot[0]);
    if (table)
        table->n_slots = n_slots;
    else
        return old && map->n_keys + 1 < old->n_slots ? 0 : -1;
    map->n_keys = 0;
    for (uint64_t i = 0; old && i < old->n_slots; i++) {
        if (!old->slot[i].value)
            continue;
        *find_slot(table, old->slot[i].key) = old->slot[i];
        map->n_keys++;
    }
    __atomic_store_n(&map->table, table, __ATOMIC_RELEASE);
    return 0;
}

uintptr_t handle_map_set(struct handle_map *map, uint64_t key, uintptr_t value)
{
    uintptr_t before = 0;
    pthread_mutex_lock(&map->lock);
    if (key && (value || handle_map_get(map, key)) && make_room(map) == 0) {
        struct handle_slot *slot = find_slot(map->table, key);
        if (slot->key != key) {
            map->n_keys += slot->key == 0;
            __atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
        }
        before = __atomic_exchange_n(&slot->value, value, __ATOMIC_ACQ_REL);
    }
    pthread_mutex_unlock(&map->lock);
    return before;
}
