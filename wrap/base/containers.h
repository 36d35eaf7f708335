/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory and what holds many things: arenas, slabs, vectors, a heap of streams, an order by size, hash tables. Memory
 * that cannot be had ends the tool.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

/* Memory that will be used soon: by then it is in the cache. Nothing is read that need be there. */
static inline void memory_fetch(const void *at, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += CACHE_LINE)
        __builtin_prefetch((const char *)at + i);
}

/* Moves `at` to the first place below `end` where the condition, which is written with `at`, does not hold: it holds
 * for all from the initial value of `at` up to there. */
#define bisect(at, end, comes_before)                                                                                  \
    do {                                                                                                               \
        __typeof__(at) low_ = (at), high_ = (end);                                                                     \
        while (low_ < high_) {                                                                                         \
            (at) = low_ + (high_ - low_) / 2;                                                                          \
            if (comes_before)                                                                                          \
                low_ = (at) + 1;                                                                                       \
            else                                                                                                       \
                high_ = (at);                                                                                          \
        }                                                                                                              \
        (at) = low_;                                                                                                   \
    } while (0)

/* As qsort, which must not be asked where there is nothing. */
static inline void items_sort(void *items, size_t n, size_t size_bytes, int (*order)(const void *, const void *))
{
    if (n)
        qsort(items, n, size_bytes, order);
}

/* n zeroed objects; free gives them back. */
void *memory_new(size_t n, size_t size_bytes);
/* The same, the first of which begins a line of the cache; vec_free gives them back. */
void *memory_lines(size_t n, size_t size_bytes);

/* Memory by phase: everything allocated from an arena lives until arena_release. */
struct arena {
    struct arena_block *blocks; /* newest first */
};

/* Zeroed memory aligned to 16 bytes, or to a line of the cache if it is one or several; never NULL (exits the tool when
 * memory is exhausted). */
void *arena_alloc(struct arena *arena, size_t size_bytes);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *arena_copy(struct arena *arena, const void *data, size_t size_bytes);
/* Frees everything; the arena may be used again. */
void arena_release(struct arena *arena);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, n) ((type *)arena_alloc((arena), sizeof(type) * (size_t)(n)))

/* Objects of one size that come and go in great numbers. Items not given back are freed with the slab. */

struct slab {
    struct arena arena;
    void *spare; /* each begins with a pointer to the next */
};

/* Zeroed; all calls with one slab name one size, at least that of a pointer. */
static inline void *slab_take(struct slab *slab, size_t size_bytes)
{
    void *object = slab->spare;
    if (!object)
        return arena_alloc(&slab->arena, size_bytes);
    memcpy(&slab->spare, object, sizeof slab->spare);
    return memset(object, 0, size_bytes);
}

static inline void slab_give(struct slab *slab, void *object)
{
    memcpy(object, &slab->spare, sizeof slab->spare);
    slab->spare = object;
}

static inline void slab_release(struct slab *slab)
{
    arena_release(&slab->arena);
    slab->spare = NULL;
}

#define slab_new(slab, type) ((type *)slab_take((slab), sizeof(type)))

/*
 * A growing array of any type:
 *     VEC(struct edge) edges = {0};
 *     *vec_push(&edges) = (struct edge){...};
 *     for (size_t i = 0; i < edges.n; i++) use(edges.at[i]);
 *     vec_release(&edges);
 * vec_push returns a pointer to one new zeroed element, valid until the next push. Memory that cannot be had ends the
 * tool. (Room implies an array; vec_push asks for both because static analysis does not see that.)
 */

#define VEC(type)                                                                                                      \
    struct {                                                                                                           \
        type *at;                                                                                                      \
        size_t n, cap;                                                                                                 \
    }

#define vec_push(v)                                                                                                    \
    ((v)->at && (v)->n < (v)->cap ? (void)0 : vec_grow((void **)&(v)->at, &(v)->cap, (v)->n + 1, sizeof *(v)->at),     \
     __builtin_memset(&(v)->at[(v)->n], 0, sizeof *(v)->at), &(v)->at[(v)->n++])
/* Makes n elements, the new ones zeroed. */
#define vec_resize(v, count)                                                                                           \
    do {                                                                                                               \
        size_t vec_n_ = (count);                                                                                       \
        vec_grow((void **)&(v)->at, &(v)->cap, vec_n_, sizeof *(v)->at);                                               \
        if (vec_n_ > (v)->n)                                                                                           \
            __builtin_memset(&(v)->at[(v)->n], 0, (vec_n_ - (v)->n) * sizeof *(v)->at);                                \
        (v)->n = vec_n_;                                                                                               \
    } while (0)
#define vec_release(v)                                                                                                 \
    do {                                                                                                               \
        vec_free((v)->at);                                                                                             \
        (v)->at = NULL;                                                                                                \
        (v)->n = (v)->cap = 0;                                                                                         \
    } while (0)
#define vec_sort(v, order) items_sort((v)->at, (v)->n, sizeof *(v)->at, (order))
/* Replaces what `to` names, without a release, by the same elements in memory of its own. */
#define vec_copy(to, from)                                                                                             \
    do {                                                                                                               \
        (to)->at = NULL;                                                                                               \
        (to)->n = (to)->cap = 0;                                                                                       \
        vec_resize((to), (from)->n);                                                                                   \
        if ((from)->n)                                                                                                 \
            memcpy((to)->at, (from)->at, (from)->n * sizeof *(from)->at);                                              \
    } while (0)

/* Makes *items hold at least `need` elements of `size_bytes`; contents are kept. */
void vec_grow(void **items, size_t *cap, size_t need, size_t size_bytes);
void vec_free(void *items);

/* Merges streams by time: a binary heap of stream numbers, ties by number. */
struct heap_item {
    uint64_t time_ns;
    uint32_t stream;
};
struct heap {
    struct heap_item *items; /* items[0] is the first */
    size_t n, cap;
};

static inline bool heap_is_before(struct heap_item a, struct heap_item b)
{
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.stream < b.stream;
}
void heap_sift_down(struct heap *heap);

void heap_push(struct heap *heap, uint64_t time_ns, uint32_t stream);
/* Gives the first stream its next time. */
static inline void heap_replace(struct heap *heap, uint64_t time_ns)
{
    struct heap_item *items = heap->items;
    items[0].time_ns = time_ns;
    bool stays =
        (heap->n < 2 || heap_is_before(items[0], items[1])) && (heap->n < 3 || heap_is_before(items[0], items[2]));
    if (!stays) /* streams mostly come in runs */
        heap_sift_down(heap);
}
/* The time after the first stream's present one; behind all others when there is no other stream. */
static inline struct heap_item heap_second(const struct heap *heap)
{
    struct heap_item second = {UINT64_MAX, UINT32_MAX};
    for (size_t i = 1; i < heap->n && i < 3; i++)
        if (heap_is_before(heap->items[i], second))
            second = heap->items[i];
    return second;
}
/* Removes the first stream. */
void heap_pop(struct heap *heap);
void heap_release(struct heap *heap);

/* Numbers from 0 to n - 1 in falling order of their values, those with equal values as they are. Lives in the arena. */
uint32_t *order_falling(struct arena *arena, const double *values, uint32_t n);

/*
 * Two hash tables with open addressing. map u64 -> u64, any key. For handles, ids, addresses. intern
 * byte string -> dense id 0, 1, 2 ... in order of first sight; for strings, stacks, vectors. Iteration
 * is not offered: ids are dense, and map users keep their own list, so that nothing depends on hash
 * order.
 */

/* Both halves of the product: every bit of the input takes part in the lowest. */
static inline uint64_t hash_u64(uint64_t x)
{
    unsigned __int128 product = (unsigned __int128)x * 0xd6e8feb86659fd93u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Four of them fill a line of the cache. */
struct map_slot {
    uint64_t key, value; /* key 0: it is free */
};
struct map {
    struct map_slot *slots; /* one more: the last is for key 0, and has another one when it is taken */
    size_t n, cap;
};

/* The slot of the key, or for it. The map has room. */
static inline struct map_slot *map_find(const struct map *map, uint64_t key)
{
    if (!key)
        return &map->slots[map->cap];
    size_t at = hash_u64(key) & (map->cap - 1);
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & (map->cap - 1);
    return &map->slots[at];
}
void map_grow(struct map *map);

/* The value of `key`, or NULL. Valid until the next map_put or map_remove. */
static inline uint64_t *map_get(const struct map *map, uint64_t key)
{
    struct map_slot *slot = map->cap ? map_find(map, key) : NULL;
    return slot && slot->key ? &slot->value : NULL;
}
/* The value of `key`, made 0 when it is new (*is_new may be NULL). Valid until the next map_put or map_remove. */
static inline uint64_t *map_put(struct map *map, uint64_t key, bool *is_new)
{
    if (map->n * 2 >= map->cap)
        map_grow(map);
    struct map_slot *slot = map_find(map, key);
    if (is_new)
        *is_new = !slot->key;
    if (!slot->key) {
        *slot = (struct map_slot){.key = key ? key : 1, .value = 0};
        map->n++;
    }
    return &slot->value;
}
/* True when the key was there. */
bool map_remove(struct map *map, uint64_t key);
/* Another one with the same entries. */
struct map map_copy(const struct map *map);
void map_release(struct map *map);

struct intern {
    struct intern_slot *slots;
    struct intern_item {
        const void *bytes;
        size_t size;
        uint64_t hash;
    } *items; /* by id */
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
/* Forgets all but the first n. */
void intern_cut(struct intern *table, size_t n);
void intern_release(struct intern *table);

uint64_t hash_bytes(const void *bytes, size_t size_bytes);
