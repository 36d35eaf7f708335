/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growing array of any type:
 *     VEC(struct edge) edges = {0};
 *     *vec_push(&edges) = (struct edge){...};
 *     for (size_t i = 0; i < edges.n; i++) use(edges.at[i]);
 *     vec_release(&edges);
 * vec_push returns a pointer to one new zeroed element, valid until the next push. Memory that cannot be had ends the
 * tool.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define VEC(type)                                                                                                      \
    struct {                                                                                                           \
        type *at;                                                                                                      \
        size_t n, cap;                                                                                                 \
    }

#define vec_push(v)                                                                                                    \
    (vec_grow((void **)&(v)->at, &(v)->cap, (v)->n + 1, sizeof *(v)->at),                                              \
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

void heap_push(struct heap *heap, uint64_t time_ns, uint32_t stream);
/* Gives the first stream its next time. */
void heap_replace(struct heap *heap, uint64_t time_ns);
/* Removes the first stream. */
void heap_pop(struct heap *heap);
void heap_release(struct heap *heap);
