/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions by source line: for people and tools that know line coverage. */
#pragma once
#include "analyze/counts/counts.h"

/* Executions of every block of a module, summed over whatever was solved. */
struct counts_sum {
    const struct counts *counts;
    uint64_t *executions; /* of block b of function f: [first[f] + b] */
    size_t *first;        /* by function */
};
void counts_sum_init(struct counts_sum *sum, struct arena *arena, const struct counts *counts);
void counts_sum_add(struct counts_sum *sum, const struct counts_result *result);

struct counts_line_count {
    const char *file, *function;
    uint32_t line;
    uint32_t number, copy; /* of the function; of the routine inlined into it (struct counts_line) */
    uint64_t executions;
};
/*
 * All lines of the module's counted functions, also those never executed, by file, then line. In one function a line
 * was executed as often as the most executed block that has code of it, and the line of its head as often as it was
 * called; what several functions have of a line adds up (a template's instances), and so do the places at which a
 * function was inlined.
 * Returns how many; the array is in the arena.
 */
size_t counts_lines(const struct counts_sum *sum, struct arena *arena, struct counts_line_count **lines);

/* A function and how often it was called. */
struct counts_head {
    const char *file, *name, *source_name;
    uint32_t line;
    uint64_t calls;
};
/* The module's counted functions by file, line and name. Returns how many; the array is in the arena. */
size_t counts_heads(const struct counts_sum *sum, struct arena *arena, struct counts_head **heads);
