/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From bins to executions. A module built with the plugin carries a table of its counted functions
 * (wrap/points.h): their flow graphs, which edges are counted, where calls return to, which source lines a block
 * has. Given the counters that changed in an interval, and the frames that were waiting in a call at its beginning and
 * at its end, the number of executions of every block follows exactly.
 *
 * Everything returned lives until counts_close. Not thread-safe. A damaged table gives fewer functions, never a crash.
 */
#pragma once
#include "analyze/counts/function.h"
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdint.h>

struct counts;

/*
 * Opens the table of an executable or shared library. Returns 0 with *counts set, or NULL there when the file has no
 * table; -1 after error() when it cannot be read.
 */
int counts_open(const char *path, struct counts **counts);
void counts_close(struct counts *counts);
/* Leaves those functions only that a list of patterns chooses (wrap/only.h); NULL = all. Of the others nothing
 * was recorded, but what tells calls of those. Before anything is solved. */
void counts_keep_only(struct counts *counts, const char *only);

uint32_t counts_n_functions(const struct counts *counts);
const struct counts_function *counts_function(const struct counts *counts, uint32_t function);

/* The function and block in which a call with this return address (link-time) is parked. False when none is known, or
 * when the call's block has been counted as left (tail call, noreturn). */
bool counts_parked_at(const struct counts *counts, uint64_t return_address, uint32_t *function, uint32_t *block);

/* The allocation point whose bytes this point counts, and its function; NULL when it counts something else. */
const struct counts_alloc *counts_alloc_at(const struct counts *counts, uint32_t point, uint32_t *function);

struct counts_bin {
    uint32_t point;
    uint64_t value;
};
/* A frame in flight: +1 at the end of the interval, -1 at its beginning. */
struct counts_frame {
    uint64_t return_address;
    int32_t sign;
};
struct counts_row {
    uint32_t function, block;
    uint64_t executions; /* never 0 */
};
struct counts_bytes {
    uint32_t function, alloc;
    uint64_t bytes;
};
struct counts_fault {
    uint32_t function;
};
/* Executions of each edge of a function, and of the function. */
struct counts_flow {
    uint32_t function;
    size_t first_edge; /* of its edges, in edge_counts */
    int64_t calls;
};
struct counts_result {
    bool keeps_flows;              /* set by the caller: flows are wanted as well */
    VEC(struct counts_flow) flows; /* by function; of functions that ran and know their edges */
    VEC(int64_t) edge_counts;
    VEC(struct counts_row) rows; /* by function, then block; without EXIT and blocks without code */
    VEC(struct counts_bytes) bytes;
    VEC(struct counts_fault) faults; /* functions whose counts contradict each other: they have no rows */
};

/* Replaces what is in *result. Unknown points are ignored. Linear in the sizes of the functions concerned. */
void counts_solve(struct counts *counts, const struct counts_bin *bins, size_t n_bins,
                  const struct counts_frame *frames, size_t n_frames, struct counts_result *result);
static inline void counts_result_release(struct counts_result *result)
{
    vec_release(&result->flows);
    vec_release(&result->edge_counts);
    vec_release(&result->rows);
    vec_release(&result->bytes);
    vec_release(&result->faults);
}

/* The executions of a block that one more of a counter, or of a frame in flight, adds: solving is linear. */
struct counts_effect {
    uint32_t function, block;
    int64_t executions; /* never 0 */
};
struct counts_effects {
    struct counts_effect *at;
    size_t n, cap;
};
/* Replace what is in *effects and return the function that the point or address belongs to, or CFG_NONE when it is not
 * known. Calls that this function counts have an effect on those that it calls. */
uint32_t counts_point_effects(struct counts *counts, uint32_t point, struct counts_effects *effects);
uint32_t counts_frame_effects(struct counts *counts, uint64_t return_address, struct counts_effects *effects);

/* Executions by source line: for people and tools that know line coverage. */

/* Executions of every block of a module, summed over whatever was solved. */
struct counts_sum {
    const struct counts *counts;
    uint64_t *executions;       /* of block b of function f: [first[f] + b] */
    int64_t *taken;             /* of edge e of function f: [first_edge[f] + e]; of results that keep flows */
    size_t *first, *first_edge; /* by function */
};
void counts_sum_init(struct counts_sum *sum, struct arena *arena, const struct counts *counts);
void counts_sum_add(struct counts_sum *sum, const struct counts_result *result);

struct counts_line_count {
    const char *file, *function;
    uint32_t line;
    uint32_t number, copy; /* of the function; of the routine inlined into it (struct counts_line) */
    uint32_t loop;         /* the innermost one around it, in loops of the function; CFG_NONE */
    uint64_t executions;
};
/*
 * All lines of the module's counted functions, also those never executed, by file, then line. In one function a line
 * was executed as often as the most executed block that has code of it, and the line of its head as often as it was
 * called. Copies add up: what several functions have of a line (a template's instances), the places at which a function
 * was inlined, and loops of a function of which none lies in another (the compiler made several of one).
 * Returns how many; the array is in the arena.
 */
size_t counts_lines(const struct counts_sum *sum, struct arena *arena, struct counts_line_count **lines);

/* A way that control may go behind a condition. */
struct counts_branch {
    const char *file;
    uint32_t line;
    uint32_t number, block, way; /* of the function, of the condition's block there, and among its ways */
    uint64_t executions;         /* of the condition */
    uint64_t taken;
};
/* All ways behind conditions (and switches) by file, line of the condition, function, block and way. Ways on which a
 * frame vanishes (exceptions, longjmp) are none. Returns how many; the array is in the arena. */
size_t counts_branches(const struct counts_sum *sum, struct arena *arena, struct counts_branch **branches);

/* A function and how often it was called. */
struct counts_head {
    const char *file, *name, *source_name;
    uint32_t line;
    uint64_t calls;
};
/* The module's counted functions by file, line and name. Returns how many; the array is in the arena. */
size_t counts_heads(const struct counts_sum *sum, struct arena *arena, struct counts_head **heads);
