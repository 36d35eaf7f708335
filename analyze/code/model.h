/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of one routine: its graph, and what it tells of addresses, calls and the routines around them. */
#pragma once
#include "analyze/code/answers.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;

/* A routine as the source has it. */
struct code_routine {
    const char *name; /* readable; NULL = unknown */
    const char *file; /* of the declaration; NULL = unknown */
    uint32_t line;
    uint32_t call_line; /* of an inlined one: where it was called, in the next one's code; 0 = unknown */
    uint32_t at_line;   /* in its own code: the address, or where what is inlined there was called; 0 = unknown */
    uint64_t address;   /* link-time entry, where nothing else names it; 0 = unknown */
};
/* The routines that an address lies in: the innermost inlined one first, the one of the symbol table last. Those
 * inlined from system headers are left out: their time belongs to who called them. Returns how many, at least 1 and at
 * most `most`. If there are more, middle ones are missing. */
uint32_t code_routines_at(struct code *code, uint32_t module, uint64_t address, struct code_routine *chain,
                          uint32_t most);

/* The place of a routine, inlined or not: `which` counts as code_routines_at does with the same `most`. It is that of
 * all copies of the routine. CODE_NONE when nothing is known, or of an inlined one no line. */
uint32_t code_place_of_routine(struct code *code, uint32_t module, uint64_t address, uint32_t which, uint32_t most);

/* True when every way to an address from the entry of its routine leads through the basic block of `before`. */
bool code_is_behind(struct code *code, uint32_t module, uint64_t before, uint64_t address);
/* The last basic block through which every way to both addresses leads; 0 = they lie in two routines, or nothing is
 * known. */
uint64_t code_last_common(struct code *code, uint32_t module, uint64_t a, uint64_t b);

/* The routine around an address as a number from 1, by rising address among those of its module: the same in every
 * run of a build. 0 = none is known. */
uint32_t code_routine_number(struct code *code, uint32_t module, uint64_t address);

/* The target of a direct call. */
struct code_callee {
    uint64_t address; /* of the routine, in the same module; 0: in another one */
    const char *name; /* readable */
};
/* The target of the call before a return address. False for calls through pointers, and where nothing is known. */
bool code_callee_at(struct code *code, uint32_t module, uint64_t return_address, struct code_callee *callee);

/* For this folder. */

struct model;
struct model_block;
/* The model around an address, built when needed; NULL when the address lies in no routine. */
struct model *model_at(struct code *code, uint32_t module, uint64_t address);
/* The block of an address; NULL. */
const struct model_block *model_block_at(const struct model *model, uint64_t address);
