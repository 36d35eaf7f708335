/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whom a helper's loop is charged to. One loop (say, in a vector routine) may run on behalf of several callers. When at
 * least two of them spend 5 % of its time each and 90 % of its blame falls under one, the cause is that caller (a loop
 * between two waits): elsewhere the loop runs innocently. Otherwise the loop itself is, and its callers are merged.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A part of a place's time and blame. */
struct caller {
    uint32_t place_step, caller;
    double time_ns, blame_ns;
};

/* For qsort: by place, then by caller. */
int caller_compare(const void *a, const void *b);
/* The caller to name, or TRACE_NONE. All parts are of one place, sorted. */
uint32_t callers_choose(const struct caller *callers, size_t n);
