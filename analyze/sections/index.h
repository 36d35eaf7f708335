/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where processes begin to read that share the sections of a run: nobody reads what comes before. It is found by
 * reading each location by itself (mark.h), which processes share by ranks, and of which nothing is merged.
 *
 * Process 0 reads the location by which events are counted, and tells all at which operations of all a turn begins
 * (sections.h). Each location is marked before it enters some of these. Then each process gets, for one of them, the
 * marks and states of all locations. There it begins to merge, and comes to the cut, or passes over it, as one does who
 * has read all from the first record.
 *
 * Time: that of decoding, shared. Memory: some KB a location for some places a process.
 */
#pragma once
#include "analyze/engine/engine.h"
#include "analyze/sections/state.h"
#include "wrap/base/packing.h"

struct sections_index {
    uint32_t *firsts;     /* by process: the turn at which it begins; number 0 has the last ones. NULL = no index */
    uint64_t turn;        /* this process's; 0 = the run's begin, and there is nothing below */
    uint64_t ordinal;     /* operations of all that had ended before the first of that turn */
    struct packing start; /* marks of all locations, then states */
};

/* All processes come to it, between two readings. `every`: events of location `paced` in a turn. Without an index where
 * there is one process, somebody is lost meanwhile, or the run has no such places. */
void index_make(struct sections_index *index, struct trace *trace, struct engine *engine, uint32_t paced,
                uint64_t every);
/* `trace` and `state` as before the first event from there on. 0, or -1 after error(). */
int index_begin(const struct sections_index *index, struct trace *trace, struct state *state);
void index_release(struct sections_index *index);
