/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory by phase: everything allocated from an arena lives until arena_release. */
#pragma once
#include <stddef.h>

struct arena {
    struct arena_block *blocks; /* newest first */
};

/* Zeroed memory aligned to 16 bytes; never NULL (exits the tool when memory is exhausted). */
void *arena_alloc(struct arena *arena, size_t size_bytes);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *arena_copy(struct arena *arena, const void *data, size_t size_bytes);
/* Frees everything; the arena may be used again. */
void arena_release(struct arena *arena);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, n) ((type *)arena_alloc((arena), sizeof(type) * (size_t)(n)))
