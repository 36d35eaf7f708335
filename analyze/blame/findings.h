/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The findings of the second reading: classes of waits, sums of each rank, the critical path. Findings of a run's
 * sections are added in their order, so that sums do not depend on who read them.
 */
#pragma once
#include "analyze/blame/classes.h"
#include "analyze/waits/reader_state.h"

/* Of a location in the sections so far: by site how often it was called; by loop how often it was left (rounds.h). */
struct location_done {
    VEC(uint32_t) calls;
    VEC(uint32_t) left;
    uint32_t cut_site; /* of the call in which the present section has begun; TRACE_NONE */
};

struct findings {
    const uint32_t *main_lanes;  /* by rank; borrowed */
    const struct rounds *rounds; /* borrowed while a section is added */
    uint32_t n_ranks, n_locations, n_sections;
    struct classes classes;
    struct rank_time *ranks;
    struct location_done *done; /* by location */
    struct sparse critical, fetched;
    uint64_t n_calls, n_polls, n_forced, longest_wait_ns;
    double unexplained_ns;
};

void findings_begin(struct findings *findings, const struct trace *trace, const uint32_t *main_lanes);
void findings_release(struct findings *findings);
/* The present section begins with this location inside a call at that site, which the section before has counted, as it
 * has that the loops around were left at its end. */
void findings_begin_in(struct findings *findings, const struct rounds *rounds, uint32_t location, uint32_t site);
/* Adds those of the next section, which is over. These may be left empty. */
void findings_add(struct findings *findings, struct classes *classes, struct replay *replay, struct reader *reader);
/* After the last section: what was found in all of them stands there instead. */
void findings_give(struct findings *findings, struct classes *classes, struct replay *replay, struct reader *reader);
