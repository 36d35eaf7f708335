/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/vec.h"
#include "wrap/base/err.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

void vec_grow(void **items, size_t *cap, size_t need, size_t size_bytes)
{
    if (need <= *cap)
        return;
    size_t grown = *cap < 8 ? 8 : *cap + *cap / 2;
    if (grown < need)
        grown = need;
    void *moved = grown > SIZE_MAX / 2 / size_bytes ? NULL : realloc(*items, grown * size_bytes);
    if (!moved)
        err_out_of_memory(grown);
    *items = moved;
    *cap = grown;
}

void vec_free(void *items)
{
    free(items);
}

static bool is_before(struct heap_item a, struct heap_item b)
{
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.stream < b.stream;
}

static void sift_down(struct heap *heap)
{
    struct heap_item moved = heap->items[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        if (child + 1 < heap->n && is_before(heap->items[child + 1], heap->items[child]))
            child++;
        if (!is_before(heap->items[child], moved))
            break;
        heap->items[at] = heap->items[child];
    }
    heap->items[at] = moved;
}

void heap_push(struct heap *heap, uint64_t time_ns, uint32_t stream)
{
    vec_grow((void **)&heap->items, &heap->cap, heap->n + 1, sizeof *heap->items);
    struct heap_item item = {time_ns, stream};
    size_t at = heap->n++;
    for (; at && is_before(item, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = item;
}

void heap_replace(struct heap *heap, uint64_t time_ns)
{
    heap->items[0].time_ns = time_ns;
    sift_down(heap);
}

void heap_pop(struct heap *heap)
{
    heap->items[0] = heap->items[--heap->n];
    if (heap->n)
        sift_down(heap);
}

void heap_release(struct heap *heap)
{
    vec_free(heap->items);
    *heap = (struct heap){0};
}
