/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of a routine: itself, and its loops as the programmer counts them. Private to this folder. */
#pragma once
#include "analyze/code/loop_lines.h"
#include "analyze/code/modules.h"

struct code_place *place_new(struct code *code);
/* A copy of the place `around`, as a place of its own inside it. */
struct code_place *place_new_within(struct code *code, uint32_t around, uint64_t address);
/* Makes the places; returns the place by loop number in `scratch`, and that of the routine. */
uint32_t *places_make(struct code *code, uint32_t module, uint32_t routine, struct unit *unit,
                      const struct loop_context *context, struct arena *scratch, uint32_t *routine_place);
/* Shared by copies of one place in several routines. */
struct source_key {
    uint32_t file, line, routine_line;
    uint32_t instance; /* number in module.instances; INTERN_NONE: of no template */
    uint32_t n_loops;  /* 0: it is none; itself, and one in the other below it, those that close on the same line */
};
/* Of a routine itself. */
struct source_key source_key_of_routine(struct module *module, struct unit *unit, uint32_t scope);
/* Of a loop, or a call, that stands in the source of `scope`. */
struct source_key source_key_within(struct module *module, struct unit *unit, uint32_t scope, struct source_key key);
/* Makes the place a copy of the one that has this key already, if any has. */
void place_settle(struct code *code, struct module *module, struct code_place *place, struct source_key key);
