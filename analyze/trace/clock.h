/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the clocks of all locations one, before any event is handed out.
 *
 *   offsets   of each location, from measurements in the archive or, without them, from the archive's own messages and
 *             collectives; linear between two points
 *   floors    where an effect would still precede its cause: from this event on, nothing is earlier than this
 *
 * A correction never lets time run backwards within a location. The error of offsets is kept beside them: as measured,
 * or as far as the bounds that they were derived from leave open.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A damaged archive may hold any time and offset; kept within these (146 years), two of them can be added. */
#define CLOCK_LATEST_NS (((int64_t)1 << 62) - 1)

struct clock_point {
    uint64_t time_ns; /* as recorded */
    int64_t offset_ns;
};
struct clock_floor {
    uint64_t event; /* number of the event within its location, from 0 */
    uint64_t time_ns;
};
struct clock_location {
    VEC(struct clock_point) points; /* by rising time */
    VEC(struct clock_floor) floors; /* by rising event */
    uint64_t error_ns;              /* of the offsets to the clock of process 0 */
};
struct clocks {
    struct clock_location *locations;
    size_t n_locations;
    int64_t origin_ns; /* time 0 of the trace, after correction */
};
/* A location's position in its points and floors. */
struct clock_cursor {
    uint64_t floor_ns;
    bool is_plain; /* there were none when it was begun; floors found while it is read are in floor_ns at once */
    size_t point, floor;
};

void clocks_init(struct clocks *clocks, size_t n_locations);
void clocks_release(struct clocks *clocks);
/* What was this time becomes time 0; no floor is below it. */
void clocks_begin_at(struct clocks *clocks, uint64_t first_ns);
/* Brings measured points of a location into order. */
void clocks_sort(struct clocks *clocks, size_t location);
/* Before its first event. */
static inline struct clock_cursor clocks_rewind(const struct clocks *clocks, size_t location)
{
    const struct clock_location *at = &clocks->locations[location];
    return (struct clock_cursor){.is_plain = !at->points.n && !at->floors.n};
}
/* clocks_correct where clocks disagree. */
uint64_t clocks_repair(const struct clocks *clocks, size_t location, struct clock_cursor *cursor, uint64_t time_ns,
                       uint64_t event);
/* The corrected time of an event; events of a location must be asked for in their order. */
static inline uint64_t clocks_correct(const struct clocks *clocks, size_t location, struct clock_cursor *cursor,
                                      uint64_t time_ns, uint64_t event)
{
    if (!cursor->is_plain || time_ns > CLOCK_LATEST_NS)
        return clocks_repair(clocks, location, cursor, time_ns, event);
    uint64_t plain_ns = (int64_t)time_ns > clocks->origin_ns ? time_ns - (uint64_t)clocks->origin_ns : 0;
    if (plain_ns > CLOCK_LATEST_NS)
        plain_ns = CLOCK_LATEST_NS;
    return cursor->floor_ns = plain_ns > cursor->floor_ns ? plain_ns : cursor->floor_ns;
}

/*
 * Offsets from bounds. `there_ns` is the smallest time from a cause in process a to its effect in process b as the
 * clocks show it (INT64_MAX = none known), back_ns the other way. The true one is not negative. offset[p] makes all
 * processes agree with process 0 as well as the bounds allow: half-way between the two bounds of a pair, over the pairs
 * with the narrowest bounds (a spanning tree). Processes without any bound keep 0. error[p]: what these bounds leave
 * open, added up along the tree; pairs that are bounded from one side only count for nothing. Memory follows the pairs.
 */
struct clock_pair {
    uint32_t a, b; /* a < b */
    int64_t there_ns, back_ns;
};
struct clock_pairs {
    struct map index; /* key_pair(a, b) -> 1 + index */
    VEC(struct clock_pair) pairs;
};

/* The effect came this long after the cause. */
void clock_pairs_take(struct clock_pairs *pairs, uint32_t cause, uint32_t effect, int64_t distance_ns);
void clock_pairs_release(struct clock_pairs *pairs);
/* Returns the number of processes that were reached from process 0, itself included. */
uint32_t clocks_align(const struct clock_pairs *pairs, uint32_t n, int64_t *offset, uint64_t *error);

/*
 * Where was a clock set during the run? Every message and collective between a process and process 0 bounds what must
 * be added to the process's clock to make it that of process 0. In order of time, as long as what is known of the clock
 * satisfies the bounds, it was not touched. If it does not, a new piece begins: with what was measured next as far as
 * the bounds from there on allow, else with the nearest that they do. Linear in the number of bounds and pieces.
 */

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
    } *lows, *highs;               /* by rank */
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
/* Appends the pieces of a rank, in order of time. None where there are no bounds. Once for each rank. `known`: offsets
 * that were measured or estimated, in order of time. */
void clock_steps_find(struct clock_steps *steps, uint32_t rank, const struct clock_point *known, size_t n_known,
                      struct clock_pieces *pieces);
