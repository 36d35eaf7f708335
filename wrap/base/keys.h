/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ids as one key of a map or a sparse vector: keys stand in order of the high id, then of the low one. And the
 * order of items that begin with their key, for qsort and bsearch.
 */
#pragma once
#include <stdint.h>

static inline uint64_t key_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static inline uint32_t key_high(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

static inline uint32_t key_low(uint64_t key)
{
    return (uint32_t)key;
}

/* Of two numbers, rising: below 0, 0 or above. By several keys: order_of(...) ?: order_of(...). */
#define order_of(left, right) (((left) > (right)) - ((left) < (right)))

static inline int key_order_u32(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return order_of(*a, *b);
}

static inline int key_order_u64(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return order_of(*a, *b);
}
