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

static inline int key_order_u32(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static inline int key_order_u64(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}
