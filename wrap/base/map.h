/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two hash tables with open addressing.
 *  map     u64 -> u64, any key; for handles, ids, addresses.
 *  intern  byte string -> dense id 0, 1, 2 ... in order of first sight; for strings, stacks, vectors.
 * Iteration is not offered: ids are dense, and map users keep their own list, so that nothing depends on hash order.
 */
#pragma once
#include "wrap/base/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
    struct map_slot *slots;
    size_t n, cap;
};

/* The value of `key`, or NULL. Valid until the next map_put or map_remove. */
uint64_t *map_get(const struct map *map, uint64_t key);
/* The value of `key`, made 0 when it is new (*is_new may be NULL). Valid until the next map_put or map_remove. */
uint64_t *map_put(struct map *map, uint64_t key, bool *is_new);
/* True when the key was there. */
bool map_remove(struct map *map, uint64_t key);
void map_release(struct map *map);

struct intern {
    struct intern_slot *slots;
    struct intern_item {
        const void *bytes;
        size_t size;
        uint64_t hash;
    } * items; /* by id */
    size_t n, cap, items_cap;
    struct arena arena; /* owns the bytes, each followed by a zero byte */
};

enum { INTERN_NONE = UINT32_MAX };
/* The id of these bytes, which are copied when new. */
uint32_t intern_put(struct intern *table, const void *bytes, size_t size_bytes);
uint32_t intern_text(struct intern *table, const char *text);
/* The id of these bytes, or INTERN_NONE. */
uint32_t intern_find(const struct intern *table, const void *bytes, size_t size_bytes);
/* The text of an id handed out by intern_text; lives as long as the table. */
const char *intern_get(const struct intern *table, uint32_t id);
void intern_release(struct intern *table);

uint64_t hash_bytes(const void *bytes, size_t size_bytes);
static inline uint64_t hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}
