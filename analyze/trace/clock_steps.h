/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where was a clock set during the run? Every message and collective between a process and process 0 bounds what must
 * be added to the process's clock to make it that of process 0. In order of time, as long as what is known of the clock
 * satisfies the bounds, it was not touched. Where it does not, a new piece begins: with what was measured next as far
 * as the bounds from there on allow, else with the nearest that they do. Linear in the number of bounds and pieces.
 */
#pragma once
#include "analyze/trace/clock.h"
#include "wrap/base/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct clock_bound {
    uint64_t time_ns; /* on the process's clock */
    int64_t low_ns, high_ns;
};
struct clock_piece {
    uint64_t from_ns, until_ns;
    int64_t offset_ns;
};
struct clock_steps {
    struct clock_bounds {
        VEC(struct clock_bound) bounds;
        uint32_t every, n_skipped; /* when there are too many: one of how many is kept */
    } * lows, *highs;              /* by rank */
    uint32_t n_ranks;
    size_t most; /* in each list */
};
struct clock_pieces {
    VEC(struct clock_piece) pieces;
};

void clock_steps_init(struct clock_steps *steps, uint32_t n_ranks);
void clock_steps_release(struct clock_steps *steps);
/* The effect, at effect_ns of its process's clock, cannot precede the cause. Other pairs than with process 0 are
 * ignored. */
void clock_steps_take(struct clock_steps *steps, uint32_t cause_rank, uint64_t cause_ns, uint32_t effect_rank,
                      uint64_t effect_ns);
/* Appends the pieces of a rank, in order of time; none where there are no bounds. Once for each rank. `known`: offsets
 * that were measured or estimated, in order of time. */
void clock_steps_find(struct clock_steps *steps, uint32_t rank, const struct clock_point *known, size_t n_known,
                      struct clock_pieces *pieces);
