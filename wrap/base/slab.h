/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of one size that come and go in great numbers. What was not given back is freed with the slab. */
#pragma once
#include "wrap/base/arena.h"
#include <string.h>

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
