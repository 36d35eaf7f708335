/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executions of places in the code, from the bins of programs that were built to count.
 *
 * Bins are carried along with the durations and only solved at the end, class by class. The executions of a block are
 * linear in the counters and in the frames that were in flight when they were taken, so sums of intervals can be solved
 * as one interval. Keys are made by atom_key of the counter, or of COUNT_FRAME and the call stack (+1 for every time it
 * stood at the end of an interval, -1 at the beginning).
 *
 * A place's executions are those of its most executed block: for a loop its iterations, for a routine its calls or
 * more. Blocks of inner loops belong to those. If compilers made copies of a place (inlined here and there, out of line
 * elsewhere), each has its most executed block, and the executions add up.
 */
#pragma once
#include "analyze/code/code.h"
#include "analyze/counts/counts.h"
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"
#include "wrap/base/sparse.h"

/*
 * The counted blocks of a function in the code, with the instructions of each. Compilers move instructions out of
 * loops, never into them, so that a block may lie in several pieces. It is where its innermost pieces are, and of
 * several of those where the longest one is. Code that was moved out is not executed with the block. The call of a
 * block is never moved, so that it tells as well; and a loop without a label is the block's before it.
 */

struct block_places {
    struct arena arena;
    struct map of_function; /* by address of the function's table: that of its blocks' spots */
    struct map calls;       /* likewise, of its calls */
};

/* Calls that are places of their own (code_place_of_call), in counted blocks of a function. */
struct block_calls {
    struct block_call {
        uint32_t block, place;
    } *at;
    uint32_t n;
};

/* CODE_NONE for a block of which no code is left. */
uint32_t block_place(struct block_places *places, struct code *code, uint32_t module,
                     const struct counts_function *function, uint32_t block);
/* Two blocks of a function and a place with the same number belong to one copy of that place. The code of a routine
 * that was inlined twice is there twice. */
uint32_t block_copy(struct block_places *places, struct code *code, uint32_t module,
                    const struct counts_function *function, uint32_t block);
/* True where a loop asks first (turns.h). */
bool block_asks(struct block_places *places, struct code *code, uint32_t module, const struct counts_function *function,
                uint32_t block);
/* Instructions of one execution of the block, as far as they were left where it is. Shared instructions belong to the
 * block that is executed the least. */
double block_instructions(struct block_places *places, struct code *code, uint32_t module,
                          const struct counts_function *function, uint32_t block);
/* Of those that are known as places when a function is first asked about. */
const struct block_calls *block_calls_of(struct block_places *places, struct code *code, uint32_t module,
                                         const struct counts_function *function);
void block_places_release(struct block_places *places);

#define COUNT_FRAME 0x80000000u

struct executions {
    struct trace *trace;
    struct code *code;
    struct counts **modules; /* by module; NULL = not opened, or no counts there */
    bool *is_opened;
    struct block_places block_places;
    VEC(bool) is_partial;       /* by place: threads that take no counts run it as well */
    VEC(uint32_t) contradicted; /* places of functions whose counts contradict each other */
    struct counts_result result;
    VEC(struct counts_bin) bins;
    VEC(struct counts_frame) frames;
};

void executions_begin(struct executions *executions, struct trace *trace, struct code *code);
void executions_release(struct executions *executions);
/* The place is not counted at all: threads run it that take no counts. */
void executions_leave_out(struct executions *executions, uint32_t place);
/* NULL when the module has no counts or is not the file that ran. */
struct counts *executions_module(struct executions *executions, uint32_t module);
/* The place of a counted block; CODE_NONE when no code is left of it. */
uint32_t executions_block_place(struct executions *executions, uint32_t module, const struct counts_function *function,
                                uint32_t block);
/* True when what was solved so far of this function's counters contradicts itself: of its blocks nothing is said. */
bool executions_contradict(struct executions *executions, uint32_t module, const struct counts_function *function);
/* Instructions of it that are there. */
double executions_block_length(struct executions *executions, uint32_t module, const struct counts_function *function,
                               uint32_t block);
/* Solves packed bins: for each high half of a key, adds (high half, place) with its executions to `out`, packed. */
void executions_solve(struct executions *executions, struct sparse *bins, struct sparse *out);

/* Solves the packed bins of one high half of a key and hands out every block that ran, with its function's table. */
typedef void executions_visit(void *context, uint32_t module, const struct counts_function *function,
                              const struct counts_row *row);
void executions_each_block(struct executions *executions, const struct term *terms, size_t n, executions_visit *visit,
                           void *context);

/* Likewise, every function that was entered or left: how often its edges were taken, by edge of its graph, and it was
 * called. */
typedef void executions_visit_flow(void *context, uint32_t module, const struct counts_function *function,
                                   const int64_t *edges, int64_t calls);
void executions_each_flow(struct executions *executions, const struct term *terms, size_t n,
                          executions_visit_flow *visit, void *context);

/*
 * Why one side took longer in a place than the other: with times T and executions E, T = E c,
 *     T_late - T_others = (E_late - E_others) c_others + E_late (c_late - c_others),
 * the first part more work, the second slower. c_late / c_others is known to a relative standard error: within two of
 * that, c_others is what leaves least to the second part. A cost known from two samples may well be four times as high,
 * and is never below 0: errors multiply. All is more work where the others hardly run it at all: a little of it does
 * not show the cost of much. Returns the share of more work in what made it longer (a part that made it shorter does
 * not count), in [0, 1]; -1 when the executions of the late side are not known.
 */
struct side {
    double ns, executions;
};
/* The others run it less than a twentieth as often. */
bool executions_are_few(double others, double late);
double executions_share_of_work(struct side late, struct side others, double cost_error);

/*
 * The places that an interval ran through, from its counts: the executions of the place's blocks, each weighed with how
 * many instructions it is.
 *
 * This is linear in the counters and in the frames in flight, so each of them is turned once into its factors by place.
 * An interval then costs one addition for each counter that changed, and no graph is solved. The sum over blocks says
 * more than the number of iterations where a loop has branches.
 */

/* The places that one more of a counter, or one more frame in flight, adds to. */
struct work_form {
    bool is_known;
    struct term *at; /* place, instructions or so; in the arena */
    size_t n;
};

struct work {
    struct executions *executions;
    struct work_form *points, *frames; /* by trace point, by trace frame (with all its callers) */
    struct counts_effects effects;
    struct sparse sum;  /* scratch */
    struct map heavier; /* block -> 1 + index in more */
    VEC(double) more;
    struct arena arena;
};

void work_begin(struct work *work, struct executions *executions);
void work_release(struct work *work);
/* An execution of the block is so many instructions more. Before anything is measured. */
void work_add_weight(struct work *work, const struct counts_block *block, double more);
/* So many; 0 = none. */
double work_weight(const struct work *work, const struct counts_block *block);
/* Replaces what is in *out: work by place, packed, all of it positive. `counts`: as in a stretch. */
void work_measure(struct work *work, const struct sparse *counts, struct sparse *out);
