/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs in virtual time. Every process has a clock; a call ends when what it depends on has come, so that all
 * waiting is known to the nanosecond, and so is its cause: a routine, and the processes that are late in it.
 */
#pragma once
#include "benchmarks/generate/writer.h"

struct run;

/* In which it can be written: OTF2 alone cannot say neighbourhoods, and ours has stacks where others have regions. */
enum styles { STYLES_ALL, STYLES_OURS, STYLES_FOREIGN };

struct pattern {
    const char *name, *cause; /* the routine */
    enum styles styles;
    void (*begin)(struct run *run);
    void (*step)(struct run *run);
};

struct run {
    struct writer writer;
    const struct pattern *pattern;
    uint32_t n, hops; /* processes; of a pipeline, or steps between two collectives of all */
    uint64_t *now_ns; /* by process */
    bool *is_late;
    uint64_t *entered_ns, *others_ns; /* of the present step, by process */
    uint64_t waiting_ns, random, n_steps;
    uint32_t columns; /* of the grid that processes form */
};

/* NULL-named at the end. */
extern const struct pattern patterns[];

/* Runs steps until there are n_events, and writes them. */
void run_pattern(struct run *run, uint64_t n_events);
void run_release(struct run *run);
