/* SPDX-License-Identifier: BSD-3-Clause */
/* An analysis that several of a launcher's processes share: number 0 says which run and how, the others look whether
 * they have the same before them. */
#pragma once
#include "analyze/engine/engine.h"
#include "analyze/readings/wanted.h"
#include "analyze/trace/trace.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct task {
    char path[PATH_MAX]; /* of the anchor */
    uint64_t file;       /* tells it, and what has been written to it, apart from others */
    uint64_t modules;    /* the same of the program's files */
    double threshold;
    bool is_settled; /* its clocks have been checked */
    bool wants_facts;
    uint64_t n_most_of_timeline; /* its budget (timeline.h); 0 = nobody wants it */
};

/* The processes for an analysis of this trace, number 0 in this one: those of a launcher on other nodes, which have
 * been called to it when it returns, or forked ones, or this one alone. `forked` is the room for an engine, zero. To be
 * ended by engine_end, in the others where they have done their part. */
struct engine *task_engine(const struct trace *trace, const struct wanted *wanted, struct engine *forked);
/* Why this process cannot do it, in words of `refusal`; else the trace, to be closed. */
struct trace *task_open(const struct task *task, char *refusal, size_t size_bytes);
