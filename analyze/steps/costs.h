/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a place on each process, from exact counts, and so how long each step of a stretch took, however short.
 *
 * In the first reading of the trace every counted stretch is one equation,
 *     time on the CPU = sum over places of (work there, executions.h) x (cost of one unit of it),
 * added to the normal equations of its process (nnls.h). Work is what varies from stretch to stretch and from process
 * to process. If it does not, the equations leave costs open, and priors decide, from the weakest to the strongest:
 *  - a unit of work costs the same everywhere;
 *  - a place costs on this process what it costs on the others, within what places that each process's lengths tell
 *    differ by;
 *  - a place costs what its samples say, within their error.
 *
 * Equations are weighed as if a length were known to a fifth: relatively, because what disturbs a long stretch is long.
 * A short one that has not been seen several times tells no more than a long one does: a place costs next to nothing
 * there, and a thousand times as much where it calls a library.
 * The scatter of lengths about a first fit then gives their weight beside the priors. Which places cost something else
 * on a process is asked of all that is known of it at once, lengths first: two places that always run together have a
 * certain sum, and if that is longer than on the others, one of the two is dearer, by so much, and samples need only
 * tell which. Such a place is left to what the process itself says of it, and tells the others nothing. A process hears
 * of a place from the others alone: its own evidence would count twice.
 *
 * The usual length is that of stretches between the same two calls, by the mean of logarithms, so that single
 * interruptions that nothing recorded weigh little.
 *
 * A place has a column of its own as soon as it runs in a stretch that has been seen several times, or does much of the
 * work of a long one, or is sampled for much of it; beyond COSTS_COLUMNS_MAX, and in other code that runs once, places
 * share one column. Which steps a place stands for (a helper counts for the loop that calls it, pages are touched in
 * the kernel) is what its samples say.
 *
 * Calls of code that is not counted (libm) are one instruction, and may cost a thousand: where a branch leads to such a
 * call on one process nine times of ten and on the others once, that is more work, though the instructions are as many.
 * In comparisons of work, such a call weighs as many instructions as take as long. Its length is in part what samples
 * of all processes together say: as far as the times of the processes follow the numbers of their calls.
 */
#pragma once
#include "analyze/steps/calltree.h"
#include "analyze/steps/cost_fit.h"
#include "analyze/counts/executions.h"

enum { COSTS_COLUMNS_MAX = 128 };
#define COSTS_ALL_RANKS UINT32_MAX

struct costs {
    struct sites *sites;
    struct work *work;
    struct work weighed; /* calls of code that is not counted weigh as much as they cost */
    struct map columns;  /* by place in which work was done */
    uint32_t n_columns;  /* the first is that of all other places */
    struct intern pairs;
    VEC(struct usual_length) lengths; /* by pair */
    VEC(struct early_stretch) early;  /* whose equations are added at the end */
    struct rank_costs *ranks, all;    /* `all` is filled in at the end */
    double across_ranks;              /* standard deviation of a place's cost from what the others say, relatively */
    struct sparse ran;                /* executions by place, of all processes over the run; filled in at the end */
    uint32_t n_ranks;
    struct sparse measured; /* scratch: work by place */
    VEC(uint32_t) row_columns;
    VEC(double) row_work;
    struct arena arena;
};

void costs_begin(struct costs *costs, struct sites *sites, struct work *work, uint32_t n_ranks);
void costs_release(struct costs *costs);
/* First reading: a stretch is complete. */
void costs_add_counted(struct costs *costs, uint32_t rank, const struct stretch *stretch);
static inline void costs_add(struct costs *costs, uint32_t rank, const struct stretch *stretch)
{
    if (stretch->is_counted)
        costs_add_counted(costs, rank, stretch);
}
/* After it. */
void costs_fit(struct costs *costs, const struct survey *survey);
/* What a stretch ran, as costs_part_of_run is to know. False where it is not counted. */
bool costs_measure(struct costs *costs, const struct stretch *stretch);
/* Of the work that a process (COSTS_ALL_RANKS: all) did over the run in a step's place: the part that the stretch
 * measured last did. NAN for a step outside counted code. After the fit. */
double costs_part_of_run(const struct costs *costs, uint32_t rank, uint32_t step);
/* Relative durations of the steps of a counted stretch, by step; adds nothing and returns false when they are not
 * known. A place that is entered on several ways has those that are `seen` in such stretches (packed, by step), if any
 * are. */
bool costs_of_stretch(struct costs *costs, uint32_t rank, const struct stretch *stretch, const struct sparse *seen,
                      struct sparse *out);
/* Work of the places in which its time was sampled: a helper's is that of the loop that calls it, and so is,
 * `with_calls`, that of code which is not counted, as far as the number of calls tells. One execution of a line is the
 * same part of its routine's work on all processes. Bins are packed, by (KEY_ flags and rank; counter or frame), and
 * `ran` is what executions_solve makes of them; adds (the same; place) with its work to `out`, packed. After the fit.
 */
void costs_place_work(struct costs *costs, bool with_calls, const struct sparse *bins, const struct sparse *ran,
                      struct sparse *out);
/* For how long the threads of a process, all together, were sampled computing in a place in which work was counted. */
double costs_sampled_ns(const struct costs *costs, uint32_t rank, uint32_t place);
/* The relative standard error of a place's cost on a process. One that shares a column is known by its samples alone; 0
 * where nothing was counted. */
double costs_error(const struct costs *costs, uint32_t rank, uint32_t place);
