/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as a person reads them. */
#pragma once
#include "analyze/result/result.h"
#include "wrap/base/containers.h"
#include <stdint.h>

struct amount {
    char text[32];
};

struct amount amount_duration(double ns);        /* three digits and the unit: "9.71 s", "312 ms", "0 s" */
struct amount amount_change(double ns);          /* the same with its sign: "+9.71 s" */
struct amount amount_gain(double ns);            /* "-3.9 s": two digits, as befits an estimate; "nothing" below 1 ns */
struct amount amount_cost(double ns);            /* of one execution: "3.52 ns", then as a duration */
struct amount amount_bytes(double bytes);        /* "312 bytes", "1.23 GB" */
struct amount amount_share(double share);        /* of [0,1]: "61 %", "0.4 %", "<0.1 %" */
struct amount amount_date(uint64_t realtime_ns); /* "22 Nov 2026 07:00", here; "" when it is 0 */
struct amount amount_brief(double count);        /* of a column of its own: "81.2k", "3.5M", "0" */
struct amount amount_count(uint64_t count);      /* "81,204" */
/* Of the calls at one place that had a wait: "39 of 40 calls with waits", "all 40 calls with waits". */
const char *amount_calls(struct arena *arena, uint64_t n, uint64_t n_with_waits);
/* "-120 ms"; "-40 ms to -120 ms" where the two read differently. */
const char *amount_gains(struct arena *arena, double least_ns, double most_ns);
/* Two numbers, 0 or more, told so that they read differently if they do differ: "12.5" and "33.3" have three digits,
 * "50" and "50.0001" as many as that takes. Whole parts are never cut, zeros at the end are left out. */
void amount_apart(const double numbers[2], struct amount texts[2]);

/* "rank 1", "ranks 0,2-5", "ranks 1,3,5 ... 63": sorted, rows of equal distance joined; more than about ten groups are
 * cut and counted. */
const char *amount_ranks(struct arena *arena, const uint32_t *ranks, uint32_t n);
/* Likewise of those with whom others are compared. If that takes many pieces only how many: "676 other ranks". */
const char *amount_other_ranks(struct arena *arena, const uint32_t *ranks, uint32_t n);
