/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An arena is a list of blocks of growing size. A request larger than a block gets a block of its own. */
enum { ARENA_ALIGN = 16, ARENA_FIRST = 4096, ARENA_LARGEST = 1 << 20 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(ARENA_ALIGN) unsigned char data[];
};

/* Data that fills lines of the cache begins with one. */
static size_t padding_before(const struct arena_block *block, size_t size)
{
    return size % CACHE_LINE ? 0 : -(uintptr_t)(block->data + block->used) % CACHE_LINE;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
    if (size_bytes > SIZE_MAX / 2)
        err_out_of_memory(size_bytes);
    size_t size = (size_bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    struct arena_block *block = arena->blocks;
    if (!block || block->size - block->used < padding_before(block, size) + size) {
        size_t grown = block ? block->size * 2 : ARENA_FIRST;
        if (grown > ARENA_LARGEST)
            grown = ARENA_LARGEST;
        if (grown < size + CACHE_LINE)
            grown = size + CACHE_LINE;
        block = memory_new(1, sizeof *block + grown);
        block->size = grown;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    block->used += padding_before(block, size) + size;
    return block->data + block->used - size;
}

void *arena_copy(struct arena *arena, const void *data, size_t size_bytes)
{
    void *memory = arena_alloc(arena, size_bytes);
    if (size_bytes)
        memcpy(memory, data, size_bytes);
    return memory;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text) + 1);
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(arena, (size_t)(length < 0 ? 0 : length) + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void arena_release(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
}

void *memory_new(size_t n, size_t size_bytes)
{
    void *memory = calloc(n, size_bytes);
    if (!memory)
        err_out_of_memory(n * size_bytes);
    return memory;
}

void *memory_lines(size_t n, size_t size_bytes)
{
    if (n > SIZE_MAX / 2 / size_bytes)
        err_out_of_memory(n);
    size_t n_lines = (n * size_bytes + CACHE_LINE) / CACHE_LINE;
    void *memory = aligned_alloc(CACHE_LINE, n_lines * CACHE_LINE);
    if (!memory)
        err_out_of_memory(n);
    return memset(memory, 0, n * size_bytes);
}

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

void heap_sift_down(struct heap *heap)
{
    struct heap_item moved = heap->items[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        if (child + 1 < heap->n && heap_is_before(heap->items[child + 1], heap->items[child]))
            child++;
        if (!heap_is_before(heap->items[child], moved))
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
    for (; at && heap_is_before(item, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = item;
}

void heap_pop(struct heap *heap)
{
    heap->items[0] = heap->items[--heap->n];
    if (heap->n)
        heap_sift_down(heap);
}

void heap_release(struct heap *heap)
{
    vec_free(heap->items);
    *heap = (struct heap){0};
}

struct ordered {
    double value;
    uint32_t number;
};

static int ordered_compare(const void *a, const void *b)
{
    const struct ordered *left = a, *right = b;
    return order_of(right->value, left->value) ?: order_of(left->number, right->number);
}

uint32_t *order_falling(struct arena *arena, const double *values, uint32_t n)
{
    struct arena scratch = {0};
    struct ordered *ordered = arena_array(&scratch, struct ordered, n + 1);
    uint32_t *numbers = arena_array(arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        ordered[i] = (struct ordered){values[i], i};
    qsort(ordered, n, sizeof *ordered, ordered_compare);
    for (uint32_t i = 0; i < n; i++)
        numbers[i] = ordered[i].number;
    arena_release(&scratch);
    return numbers;
}

/* Linear probing, at most half full; removal shifts the run back, so there are no tombstones. */

void map_grow(struct map *map)
{
    struct map old = *map;
    map->cap = old.cap ? old.cap * 2 : 16;
    map->slots = memory_new(map->cap + 1, sizeof *map->slots);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].key)
            *map_find(map, old.slots[i].key) = old.slots[i];
    if (old.cap)
        map->slots[map->cap] = old.slots[old.cap];
    free(old.slots);
}

bool map_remove(struct map *map, uint64_t key)
{
    const struct map_slot *found = map->cap ? map_find(map, key) : NULL;
    if (!found || !found->key)
        return false;
    size_t hole = (size_t)(found - map->slots), mask = map->cap - 1;
    for (size_t at = (hole + 1) & mask; key && map->slots[at].key; at = (at + 1) & mask) {
        size_t home = hash_u64(map->slots[at].key) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].key = 0;
    map->n--;
    return true;
}

struct map map_copy(const struct map *map)
{
    struct map copy = *map;
    if (!map->cap)
        return copy;
    copy.slots = malloc((map->cap + 1) * sizeof *copy.slots);
    if (!copy.slots)
        err_out_of_memory(map->cap * sizeof *copy.slots);
    memcpy(copy.slots, map->slots, (map->cap + 1) * sizeof *copy.slots);
    return copy;
}

void map_release(struct map *map)
{
    free(map->slots);
    *map = (struct map){0};
}

struct intern_slot {
    uint32_t id_plus_1;
};

uint64_t hash_bytes(const void *bytes, size_t size_bytes)
{
    const unsigned char *at = bytes;
    uint64_t hash = 0x9e3779b97f4a7c15u ^ size_bytes, word;
    for (; size_bytes >= 8; at += 8, size_bytes -= 8) {
        memcpy(&word, at, 8);
        hash = hash_u64(hash ^ word);
    }
    if (size_bytes >= 4) { /* most keys are a few numbers of 32 bits */
        uint32_t half;
        memcpy(&half, at, 4);
        hash = hash_u64(hash ^ half);
        at += 4, size_bytes -= 4;
    }
    word = 0;
    if (size_bytes)
        memcpy(&word, at, size_bytes);
    return size_bytes ? hash_u64(hash ^ word) : hash ^ hash >> 29;
}

static size_t intern_probe(const struct intern *table, uint64_t hash, const void *bytes, size_t size)
{
    size_t at = hash & (table->cap - 1);
    for (; table->slots[at].id_plus_1; at = (at + 1) & (table->cap - 1)) {
        const struct intern_item *item = &table->items[table->slots[at].id_plus_1 - 1];
        if (item->hash == hash && item->size == size && (!size || !memcmp(item->bytes, bytes, size)))
            break;
    }
    return at;
}

uint32_t intern_find(const struct intern *table, const void *bytes, size_t size_bytes)
{
    if (!table->cap)
        return INTERN_NONE;
    uint32_t id_plus_1 = table->slots[intern_probe(table, hash_bytes(bytes, size_bytes), bytes, size_bytes)].id_plus_1;
    return id_plus_1 ? id_plus_1 - 1 : INTERN_NONE;
}

static void intern_place(struct intern *table)
{
    for (size_t i = 0; i < table->n; i++) {
        size_t at = table->items[i].hash & (table->cap - 1);
        while (table->slots[at].id_plus_1)
            at = (at + 1) & (table->cap - 1);
        table->slots[at].id_plus_1 = (uint32_t)i + 1;
    }
}

static void intern_grow(struct intern *table)
{
    free(table->slots);
    table->cap = table->cap ? table->cap * 2 : 32;
    table->slots = memory_new(table->cap, sizeof *table->slots);
    intern_place(table);
}

uint32_t intern_put(struct intern *table, const void *bytes, size_t size_bytes)
{
    if (table->n * 2 >= table->cap)
        intern_grow(table);
    uint64_t hash = hash_bytes(bytes, size_bytes);
    size_t at = intern_probe(table, hash, bytes, size_bytes);
    if (table->slots[at].id_plus_1)
        return table->slots[at].id_plus_1 - 1;
    char *copy = arena_alloc(&table->arena, size_bytes + 1);
    if (size_bytes)
        memcpy(copy, bytes, size_bytes);
    vec_grow((void **)&table->items, &table->items_cap, table->n + 1, sizeof *table->items);
    table->items[table->n++] = (struct intern_item){copy, size_bytes, hash};
    table->slots[at].id_plus_1 = (uint32_t)table->n;
    return (uint32_t)table->n - 1;
}

uint32_t intern_text(struct intern *table, const char *text)
{
    return intern_put(table, text, strlen(text));
}

const char *intern_get(const struct intern *table, uint32_t id)
{
    return table->items[id].bytes;
}

void intern_cut(struct intern *table, size_t n)
{
    if (n >= table->n)
        return;
    table->n = n;
    memset(table->slots, 0, table->cap * sizeof *table->slots);
    intern_place(table);
}

void intern_release(struct intern *table)
{
    free(table->slots);
    vec_free(table->items);
    arena_release(&table->arena);
    *table = (struct intern){0};
}
