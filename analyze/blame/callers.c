/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/callers.h"
#include "analyze/trace/trace.h"

static const double CALLER_TIME = 0.05, CALLER_BLAME = 0.9;

int caller_compare(const void *a, const void *b)
{
    const struct caller *left = a, *right = b;
    if (left->place_step != right->place_step)
        return left->place_step < right->place_step ? -1 : 1;
    return (left->caller > right->caller) - (left->caller < right->caller);
}

/* Sums what one caller's parts (its states) come to; returns how many they are. */
static size_t caller_sum(const struct caller *callers, size_t n, struct caller *sum)
{
    size_t n_parts = 0;
    *sum = (struct caller){.caller = callers->caller};
    for (; n_parts < n && callers[n_parts].caller == sum->caller; n_parts++) {
        sum->time_ns += callers[n_parts].time_ns;
        sum->blame_ns += callers[n_parts].blame_ns;
    }
    return n_parts;
}

uint32_t callers_choose(const struct caller *callers, size_t n)
{
    double time_ns = 0, blame_ns = 0;
    struct caller best = {.caller = TRACE_NONE}, sum;
    size_t n_busy = 0;
    for (size_t i = 0; i < n; i++) {
        time_ns += callers[i].time_ns;
        blame_ns += callers[i].blame_ns;
    }
    for (size_t i = 0; i < n;) {
        i += caller_sum(callers + i, n - i, &sum);
        n_busy += sum.time_ns >= CALLER_TIME * time_ns;
        if (sum.blame_ns > best.blame_ns)
            best = sum;
    }
    return n_busy >= 2 && best.blame_ns >= CALLER_BLAME * blame_ns ? best.caller : TRACE_NONE;
}
