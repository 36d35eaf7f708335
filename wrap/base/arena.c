/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of blocks of growing size; a request larger than a block gets a block of its own. */
#include "wrap/base/arena.h"
#include "wrap/base/err.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGN = 16, ARENA_FIRST = 4096, ARENA_LARGEST = 1 << 20 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(ARENA_ALIGN) unsigned char data[];
};

static struct arena_block *arena_add_block(struct arena *arena, size_t at_least)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : ARENA_FIRST;
    if (size > ARENA_LARGEST)
        size = ARENA_LARGEST;
    if (size < at_least)
        size = at_least;
    struct arena_block *block = calloc(1, sizeof *block + size);
    if (!block)
        err_out_of_memory(size);
    block->size = size;
    block->next = arena->blocks;
    return arena->blocks = block;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
    if (size_bytes > SIZE_MAX / 2)
        err_out_of_memory(size_bytes);
    size_t size = (size_bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    struct arena_block *block = arena->blocks;
    if (!block || block->size - block->used < size)
        block = arena_add_block(arena, size);
    void *memory = block->data + block->used;
    block->used += size;
    return memory;
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
