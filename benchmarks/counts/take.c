/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What taking the counters at a synchronisation costs: 1,000 to 100,000 counters of which 20 changed, median of many
 * takes. Bounds: 1 us at 1,000 and 3 us at 10,000; exit status 1 beyond.
 */
#include "wrap/record/count/counters.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N_CHANGED = 20, N_TAKES = 2001, MOST = 100000, BINS = 64 };

static uint64_t live[MOST], copy[MOST];

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static uint64_t median_take_ns(uint32_t n)
{
    static uint64_t times[N_TAKES];
    struct counters_range range = {0, n};
    struct counters_module module = {.sets[COUNTERS_EXECUTIONS] = {&range, 1, n}};
    struct counters_view view = {live, {[COUNTERS_EXECUTIONS] = copy}};
    unsigned state = 1;
    for (int take = 0; take < N_TAKES; take++) {
        for (int i = 0; i < N_CHANGED; i++)
            live[(state = state * 1664525u + 1013904223u) % n]++;
        struct counters_cursor cursor = {0};
        struct counters_bin bins[BINS];
        uint64_t start = now_ns();
        uint32_t n_taken = counters_take(&module, &view, COUNTERS_EXECUTIONS, &cursor, bins, BINS);
        times[take] = now_ns() - start;
        if (n_taken == 0 || n_taken > N_CHANGED)
            abort();
    }
    qsort(times, N_TAKES, sizeof *times, compare);
    return times[N_TAKES / 2];
}

int main(void)
{
    static const struct {
        uint32_t n;
        uint64_t bound_ns;
    } cases[] = {{1000, 1000}, {10000, 3000}, {100000, 0}};
    int status = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ns = median_take_ns(cases[i].n);
        printf("%6u counters, %d changed: %6llu ns\n", cases[i].n, N_CHANGED, (unsigned long long)ns);
        status |= cases[i].bound_ns && ns > cases[i].bound_ns;
    }
    return status;
}
