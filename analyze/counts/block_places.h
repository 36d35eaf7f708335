/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in the code the counted blocks of a function are, and how many instructions each has there. Compilers move
 * instructions out of loops, never into them, so that a block may lie in several pieces: it is where its innermost
 * pieces are, and of several of those where the longest one is. What was moved out is not executed with the block. The
 * call of a block is never moved, so that it tells as well; and a loop without a label is the block's before it.
 */
#pragma once
#include "analyze/code/code.h"
#include "analyze/counts/counts.h"
#include "wrap/base/containers.h"

struct block_places {
    struct arena arena;
    struct map of_function; /* by address of the function's table: that of its blocks' spots */
    struct map calls;       /* likewise, of its calls */
};

/* Calls that are places of their own (code_place_of_call), in counted blocks of a function. */
struct block_calls {
    struct block_call {
        uint32_t block, place;
    } * at;
    uint32_t n;
};

/* CODE_NONE for a block of which no code is left. */
uint32_t block_place(struct block_places *places, struct code *code, uint32_t module,
                     const struct counts_function *function, uint32_t block);
/* Two blocks of a function and a place with the same number belong to one copy of that place; the code of a routine
 * that was inlined twice is there twice. */
uint32_t block_copy(struct block_places *places, struct code *code, uint32_t module,
                    const struct counts_function *function, uint32_t block);
/* How many instructions one execution of the block is, as far as they were left where it is. What it shares with others
 * is that one's which is executed the least. */
double block_instructions(struct block_places *places, struct code *code, uint32_t module,
                          const struct counts_function *function, uint32_t block);
/* Of those that are known as places when a function is first asked about. */
const struct block_calls *block_calls_of(struct block_places *places, struct code *code, uint32_t module,
                                         const struct counts_function *function);
void block_places_release(struct block_places *places);
