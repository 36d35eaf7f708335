/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The findings of the second reading: classes of waits, sums of each rank, the critical path. Each section of a run
 * gives its own away. They are added in the order of sections, so that sums do not depend on who read them.
 */
#pragma once
#include "analyze/blame/classes.h"
#include "analyze/waits/reader_state.h"

/* Borrowed: what a section is read by, and has found. */
struct section_passes {
    struct classes *classes;
    struct replay *replay;
    struct reader *reader;
    struct lanes *lanes;
    struct locks *locks;
    const uint32_t *cut_sites; /* by location: of the call in which it was when the section began; TRACE_NONE */
};

/* Of a location in the sections so far: by site how often it was called; by loop how often it was left (rounds.h). */
struct location_done {
    VEC(uint32_t) calls;
    VEC(uint32_t) left;
    uint32_t cut_site;   /* of the section that is added */
    uint64_t stopped_ns; /* as a lane has it */
};

struct findings {
    const struct trace *trace;
    const uint32_t *main_lanes; /* by rank; borrowed */
    struct numbers *numbers;    /* borrowed */
    struct pools *pools;        /* likewise */
    struct rounds rounds;
    struct classes classes;
    struct rank_time *ranks;
    struct location_done *done; /* by location */
    struct sparse critical, fetched;
    uint64_t n_calls, n_polls, n_forced, longest_wait_ns;
    double unexplained_ns;
};

struct findings_input {
    struct pools *pools;
    const struct cpu_use *cpu_use;
    const uint32_t *main_lanes; /* by rank */
    double threshold;           /* of classes; 0 = the usual one */
};

/* `numbers` have begun. What the input points to is borrowed. */
void findings_begin(struct findings *findings, struct numbers *numbers, const struct findings_input *input);
void findings_release(struct findings *findings);
/* Gives away those of a section that is over. Only what a report says of the run's end stays. */
void findings_pack(const struct section_passes *passes, struct packing *packing);
/* Adds those of the next section. Its numbers have been unpacked. */
void findings_unpack(struct findings *findings, struct unpacking *unpacking);
/* After the last section, which these passes have read: what was found in all of them stands there instead. Numbers of
 * steps are settled. */
void findings_give(struct findings *findings, const struct section_passes *passes);
