/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges streams by time: a binary heap of stream numbers, ties by number. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct heap_item {
    uint64_t time_ns;
    uint32_t stream;
};
struct heap {
    struct heap_item *items; /* items[0] is the first */
    size_t n, cap;
};

void heap_push(struct heap *heap, uint64_t time_ns, uint32_t stream);
/* Gives the first stream its next time. */
void heap_replace(struct heap *heap, uint64_t time_ns);
/* Removes the first stream. */
void heap_pop(struct heap *heap);
void heap_release(struct heap *heap);
