/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/pass/block_places.h"

/* Of several labels at one address, the last one's block has the code. */
static bool is_piece(const struct counts_function *function, uint32_t i)
{
    const struct points_address *at = &function->addresses[i];
    uint32_t next = i + 1;
    while (next < function->n_addresses && function->addresses[next].what != POINTS_CODE)
        next++;
    return at->what == POINTS_CODE &&
           (next == function->n_addresses || function->addresses[next].address != at->address);
}

static uint32_t *places_find(struct arena *arena, struct code *code, uint32_t module,
                             const struct counts_function *function)
{
    uint32_t *places = arena_array(arena, uint32_t, function->n_blocks);
    uint32_t *depths = arena_array(arena, uint32_t, function->n_blocks);
    for (uint32_t b = 0; b < function->n_blocks; b++) {
        uint64_t address = function->blocks[b].address;
        places[b] = address ? code_place_at(code, module, address) : CODE_NONE;
        depths[b] = address ? code_loop_depth_at(code, module, address) : 0;
    }
    for (uint32_t i = 0; i < function->n_addresses; i++) {
        const struct points_address *at = &function->addresses[i];
        uint32_t depth = is_piece(function, i) ? code_loop_depth_at(code, module, at->address) : 0;
        if (depth > depths[at->block]) {
            depths[at->block] = depth;
            places[at->block] = code_place_at(code, module, at->address);
        }
    }
    return places;
}

uint32_t block_place(struct block_places *places, struct code *code, uint32_t module,
                     const struct counts_function *function, uint32_t block)
{
    bool is_new;
    uint64_t *slot = map_put(&places->of_function, (uint64_t)(uintptr_t)function, &is_new);
    if (is_new)
        *slot = (uint64_t)(uintptr_t)places_find(&places->arena, code, module, function);
    return ((const uint32_t *)(uintptr_t)*slot)[block];
}

static struct block_calls *calls_find(struct arena *arena, struct code *code, uint32_t module,
                                      const struct counts_function *function)
{
    struct block_calls *calls = arena_new(arena, struct block_calls);
    calls->at = arena_array(arena, struct block_call, function->n_addresses);
    for (uint32_t i = 0; i < function->n_addresses; i++) {
        const struct points_address *at = &function->addresses[i];
        uint32_t place = at->what == POINTS_RETURN ? code_known_call(code, module, at->address - 1) : CODE_NONE;
        if (place != CODE_NONE)
            calls->at[calls->n++] = (struct block_call){at->block, place};
    }
    return calls;
}

const struct block_calls *block_calls_of(struct block_places *places, struct code *code, uint32_t module,
                                         const struct counts_function *function)
{
    bool is_new;
    uint64_t *slot = map_put(&places->calls, (uint64_t)(uintptr_t)function, &is_new);
    if (is_new)
        *slot = (uint64_t)(uintptr_t)calls_find(&places->arena, code, module, function);
    return (const struct block_calls *)(uintptr_t)*slot;
}

void block_places_release(struct block_places *places)
{
    map_release(&places->calls);
    map_release(&places->of_function);
    arena_release(&places->arena);
}
