/* SPDX-License-Identifier: BSD-3-Clause */
/* An analysis that several of a launcher's processes share: number 0 says which run and how, the others look whether
 * they have the same before them. */
#pragma once
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
};

/* All zero where the anchor has gone. */
struct task task_of(const struct trace *trace, double threshold, bool wants_facts);
/* Why this process cannot do it, in words of `refusal`; else the trace, to be closed. */
struct trace *task_open(const struct task *task, char *refusal, size_t size_bytes);
