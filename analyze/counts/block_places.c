/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/counts/block_places.h"

/* Where the blocks of a function are, as far as that is known, and in how many loops of the machine code. */
struct finding {
    struct code *code;
    uint32_t module;
    const struct counts_function *function;
    uint32_t *places, *depths;
};

/* The number of the label at which the code behind this one ends. */
static uint32_t next_piece(const struct counts_function *function, uint32_t i)
{
    uint32_t next = i + 1;
    while (next < function->n_addresses && function->addresses[next].what != POINTS_CODE)
        next++;
    return next;
}

/* Of several labels at one address, the last one's block has the code. */
static bool is_piece(const struct counts_function *function, uint32_t i)
{
    uint32_t next = next_piece(function, i);
    return function->addresses[i].what == POINTS_CODE &&
           (next == function->n_addresses || function->addresses[next].address != function->addresses[i].address);
}

static void find_at(struct finding *finding, uint32_t block, uint64_t address)
{
    uint32_t depth = code_loop_depth_at(finding->code, finding->module, address);
    if (depth > finding->depths[block]) {
        finding->depths[block] = depth;
        finding->places[block] = code_place_at(finding->code, finding->module, address);
    }
}

/* In how many loops of the compiler's a block lies: as many as of the machine code's, or more. */
static uint32_t depth_wanted(const struct counts_function *function, uint32_t block)
{
    uint32_t loop = function->blocks[block].loop;
    return loop < function->loops.n ? function->loops.at[loop].depth : 0;
}

/*
 * A label stands where the block changes. So where code moved ahead of a loop stands right before it, the label is
 * there, and the loop has none: it is the block's if that belongs into it. A loop that has a label is left to it.
 */
static void find_behind(struct finding *finding, uint32_t i)
{
    const struct counts_function *function = finding->function;
    uint32_t next = next_piece(function, i), block = function->addresses[i].block;
    if (next == function->n_addresses || depth_wanted(function, block) <= finding->depths[block])
        return;
    uint64_t end = function->addresses[next].address;
    uint64_t other = code_spot_at(finding->code, finding->module, end).block;
    if (other && other < end)
        end = other;
    for (uint64_t at = function->addresses[i].address; at < end; at++)
        if (code_loop_depth_at(finding->code, finding->module, at) <= depth_wanted(function, block))
            find_at(finding, block, at);
}

static uint32_t *places_find(struct arena *arena, struct code *code, uint32_t module,
                             const struct counts_function *function)
{
    struct finding finding = {.code = code,
                              .module = module,
                              .function = function,
                              .places = arena_array(arena, uint32_t, function->n_blocks),
                              .depths = arena_array(arena, uint32_t, function->n_blocks)};
    for (uint32_t b = 0; b < function->n_blocks; b++) {
        uint64_t address = function->blocks[b].address;
        finding.places[b] = address ? code_place_at(code, module, address) : CODE_NONE;
        finding.depths[b] = address ? code_loop_depth_at(code, module, address) : 0;
    }
    for (uint32_t i = 0; i < function->n_addresses; i++) {
        const struct points_address *at = &function->addresses[i];
        if (at->what != POINTS_CODE) /* the call before it */
            find_at(&finding, at->block, at->address - 1);
        else if (is_piece(function, i))
            find_at(&finding, at->block, at->address);
    }
    for (uint32_t i = 0; i < function->n_addresses; i++)
        if (is_piece(function, i))
            find_behind(&finding, i);
    return finding.places;
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
